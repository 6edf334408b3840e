// A cluster as a button that opens it.
import { h } from "../shell/dom.js";

export function setLink(explorer, set) {
  return h(
    "button",
    { class: "set-link", type: "button", on: { click: () => explorer.open(set.number) } },
    h("span", { class: "swatch", "aria-hidden": "true", vars: { swatch: explorer.colourOfSet(set.number) } }),
    h("bdi", { class: "set-name" }, set.name || `Cluster ${set.number}`),
  );
}

/** A number with a bar below it. */
export function bar(text, share) {
  const width = Number.isFinite(share) ? Math.max(0, Math.min(1, share)) : 0;
  return h("span", { class: "measure" }, h("span", {}, text), h("span", { class: "bar", "aria-hidden": "true", vars: { share: width } }));
}
