// Light or dark: the setting of the system, unless the reader chose one.

const KEY = "boostkmeans-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

// Pages in sandboxed frames have no storage.
function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function currentTheme() {
  const chosen = stored();
  return chosen === "light" || chosen === "dark" ? chosen : system.matches ? "dark" : "light";
}

export function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

export function storeTheme(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice lasts until the page is closed.
  }
}

export function onSystemTheme(listener) {
  system.addEventListener("change", () => {
    if (!stored()) listener(currentTheme());
  });
}
