"use strict";
// Saving figures as SVG, PNG and CSV, and tables as CSV. A saved figure has light colours and a legend of its own.
(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const FONT = "DejaVu Sans, Verdana, Arial, sans-serif";
  const PIXELS_PER_POINT = 3;

  function download(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // ---- CSV ---------------------------------------------------------------------------------------------------------
  function quote(value) {
    const plain = value === null ? "" : String(value);
    // A spreadsheet would compute text that starts like a formula.
    const text = /^[=+\-@\t\r]/.test(plain) && Number.isNaN(Number(plain)) ? "'" + plain : plain;
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }
  function saveRows(name, rows) {
    const text = rows.map((row) => row.map(quote).join(",")).join("\n") + "\n";
    download(name + ".csv", new Blob([text], { type: "text/csv" }));
  }
  function dataOf(figure) {
    return JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  }

  // ---- SVG ---------------------------------------------------------------------------------------------------------
  function element(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function lightColours(text) {
    const root = document.documentElement, kept = root.dataset.theme;
    root.dataset.theme = "light";
    const style = getComputedStyle(root);
    const found = text.replace(/var\((--[\w-]+)\)/g, (_, name) => (name === "--sans" ? FONT : style.getPropertyValue(name).trim()));
    if (kept) root.dataset.theme = kept; else delete root.dataset.theme;
    return found;
  }
  // The page names the lines of curves outside of the figure; a saved figure needs the names inside.
  function addLegend(copy, figure) {
    const numbers = new Set(Array.from(copy.querySelectorAll("[data-series]"), (part) => part.dataset.series));
    const chips = Array.from(document.querySelectorAll(".bar [data-toggle-series]")).filter((chip) => numbers.has(chip.dataset.toggleSeries));
    const box = copy.viewBox.baseVal;
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = "8px " + FONT;
    let x = 8, y = box.height + 10;
    chips.forEach(function (chip) {
      const label = chip.textContent.trim(), width = 44 + canvas.measureText(label).width;
      if (x > 8 && x + width > box.width) { x = 8; y += 13; }
      const line = chip.querySelector("line").cloneNode();
      Object.entries({ x1: x, x2: x + 22, y1: y, y2: y, "stroke-width": 1.7 }).forEach(([name, value]) => line.setAttribute(name, value));
      copy.append(line, element("text", { x: x + 27, y: y + 3, style: "font: 8px var(--sans); fill: var(--ink)" }, label));
      x += width;
    });
    return chips.length ? y + 8 : box.height;
  }
  function standalone(figure) {
    const copy = figure.querySelector(".drawing > svg").cloneNode(true);
    copy.querySelectorAll(".off, .hover").forEach((part) => part.remove());
    const width = copy.viewBox.baseVal.width;
    const height = dataOf(figure).kind === "curves" ? addLegend(copy, figure) : copy.viewBox.baseVal.height;
    copy.setAttribute("viewBox", "0 0 " + width + " " + height);
    copy.setAttribute("width", width + "pt");
    copy.setAttribute("height", height + "pt");
    copy.prepend(
      element("title", {}, figure.querySelector(".drawing").getAttribute("aria-label")),
      element("rect", { width, height, fill: "var(--paper)" }),
    );
    return { text: lightColours(new XMLSerializer().serializeToString(copy)), width, height };
  }

  // ---- PNG ---------------------------------------------------------------------------------------------------------
  function savePng(name, { text, width, height }) {
    const image = new Image();
    image.addEventListener("load", function () {
      const canvas = document.createElement("canvas");
      canvas.width = Math.round(width * PIXELS_PER_POINT);
      canvas.height = Math.round(height * PIXELS_PER_POINT);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => download(name + ".png", blob), "image/png");
    });
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }

  const forms = {
    svg: (figure) => download(figure.id + ".svg", new Blob([standalone(figure).text], { type: "image/svg+xml" })),
    png: (figure) => savePng(figure.id, standalone(figure)),
    csv: function (figure) {
      const data = dataOf(figure);
      saveRows(figure.id, [data.columns, ...data.rows]);
    },
  };
  document.querySelectorAll("[data-save]").forEach(function (button) {
    button.addEventListener("click", () => forms[button.dataset.save](button.closest("figure")));
  });
  document.querySelectorAll("[data-download-table]").forEach(function (button) {
    button.addEventListener("click", function () {
      const table = document.getElementById(button.dataset.downloadTable);
      saveRows(table.id, Array.from(table.rows, (row) => Array.from(row.cells, (cell) => cell.textContent.trim())));
    });
  });
})();
