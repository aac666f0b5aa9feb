/* The search field: a combobox whose list drops down as one types. Without it the field is a form. */
(function () {
  "use strict";

  function start() {
    var form = document.querySelector("[data-lw-search]");
    if (!form) { return; }
    var field = form.querySelector("input[type=search]");
    var panel = form.querySelector(".lw-search-panel");
    var opener = document.querySelector(".lw-search-open");
    var current = -1;
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-haspopup", "listbox");
    field.setAttribute("aria-expanded", "false");
    field.setAttribute("aria-controls", "lw-search-found");

    function options() { return panel.querySelectorAll('[role="option"]'); }

    function mark(at) {
      var every = options();
      if (every[current]) { every[current].setAttribute("aria-selected", "false"); }
      current = every.length ? (at + every.length) % every.length : -1;
      if (current < 0) { field.removeAttribute("aria-activedescendant"); return; }
      every[current].setAttribute("aria-selected", "true");
      every[current].scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", every[current].id);
    }

    function show() {
      panel.hidden = false;
      current = -1;
      field.removeAttribute("aria-activedescendant");
      var list = panel.querySelector('[role="listbox"]');
      field.setAttribute("aria-expanded", list ? "true" : "false");
      field.setAttribute("aria-controls", list ? list.id : panel.id);
    }

    function hide() {
      panel.hidden = true;
      current = -1;
      field.removeAttribute("aria-activedescendant");
      field.setAttribute("aria-controls", panel.id);
      field.setAttribute("aria-expanded", "false");
    }

    function open() {
      form.classList.add("lw-search-on");
      field.focus();
      field.select();
    }

    function close() {
      var within = form.contains(document.activeElement);
      hide();
      form.classList.remove("lw-search-on");
      if (within && opener && opener.offsetParent) { opener.focus(); }
    }

    panel.addEventListener("htmx:afterSwap", function () {
      if (form.contains(document.activeElement)) { show(); }
    });
    field.addEventListener("focus", function () {
      if (panel.hidden) { field.dispatchEvent(new Event("lw-search-open")); }
    });
    field.addEventListener("keydown", function (event) {
      if (event.isComposing) { return; }
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (panel.hidden) { field.dispatchEvent(new Event("lw-search-open")); return; }
        var down = event.key === "ArrowDown";
        mark(current < 0 ? (down ? 0 : -1) : current + (down ? 1 : -1));
      } else if (event.key === "Enter" && !panel.hidden && current >= 0) {
        event.preventDefault();
        options()[current].click();
      } else if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        if (!panel.hidden) { hide(); return; }
        field.value = "";
        close();
      }
    });
    form.addEventListener("focusout", function (event) {
      if (!form.contains(event.relatedTarget)) { hide(); }
    });
    document.addEventListener("click", function (event) {
      if (!form.contains(event.target) && !(opener && opener.contains(event.target))) { close(); }
    });
    if (opener) {
      opener.addEventListener("click", function (event) { event.preventDefault(); open(); });
    }
    document.addEventListener("keydown", function (event) {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) { return; }
      var at = event.target;
      if (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) { return; }
      event.preventDefault();
      open();
    });
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
})();
