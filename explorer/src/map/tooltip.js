// The box next to the pointer that shows the row under it.
import { h } from "../shell/dom.js";
import { count } from "../shell/format.js";

const MAX_TEXT = 240;

export class Tooltip {
  constructor(explorer) {
    this.explorer = explorer;
    this.element = h("div", { class: "tooltip", role: "tooltip", hidden: true });
  }

  hide() {
    this.element.hidden = true;
    this.row = null;
  }

  /** Show a row next to a place on the map. */
  show(row, [x, y], { width, height }) {
    if (row !== this.row) this.#fill(row);
    this.row = row;
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect();
    const left = x + 16 + box.width > width ? x - 16 - box.width : x + 16;
    const top = Math.min(Math.max(8, y - box.height / 2), height - box.height - 8);
    this.element.style.transform = `translate(${Math.max(8, left)}px, ${top}px)`;
  }

  #fill(row) {
    const { rows } = this.explorer;
    const set = this.explorer.setOfRow(row);
    const text = rows.text(row);
    const image = rows.image(row);
    const id = rows.id(row);
    this.element.replaceChildren(
      ...[
        image && h("img", { src: image, alt: "" }),
        text && h("p", { class: "tooltip-text" }, text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text),
        ...this.#values(row),
        h("p", { class: "tooltip-set" }, h("span", { class: "swatch", vars: { swatch: this.explorer.colourOfSet(set.number) } }), set.name),
        h("p", { class: "tooltip-meta" }, `Row ${count(row)}`, id && [" · ", h("bdi", {}, id)]),
      ].filter(Boolean),
    );
  }

  #values(row) {
    const values = this.explorer.rows.values(row);
    const columns = this.explorer.payload.columns;
    if (!values || !columns) return [];
    const pairs = columns.slice(0, 6).map((column, i) => [h("dt", {}, column), h("dd", {}, values[i] ?? "")]);
    return [h("dl", { class: "values" }, pairs.flat())];
  }
}
