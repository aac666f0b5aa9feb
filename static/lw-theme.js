/* Sets the theme before the first paint, so that a dark page never flashes light. */
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("lw-js");
  if (root.dataset.lwTheme === "auto" && window.matchMedia("(prefers-color-scheme: dark)").matches) {
    root.dataset.bsTheme = "dark";
  }
})();
