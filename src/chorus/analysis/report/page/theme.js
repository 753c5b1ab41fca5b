"use strict";
// Light and dark; the page remembers which was chosen.
(function () {
  const root = document.documentElement;
  function remember(value) {
    // A page opened from a file may have no storage; the theme is then forgotten when the page is closed.
    try { localStorage.setItem("chorus-theme", value); } catch (error) { return; }
  }
  try {
    const kept = localStorage.getItem("chorus-theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch (error) {
    delete root.dataset.theme;
  }
  document.getElementById("theme").addEventListener("click", function () {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember(root.dataset.theme);
  });

  // Folded parts cannot be opened on paper.
  addEventListener("beforeprint", () => document.querySelectorAll("details:not(.menu)").forEach((part) => { part.open = true; }));
})();
