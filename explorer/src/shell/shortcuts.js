// Keys that work everywhere: "/" goes to the search, Escape closes what is open.
import { byId } from "./dom.js";

const isTyping = (element) => element instanceof HTMLInputElement && element.type !== "range";

function escape(explorer, map) {
  const menu = byId("downloads");
  const search = byId("search");
  const { state } = explorer;
  if (menu.open) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (map.path) map.gestures.cancel();
  else if (search.value) {
    search.value = "";
    explorer.find("");
  } else if (state.opened !== null && state.tab === "clusters") explorer.close();
  else explorer.deselect();
}

export function listenToShortcuts(explorer, map) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !isTyping(event.target)) {
      event.preventDefault();
      byId("search").focus();
      byId("search").select();
    } else if (event.key === "Escape") {
      // The browser would clear the search field by itself, without telling the page in every version.
      event.preventDefault();
      escape(explorer, map);
    }
  });
}
