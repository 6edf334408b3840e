// Starts the page.
import { isBrowserSupported, PageError } from "./data/decode.js";
import { readPayload } from "./data/payload.js";
import { Explorer } from "./explorer.js";
import { PointMap } from "./map/map.js";
import { Panel } from "./panel/panel.js";
import { byId } from "./shell/dom.js";
import { showFailure } from "./shell/failure.js";
import { fillHeader } from "./shell/header.js";
import { fillMapControls } from "./shell/map_controls.js";
import { listenToShortcuts } from "./shell/shortcuts.js";
import { applyTheme, currentTheme, onSystemTheme } from "./shell/theme.js";

function build(payload) {
  const explorer = new Explorer(payload);
  const stage = byId("stage");
  fillHeader(explorer);
  const map = new PointMap(stage, explorer);
  stage.setAttribute("aria-label", map.description);
  fillMapControls(explorer, map);
  new Panel(explorer, map);
  listenToShortcuts(explorer, map);
  onSystemTheme((theme) => explorer.setTheme(theme));
}

async function start() {
  applyTheme(currentTheme());
  if (!isBrowserSupported()) {
    showFailure("Your browser is too old. The page needs Chrome 103, Edge 103, Firefox 113, Safari 16.4, or a later version.");
    return;
  }
  try {
    const data = byId("data");
    const payload = await readPayload(data.textContent);
    data.remove(); // frees the memory of the text
    build(payload);
    // Two frames later, the map has been painted.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      performance.mark("page-ready");
      document.documentElement.dataset.state = "ready";
    }));
  } catch (error) {
    const known = error instanceof PageError;
    if (!known) console.error(error);
    showFailure(known ? error.message : `The data of this page are damaged or incomplete (${error.message}). Create the page again.`);
  }
}

start();
