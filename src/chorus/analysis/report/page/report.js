"use strict";
(function () {
  const hiddenSeries = new Set();
  const hiddenEnvs = new Set();
  const tip = document.getElementById("tip");
  const SVG = "http://www.w3.org/2000/svg";

  // ---- toggles -----------------------------------------------------------------------------------------------------
  function applyVisibility() {
    document.querySelectorAll("[data-series], [data-env]").forEach(function (element) {
      const { series, env } = element.dataset;
      element.classList.toggle("off", hiddenSeries.has(series) || hiddenEnvs.has(env));
    });
  }
  document.querySelectorAll("[data-toggle-series]").forEach(function (button) {
    button.addEventListener("click", function () {
      const number = button.dataset.toggleSeries;
      if (!hiddenSeries.delete(number)) hiddenSeries.add(number);
      document.querySelectorAll('[data-toggle-series="' + number + '"]').forEach(function (twin) {
        twin.setAttribute("aria-pressed", String(!hiddenSeries.has(number)));
      });
      applyVisibility();
    });
  });
  const boxes = Array.from(document.querySelectorAll("[data-toggle-env]"));
  function readBoxes() {
    hiddenEnvs.clear();
    boxes.filter((box) => !box.checked).forEach((box) => hiddenEnvs.add(box.dataset.toggleEnv));
    applyVisibility();
  }
  boxes.forEach((box) => box.addEventListener("change", readBoxes));
  document.querySelectorAll("[data-all-envs]").forEach(function (button) {
    button.addEventListener("click", function () {
      boxes.forEach((box) => { box.checked = button.dataset.allEnvs === "true"; });
      readBoxes();
    });
  });

  // ---- hovering ----------------------------------------------------------------------------------------------------
  function show(value) {
    if (typeof value !== "number") return value === null ? "" : String(value);
    const size = Math.abs(value);
    if (Number.isInteger(value) && size >= 1e4) return value.toLocaleString("en-US");
    return size !== 0 && (size >= 1e6 || size < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  }
  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }
  function column(data, name) { return data.columns.indexOf(name); }
  function interval(data, row) {
    const low = row[column(data, "low")], high = row[column(data, "high")];
    return typeof low === "number" && typeof high === "number" ? " [" + show(low) + ", " + show(high) + "]" : "";
  }
  function colourOf(number) {
    const line = document.querySelector('.bar [data-toggle-series="' + number + '"] line');
    return line ? line.getAttribute("stroke") : "var(--c0)";
  }
  function visible(mark) { return mark[2] < 0 || !hiddenSeries.has(String(mark[2])); }

  function curveTip(data, chosen) {
    const box = make("div");
    const first = data.rows[chosen[0][3]];
    const offset = column(data, "series");
    box.append(make("b", data.columns[offset + 1] + " " + show(first[offset + 1])));
    if (offset > 0) box.prepend(make("div", first[0]));
    chosen.forEach(function (mark) {
      const row = data.rows[mark[3]];
      const line = make("div", undefined, "line");
      const blob = make("span", undefined, "blob");
      blob.style.background = colourOf(mark[2]);
      line.append(blob, make("span", row[offset]), make("span", show(row[offset + 2]) + interval(data, row), "value"));
      box.append(line);
    });
    box.append(make("div", "runs: " + Array.from(new Set(chosen.map((mark) => data.rows[mark[3]][column(data, "runs")]))).join(", ")));
    return box;
  }
  function pointTip(data, mark) {
    const box = make("div");
    const row = data.rows[mark[3]];
    data.columns.forEach(function (name, index) {
      if (name === "low" || name === "high" || row[index] === null) return;
      const line = make("div", undefined, "line");
      const measured = typeof row[index] === "number" && data.columns[index + 1] === "low";
      line.append(make("span", name), make("b", show(row[index]) + (measured ? interval(data, row) : ""), "value"));
      box.append(line);
    });
    return box;
  }
  function nearestMarks(data, marks, x, y) {
    if (data.kind !== "curves") {
      const distance = (mark) => Math.hypot(mark[0] - x, mark[1] - y);
      return [marks.reduce((best, mark) => (distance(mark) < distance(best) ? mark : best))];
    }
    const near = marks.reduce((best, mark) => (Math.abs(mark[0] - x) < Math.abs(best[0] - x) ? mark : best));
    const chosen = new Map();
    marks.filter((mark) => Math.abs(mark[0] - near[0]) < 0.6).forEach((mark) => chosen.set(mark[2], mark));
    return Array.from(chosen.values()).sort((a, b) => a[1] - b[1]);
  }
  function place(clientX, clientY) {
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = clientX + 16 + width > innerWidth ? clientX - width - 16 : clientX + 16;
    tip.style.left = Math.max(6, left) + "px";
    tip.style.top = Math.max(6, Math.min(clientY + 14, innerHeight - height - 6)) + "px";
  }

  addEventListener("pointerdown", function (event) {
    if (!event.target.closest(".drawing")) tip.hidden = true;
  }, true);

  const figureData = new Map();
  function dataOf(figure) {
    if (!figureData.has(figure)) {
      figureData.set(figure, JSON.parse(figure.querySelector('script[type="application/json"]').textContent));
    }
    return figureData.get(figure);
  }

  document.querySelectorAll("figure.panel").forEach(function (figure) {
    const drawing = figure.querySelector(".drawing");
    const svg = drawing.querySelector("svg");
    const layer = document.createElementNS(SVG, "g");
    layer.setAttribute("class", "hover");
    svg.append(layer);
    let current = null;

    function clear() { layer.replaceChildren(); tip.hidden = true; }
    function highlight(data, chosen) {
      layer.replaceChildren();
      if (data.kind === "curves") {
        const rule = document.createElementNS(SVG, "line");
        const height = svg.viewBox.baseVal.height;
        Object.entries({ x1: chosen[0][0], x2: chosen[0][0], y1: 0, y2: height, class: "cross" })
          .forEach(([name, value]) => rule.setAttribute(name, value));
        layer.append(rule);
      }
      chosen.forEach(function (mark) {
        const dot = document.createElementNS(SVG, "circle");
        Object.entries({ cx: mark[0], cy: mark[1], r: 3.2, class: "dot", fill: mark[2] < 0 ? "var(--ink)" : colourOf(mark[2]) })
          .forEach(([name, value]) => dot.setAttribute(name, value));
        layer.append(dot);
      });
      tip.replaceChildren(data.kind === "curves" ? curveTip(data, chosen) : pointTip(data, chosen[0]));
    }
    function toDrawing(clientX, clientY) {
      const box = svg.getBoundingClientRect();
      const zoom = svg.viewBox.baseVal.width / box.width;
      return [(clientX - box.left) * zoom, (clientY - box.top) * zoom];
    }
    function toScreen(x, y) {
      const box = svg.getBoundingClientRect();
      const zoom = svg.viewBox.baseVal.width / box.width;
      return [box.left + x / zoom, box.top + y / zoom];
    }
    function marksOfNearestAxes(marks, x, y) {
      // The marks of the axes that are nearest to the pointer.
      const near = marks.reduce((best, mark) =>
        (Math.hypot(mark[0] - x, mark[1] - y) < Math.hypot(best[0] - x, best[1] - y) ? mark : best));
      return marks.filter((mark) => mark[4] === near[4]);
    }
    function point(event) {
      const data = dataOf(figure);
      const marks = data.marks.filter(visible);
      if (!marks.length) return clear();
      const [x, y] = toDrawing(event.clientX, event.clientY);
      current = nearestMarks(data, marksOfNearestAxes(marks, x, y), x, y);
      highlight(data, current);
      return place(event.clientX, event.clientY);
    }
    drawing.addEventListener("pointermove", point);
    drawing.addEventListener("pointerdown", point);
    // Lifting a finger also fires pointerleave; its tooltip stays until something else is touched.
    drawing.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") clear(); });
    addEventListener("pointerdown", (event) => { if (!drawing.contains(event.target)) layer.replaceChildren(); });
    drawing.addEventListener("blur", clear);
    drawing.addEventListener("keydown", function (event) {
      const direction = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") return clear();
      if (!direction) return undefined;
      event.preventDefault();
      const data = dataOf(figure);
      const marks = data.marks.filter(visible);
      if (!marks.length) return clear();
      const along = data.kind === "curves" ? 0 : 1;
      const stops = Array.from(new Set(marks.map((mark) => mark[along]))).sort((a, b) => a - b);
      const at = current ? stops.indexOf(current[0][along]) + direction : 0;
      const stop = stops[Math.max(0, Math.min(stops.length - 1, at))];
      const mark = marks.find((candidate) => candidate[along] === stop);
      current = nearestMarks(data, marks.filter((other) => other[4] === mark[4]), mark[0], mark[1]);
      highlight(data, current);
      return place(...toScreen(mark[0], mark[1]));
    });
  });

  // ---- the legend of a figure takes one row, or it is folded ---------------------------------------------------------
  document.querySelectorAll("details.legend[open]").forEach(function (legend) {
    const keys = legend.querySelectorAll(".key");
    legend.open = keys[keys.length - 1].offsetTop === keys[0].offsetTop;
  });

  // ---- the legend of the page takes one row, unless it is opened ---------------------------------------------------
  const chips = document.getElementById("chips");
  const more = document.getElementById("more");
  function fitChips() {
    const open = more.getAttribute("aria-expanded") === "true";
    chips.classList.remove("open");
    more.hidden = true;
    more.hidden = chips.scrollWidth <= chips.clientWidth + 1;
    const end = chips.getBoundingClientRect().right + 1;
    Array.from(chips.children).forEach((chip) => chip.classList.toggle("beyond", !open && chip.getBoundingClientRect().right > end));
    chips.classList.toggle("open", open);
  }
  more.addEventListener("click", function () {
    more.setAttribute("aria-expanded", String(more.getAttribute("aria-expanded") !== "true"));
    fitChips();
  });
  addEventListener("resize", fitChips);
  fitChips();
})();
