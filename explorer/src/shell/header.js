// The header: title, search, downloads and theme.
import { byId, h } from "./dom.js";
import { count, plural } from "./format.js";
import { icon } from "./icons.js";

const TYPING_PAUSE = 150; // milliseconds before a search starts

function searchField(explorer) {
  const input = h("input", {
    id: "search", type: "search", placeholder: "Search names, texts and ids", autocomplete: "off", spellcheck: "false",
    "aria-label": "Search", "aria-describedby": "search-scope",
  });
  let timer = 0;
  const find = () => {
    clearTimeout(timer);
    explorer.find(input.value);
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, input.value ? TYPING_PAUSE : 0);
  });
  input.addEventListener("keydown", (event) => event.key === "Enter" && find());
  return h(
    "div",
    { class: "search", role: "search", title: explorer.search.coverage },
    icon("search"), input, h("kbd", { "aria-hidden": "true" }, "/"),
    h("span", { id: "search-scope", class: "off-screen" }, explorer.search.coverage),
  );
}

function downloadMenu(explorer) {
  const { points, payload } = explorer;
  const all = points.sampled
    ? `Labels of ${count(points.count)} of ${count(payload.n_rows)} rows (a sample)`
    : `Labels of all ${plural(points.count, "row")}`;
  const selection = h("button", { type: "button", disabled: true, on: { click: () => explorer.saveSelection() } }, "Selected rows");
  explorer.store.on(["selection"], (state) => {
    selection.disabled = state.selection.length === 0;
    selection.textContent = state.selection.length ? `Selected rows (${count(state.selection.length)})` : "Selected rows";
  });
  const menu = h(
    "details",
    { class: "menu", id: "downloads" },
    h("summary", { class: "button" }, icon("download"), h("span", { class: "wide-only" }, "Download"), h("span", { class: "off-screen narrow-only" }, "Download")),
    h("div", { class: "menu-items" }, h("button", { type: "button", on: { click: () => explorer.saveLabels() } }, all), selection, h("p", { class: "note" }, "CSV: row, id, cluster, name")),
  );
  menu.addEventListener("click", (event) => event.target.closest(".menu-items button") && (menu.open = false));
  document.addEventListener("pointerdown", (event) => !menu.contains(event.target) && (menu.open = false));
  return menu;
}

function themeButton(explorer) {
  const button = h("button", { class: "button square", id: "theme", type: "button" });
  const update = ({ theme }) => {
    const other = theme === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `Use ${other} colours`);
    button.title = `Use ${other} colours`;
    button.replaceChildren(icon(theme === "dark" ? "sun" : "moon"));
  };
  button.addEventListener("click", () => explorer.setTheme(explorer.state.theme === "dark" ? "light" : "dark", { remember: true }));
  explorer.store.on(["theme"], update);
  update(explorer.state);
  return button;
}

export function fillHeader(explorer) {
  const { payload } = explorer;
  const facts = [plural(payload.n_rows, "row"), plural(payload.n_clusters, "cluster"), plural(payload.n_features, "feature")];
  byId("header").append(
    h("div", { class: "title" }, h("h1", { title: payload.title }, payload.title), h("p", {}, facts.join(" · "))),
    searchField(explorer),
    h("div", { class: "header-actions" }, downloadMenu(explorer), themeButton(explorer)),
  );
}
