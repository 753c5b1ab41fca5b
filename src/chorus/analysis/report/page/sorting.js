"use strict";
// Tables: sorting by a click on a heading.
(function () {
  document.querySelectorAll("table.sortable").forEach(function (table) {
    table.querySelectorAll("th").forEach(function (heading, index) {
      heading.querySelector("button").addEventListener("click", function () {
        const falling = heading.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const body = table.tBodies[0];
        const key = (row) => row.cells[index].dataset.sort;
        const numeric = Array.from(body.rows).every((row) => row.cells[index].classList.contains("number") || key(row) === "");
        const number = (text) => (text === "-inf" || text === "" ? -Infinity : Number(text));
        const order = (a, b) => {
          const x = numeric ? number(key(a)) : key(a), y = numeric ? number(key(b)) : key(b);
          return numeric ? (x < y ? -1 : Number(x > y)) : x.localeCompare(y, undefined, { numeric: true });
        };
        const rows = Array.from(body.rows).sort((a, b) => (falling ? order(b, a) : order(a, b)));
        body.append(...rows);
      });
    });
  });
})();
