// The buttons on the map, and the slider that cuts the tree.
import { byId, h } from "./dom.js";
import { count } from "./format.js";
import { icon } from "./icons.js";

function tools(explorer, map) {
  const button = (label, iconName, click, attributes = {}) =>
    h("button", { type: "button", "aria-label": label, title: label, on: { click }, ...attributes }, icon(iconName));
  const move = button("Move the map by dragging", "move", () => setMode(false), { "aria-pressed": "true" });
  const lasso = button("Select rows with a lasso (or Shift and drag)", "lasso", () => setMode(true), { "aria-pressed": "false" });
  function setMode(isLasso) {
    map.lassoMode = isLasso;
    map.stage.classList.toggle("is-lasso", isLasso);
    move.setAttribute("aria-pressed", String(!isLasso));
    lasso.setAttribute("aria-pressed", String(isLasso));
  }
  return h(
    "div",
    { class: "tools", role: "toolbar", "aria-label": "Map" },
    h("div", { class: "tool-group" }, move, lasso, button("Select the visible rows", "select", () => map.selectVisible())),
    h(
      "div",
      { class: "tool-group" },
      button("Zoom in", "plus", () => map.zoomBy(1.5)),
      button("Zoom out", "minus", () => map.zoomBy(1 / 1.5)),
      button("Show everything", "fit", () => map.fit()),
    ),
  );
}

function slider(explorer) {
  const k = explorer.clusters.length;
  const input = h("input", { id: "cut", type: "range", min: "2", max: String(k), step: "1" });
  input.value = String(k);
  const output = h("output", { for: "cut" });
  const update = ({ clustering }) => {
    const shown = clustering.sets.length;
    output.textContent = shown === k ? `all ${count(k)}` : `${count(shown)} of ${count(k)}`;
    input.setAttribute("aria-valuetext", `${shown} of ${k} clusters`);
  };
  let frame = 0;
  input.addEventListener("input", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => explorer.cut(Number(input.value)));
  });
  explorer.store.on(["clustering"], update);
  update(explorer.state);
  return h("div", { class: "slider" }, h("label", { for: "cut" }, "Clusters"), input, output);
}

export function fillMapControls(explorer, map) {
  const area = byId("map");
  area.append(tools(explorer, map));
  if (explorer.tree) area.append(slider(explorer));
}
