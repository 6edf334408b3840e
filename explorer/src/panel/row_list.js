// Rows as a list of cards: content, number, distance, and the second-nearest cluster of borderline rows.
import { h } from "../shell/dom.js";
import { count, number } from "../shell/format.js";
import { setLink } from "./set_link.js";

const BATCH = 50;

function content(explorer, row) {
  const { rows, payload } = explorer;
  const image = rows.image(row);
  const text = rows.text(row);
  const values = rows.values(row);
  const parts = [];
  if (image) parts.push(h("img", { class: "thumbnail", src: image, alt: text ? "" : `Image of row ${row}`, loading: "lazy" }));
  if (text) parts.push(h("p", { class: "row-text" }, text));
  if (values && payload.columns) {
    const pairs = payload.columns.map((column, i) => [h("dt", {}, column), h("dd", {}, values[i] ?? "")]);
    parts.push(h("dl", { class: "values" }, pairs.flat()));
  }
  return parts;
}

function meta(explorer, row, { showCluster, showSecond }) {
  const { rows, state } = explorer;
  const id = rows.id(row);
  const distance = rows.distance(row);
  const second = showSecond ? rows.second(row) : null;
  const set = showCluster ? explorer.setOfRow(row) : null;
  return h(
    "div",
    { class: "row-meta" },
    // <bdi>: characters of an id must not change the direction of the words after it.
    h("span", {}, `Row ${count(row)}`, id && [" · ", h("bdi", {}, id)], distance === null ? null : ` · distance ${number(distance)}`),
    set && setLink(explorer, set),
    second !== null && h("span", { class: "also-near" }, "also near ", setLink(explorer, state.clustering.containing(second))),
  );
}

function card(explorer, row, options) {
  const onMap = explorer.points.ofRow(row) >= 0;
  return h(
    "li",
    { class: "row-card", "data-row": row, "aria-current": explorer.state.marked === row ? "true" : null },
    ...content(explorer, row),
    h(
      "div",
      { class: "row-foot" },
      meta(explorer, row, options),
      onMap &&
        h("button", { class: "quiet", type: "button", "aria-label": `Show row ${row} on the map`, on: { click: () => explorer.mark(row) } }, "Show"),
    ),
  );
}

/** A list that grows by a button. `options`: showCluster, showSecond. */
export function rowList(explorer, rows, options = {}) {
  const grid = explorer.payload.kind === "image";
  const list = h("ul", { class: grid ? "row-list row-grid" : "row-list" });
  const more = h("button", { class: "button", type: "button", on: { click: () => extend() } });
  let shown = 0;
  function extend() {
    const next = rows.slice(shown, shown + BATCH);
    list.append(...next.map((row) => card(explorer, row, options)));
    shown += next.length;
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${count(Math.min(BATCH, rows.length - shown))} more of ${count(rows.length)}`;
  }
  extend();
  return h("div", { class: "row-lists" }, list, more);
}
