/* The kit's behaviour. Everything here is an extra: pages work without it, except the drawn charts. */
(function () {
  "use strict";
  var root = document.documentElement;

  function css(name) {
    return getComputedStyle(root).getPropertyValue(name).trim();
  }

  /* -- theme ------------------------------------------------------------------------------- */
  function bindTheme() {
    document.querySelectorAll("[data-lw-theme-form]").forEach(function (form) {
      form.addEventListener("submit", function (event) {
        event.preventDefault();
        var theme = root.dataset.bsTheme === "dark" ? "light" : "dark";
        var body = new FormData(form);
        body.set("theme", theme);
        root.dataset.bsTheme = theme;
        root.dataset.lwTheme = theme;
        // Kept alive: who goes on to another page at once has switched all the same.
        fetch(form.action, { method: "POST", body: body, redirect: "manual", keepalive: true });
        drawCharts(document);
      });
    });
  }

  /* -- menus and confirmations: one open at a time, Escape and outside click close --------- */
  var FOLDS = "details.lw-menu, details.lw-confirm";

  function closeFold(fold, refocus) {
    if (!fold.open) { return; }
    fold.open = false;
    if (refocus) { fold.querySelector("summary").focus(); }
  }

  function bindFolds() {
    document.addEventListener("keydown", function (event) {
      if (event.key !== "Escape") { return; }
      document.querySelectorAll(FOLDS).forEach(function (fold) { closeFold(fold, true); });
    });
    document.addEventListener("click", function (event) {
      document.querySelectorAll(FOLDS).forEach(function (fold) {
        if (!fold.contains(event.target)) { closeFold(fold, false); }
      });
      var button = event.target.closest("[data-lw-close]");
      if (button) { closeFold(button.closest("details"), true); }
    });
    revealButtons(document);
  }

  function revealButtons(scope) {
    scope.querySelectorAll("[data-lw-close], [data-lw-check-all]").forEach(function (element) {
      element.hidden = false;
    });
  }

  function bindNavigation() {
    var fold = document.querySelector(".lw-nav-fold");
    if (!fold) { return; }
    var wide = window.matchMedia("(min-width: 62rem)");
    function fit() { fold.open = wide.matches; }
    wide.addEventListener("change", fit);
    fit();
  }

  // A strip of tabs may be wider than a phone: the current one is moved into sight.
  function showTabs(scope) {
    scope.querySelectorAll(".lw-tabs").forEach(function (strip) {
      var tab = strip.querySelector("[aria-current]");
      if (!tab || strip.scrollWidth <= strip.clientWidth) { return; }
      var left = tab.getBoundingClientRect().left - strip.getBoundingClientRect().left;
      if (left >= 0 && left + tab.offsetWidth <= strip.clientWidth) { return; }
      strip.scrollLeft += left - (strip.clientWidth - tab.offsetWidth) / 2;
    });
  }

  /* -- check boxes ------------------------------------------------------------------------- */
  function bindChecks() {
    document.addEventListener("change", function (event) {
      var name = event.target.dataset && event.target.dataset.lwCheckAll;
      if (!name) { return; }
      var table = event.target.closest("table");
      table.querySelectorAll('tbody input[type="checkbox"]').forEach(function (box) {
        if (box.name === name) { box.checked = event.target.checked; }
      });
    });
  }

  /* -- a form is sent once ----------------------------------------------------------------- */
  function bindForms() {
    document.addEventListener("submit", function (event) {
      var form = event.target;
      if (event.defaultPrevented || form.method !== "post") { return; }
      if (form.dataset.lwSent) { event.preventDefault(); return; }
      form.dataset.lwSent = "1";
    });
    window.addEventListener("pageshow", function () {
      document.querySelectorAll("form[data-lw-sent]").forEach(function (form) {
        delete form.dataset.lwSent;
      });
    });
  }

  /* -- relative times ---------------------------------------------------------------------- */
  /* By the server's clock: its instant at the page's birth, and what has passed since. Those of a
     day or more are days of the lake's calendar, which only the server knows. */
  var STEPS = [["h", 3600], ["min", 60], ["s", 1]];

  function ageOf(element, now) {
    var seconds = (now - Date.parse(element.dateTime)) / 1000;
    var distance = Math.abs(seconds);
    if (!(distance < 86400)) { return null; }
    if (distance < 5) { return "just now"; }
    var step = STEPS.find(function (one) { return distance >= one[1]; });
    var span = Math.floor(distance / step[1]) + " " + step[0];
    return seconds > 0 ? span + " ago" : "in " + span;
  }

  function keepTimes() {
    var born = Date.parse(document.body.dataset.lwNow);
    if (isNaN(born)) { return; }
    var began = performance.now();
    setInterval(function () {
      var now = born + performance.now() - began;
      document.querySelectorAll("time.lw-ago").forEach(function (element) {
        var text = ageOf(element, now);
        if (text !== null && element.textContent !== text) { element.textContent = text; }
      });
    }, 15000);
  }

  /* -- charts ------------------------------------------------------------------------------ */
  /* Plotly writes style elements, which the CSP refuses. It leaves them out where an element with
     the same id stands already; lw.css has the few rules that charts need. The second id is the
     stylesheet of maps, which are not drawn here. */
  var PLOTLY_STYLES = [
    "plotly.js-style-global",
    "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"
  ];

  function keepStylesOut() {
    PLOTLY_STYLES.forEach(function (id) {
      var stand = document.createElement("meta");
      stand.id = id;
      stand.className = "no-inline-styles";
      document.head.appendChild(stand);
    });
  }

  function loadPlotly(then) {
    if (window.Plotly) { then(); return; }
    keepStylesOut();
    var own = document.querySelector("script[data-plotly]");
    var script = document.createElement("script");
    script.src = own.dataset.plotly;
    script.onload = then;
    document.head.appendChild(script);
  }

  var NARROW = 480;

  function palette() {
    return [1, 2, 3, 4, 5, 6, 7, 8].map(function (n) { return css("--lw-chart-" + n); });
  }

  function layoutOf(figure, unit) {
    var grid = css("--lw-line");
    var axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, automargin: true, fixedrange: true };
    var layout = Object.assign({
      height: 260,
      margin: { l: 8, r: 8, t: 8, b: 8 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      colorway: palette(),
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: css("--lw-ink-2") },
      bargap: 0.35,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      hovermode: "x unified",
      hoverlabel: { bgcolor: css("--lw-surface"), bordercolor: grid, font: { color: css("--lw-ink") } }
    }, figure.layout);
    (layout.shapes || []).forEach(function (shape) { shape.line = Object.assign({ color: css("--lw-ink-2") }, shape.line); });
    layout.xaxis = Object.assign({}, axis, { showgrid: false }, figure.layout.xaxis);
    layout.yaxis = Object.assign({}, axis, { rangemode: "tozero" }, figure.layout.yaxis);
    // Else a title lies on labels that were turned for lack of room.
    [layout.xaxis, layout.yaxis].forEach(function (one) {
      if (one.title) { one.title = Object.assign({ standoff: 8 }, one.title); }
    });
    if (unit === "bytes") { bytesAxis(figure, layout); }
    figure.data.forEach(function (trace) {
      bandTrace(trace);
      if (trace.error_x) { trace.error_x.color = css("--lw-ink"); }
      if (trace.type !== "heatmap") { return; }
      trace.colorscale = [[0, css("--lw-chart-5")], [0.5, css("--lw-chart-2")], [1, css("--lw-chart-4")]];
    });
    return layout;
  }

  // What a chart with bounds is drawn in: the band is quiet, and what is outside of it is not.
  var BAND = { band: "--lw-line-strong", bound: "--lw-ink-2", value: "--lw-chart-1", bad: "--lw-bad" };

  function bandTrace(trace) {
    var color = BAND[trace.meta];
    if (!color) { return; }
    trace.line = Object.assign({ color: css(color), width: trace.meta === "band" ? 1 : 2 }, trace.line);
    if (trace.meta === "bound") { trace.line.dash = "dash"; trace.line.width = 1; }
    trace.marker = Object.assign({ color: css(color) }, trace.marker);
    if (trace.fill) { trace.fillcolor = css("--lw-line"); }
  }

  function humanBytes(value) {
    var units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    var at = 0;
    while (Math.abs(value) >= 999.5 && at < units.length - 1) { value /= 1024; at += 1; }
    return (at === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1)) + " " + units[at];
  }

  function bytesAxis(figure, layout) {
    var top = 0;
    var piled = [];
    var axis = layout.yaxis;
    figure.data.forEach(function (trace) {
      var isAcross = trace.orientation === "h";
      var values = (isAcross ? trace.x : trace.y) || [];
      if (isAcross) { axis = layout.xaxis; }
      var onTop = trace.stackgroup || (layout.barmode === "stack" && trace.type === "bar");
      values.forEach(function (value, at) {
        if (onTop) { value = piled[at] = (piled[at] || 0) + (value || 0); }
        top = Math.max(top, value || 0);
      });
      trace.text = values.map(function (value) { return value === null ? "" : humanBytes(value); });
      trace.hovertemplate = "%{text}";
      trace.textposition = trace.type === "bar" ? "none" : undefined;
    });
    var step = Math.pow(1024, Math.floor(Math.log(Math.max(top, 1)) / Math.log(1024)));
    [500, 200, 100, 50, 20, 10, 5, 2, 1, 0.5, 0.2].some(function (factor) {
      if (top / (step * factor) >= 3) { step *= factor; return true; }
      return false;
    });
    var ticks = [];
    for (var at = 0; at <= top * 1.1 && ticks.length < 12; at += step) { ticks.push(at); }
    axis.tickvals = ticks;
    axis.ticktext = ticks.map(humanBytes);
  }

  // A legend takes a line a name there, and labels need the room of the title.
  function fitNarrow(layout, traces) {
    var named = traces.filter(function (one) { return one.name && one.showlegend !== false; }).length;
    if (layout.showlegend !== false && named > 1) { layout.height += 20 * named; }
    if (layout.yaxis.title) { layout.yaxis.title = undefined; }
  }

  function draw(holder) {
    var source = document.getElementById(holder.dataset.lwChart);
    if (!source) { return; }
    var canvas = holder.querySelector(".lw-chart-canvas");
    var payload = JSON.parse(source.textContent);
    canvas.hidden = false;
    var layout = layoutOf(payload.figure, payload.unit);
    if (canvas.clientWidth < NARROW) { fitNarrow(layout, payload.figure.data); }
    // The room kept for a chart is that of most; a small map leaves none of it empty.
    canvas.style.minHeight = layout.height + "px";
    window.Plotly.react(canvas, payload.figure.data, layout, { displayModeBar: false, responsive: true });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", holder.querySelector("figcaption").textContent + "; the numbers are in the data table");
    if (!holder.dataset.lwDrawn) {
      holder.dataset.lwDrawn = "1";
      holder.querySelector(".lw-chart-table").open = false;
    }
  }

  // One point has its numbers in large type already; without scripts its table stays open.
  function foldSinglePoints(scope) {
    scope.querySelectorAll(".lw-chart:not([data-lw-chart], [data-lw-drawn])").forEach(function (holder) {
      holder.dataset.lwDrawn = "1";
      holder.querySelector(".lw-chart-table").open = false;
    });
  }

  function drawCharts(scope) {
    foldSinglePoints(scope);
    var charts = scope.querySelectorAll("[data-lw-chart]");
    if (!charts.length) { return; }
    loadPlotly(function () { charts.forEach(draw); });
  }

  /* -- keys: a visible link names the key that follows it (j = next, k = previous) ---------- */
  var KEY_ALIASES = { n: "j", p: "k" };

  function bindKeys() {
    document.addEventListener("keydown", function (event) {
      var target = event.target;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) { return; }
      if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) { return; }
      var key = KEY_ALIASES[event.key] || event.key;
      if (!/^[a-z]$/.test(key)) { return; }
      var link = document.querySelector("a[data-lw-key='" + key + "']");
      if (link) { link.click(); }
    });
  }

  function start() {
    bindTheme();
    bindKeys();
    bindFolds();
    bindNavigation();
    root.classList.add("lw-ready");
    bindChecks();
    bindForms();
    keepTimes();
    drawCharts(document);
    showTabs(document);
    var width = window.innerWidth;
    window.addEventListener("resize", function () {
      // A phone says so too when its bars come and go, which must not undo somebody's scrolling.
      if (window.innerWidth !== width) { width = window.innerWidth; showTabs(document); }
    });
    document.body.addEventListener("htmx:afterSwap", function (event) {
      showTabs(event.target);
      revealButtons(event.target);
      drawCharts(event.target);
    });
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
})();
