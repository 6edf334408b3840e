// Pages of a long table.
import { h } from "../shell/dom.js";
import { count } from "../shell/format.js";

export const PAGE_SIZE = 50;

/** Buttons for the previous and next page. Hidden if there is one page only. */
export class Paging {
  constructor(onChange) {
    this.page = 0;
    this.text = h("span", { class: "paging-text", "aria-live": "polite" });
    const go = (step) => () => {
      this.page += step;
      onChange();
    };
    this.previous = h("button", { class: "button", type: "button", on: { click: go(-1) } }, "Previous");
    this.next = h("button", { class: "button", type: "button", on: { click: go(1) } }, "Next");
    this.element = h("nav", { class: "paging", "aria-label": "Pages of the table" }, this.previous, this.text, this.next);
  }

  /** Return the items of the current page. */
  slice(items) {
    const pages = Math.max(1, Math.ceil(items.length / PAGE_SIZE));
    this.page = Math.min(this.page, pages - 1);
    const first = this.page * PAGE_SIZE;
    const shown = items.slice(first, first + PAGE_SIZE);
    this.element.hidden = pages === 1;
    this.previous.disabled = this.page === 0;
    this.next.disabled = this.page === pages - 1;
    this.text.textContent = `${count(first + 1)}–${count(first + shown.length)} of ${count(items.length)}`;
    return shown;
  }
}
