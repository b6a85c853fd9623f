"use strict";
// Dark or light: what the system says, unless the button was pressed; the choice is kept where a browser allows it.
(() => {
  const root = document.documentElement;
  const store = (() => {
    try {
      return window.localStorage;
    } catch {
      return null; // a browser that keeps nothing: the choice lasts as long as the page
    }
  })();
  const kept = store?.getItem("arena-theme");
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;

  const button = document.getElementById("theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => {
    button.textContent = isDark() ? "☀ Light" : "☾ Dark";
    button.title = isDark() ? "Show this page in light colours" : "Show this page in dark colours";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    store?.setItem("arena-theme", root.dataset.theme);
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
})();
