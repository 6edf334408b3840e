// The sortable table of all clusters.
import { h } from "../shell/dom.js";
import { count, number } from "../shell/format.js";
import { Paging } from "./paging.js";
import { bar, setLink } from "./set_link.js";

const COLUMNS = [
  { key: "name", title: "Cluster", first: "ascending", help: "Name, with terms or examples" },
  { key: "size", title: "Size", first: "descending", help: "Number of rows" },
  { key: "tightness", title: "Tightness", first: "ascending", help: "Mean squared distance of the rows to their centre; small values mean a tight cluster" },
  { key: "separation", title: "Separation", first: "descending", help: "Distance of the centre to the nearest other centre" },
];
const THUMBNAILS = 5;
const TERMS = 5;

const collator = new Intl.Collator("en", { numeric: true });

/** Order of two sets. Missing values come last in both directions. */
function compare(a, b, { key, direction }) {
  const sign = direction === "ascending" ? 1 : -1;
  if (key === "name") return sign * collator.compare(a.name, b.name);
  const [left, right] = [a[key], b[key]];
  if (left === null || right === null) return (left === null ? 1 : 0) - (right === null ? 1 : 0);
  return sign * (left - right) || a.number - b.number;
}

export class ClusterTable {
  constructor(explorer) {
    this.explorer = explorer;
    this.sort = { key: "size", direction: "descending" };
    this.paging = new Paging(() => this.#fill());
    this.body = h("tbody");
    this.headers = COLUMNS.map((column) => this.#header(column));
    const caption = h("caption", { class: "off-screen" }, "Clusters. The buttons in the header sort the table.");
    this.table = h("table", { class: "clusters" }, caption, h("thead", {}, h("tr", {}, this.headers)), this.body);
    this.element = h("div", {}, this.table, this.paging.element);
    explorer.store.on(["clustering", "theme"], () => this.#fill());
    this.#fill();
  }

  #header(column) {
    const click = () => {
      const opposite = this.sort.direction === "ascending" ? "descending" : "ascending";
      const direction = this.sort.key === column.key ? opposite : column.first;
      this.sort = { key: column.key, direction };
      this.paging.page = 0;
      this.#fill();
    };
    const button = h("button", { type: "button", title: column.help, on: { click } }, column.title);
    return h("th", { scope: "col", class: `column-${column.key}` }, button);
  }

  #fill() {
    const { sets } = this.explorer.state.clustering;
    COLUMNS.forEach(({ key }, i) => {
      this.headers[i].setAttribute("aria-sort", key === this.sort.key ? this.sort.direction : "none");
    });
    const largest = {};
    for (const { key } of COLUMNS) {
      largest[key] = sets.reduce((best, set) => (Number.isFinite(set[key]) ? Math.max(best, set[key]) : best), 0);
    }
    const sorted = [...sets].sort((a, b) => compare(a, b, this.sort));
    this.body.replaceChildren(...this.paging.slice(sorted).map((set) => this.#row(set, largest)));
  }

  #row(set, largest) {
    const measure = (key, format) =>
      h("td", { class: "number" }, set[key] === null || set[key] === undefined ? "–" : bar(format(set[key]), set[key] / largest[key]));
    const row = h(
      "tr",
      { "data-set": set.number },
      h("th", { scope: "row" }, setLink(this.explorer, set), this.#description(set)),
      measure("size", count),
      measure("tightness", number),
      measure("separation", number),
    );
    // The whole row opens the cluster; the button in it is for keyboards and screen readers.
    row.addEventListener("click", (event) => {
      if (!event.target.closest("button")) this.explorer.open(set.number);
    });
    return row;
  }

  #description(set) {
    const images = (set.central ?? []).map((row) => this.explorer.rows.image(row)).filter(Boolean);
    if (images.length) {
      return h("span", { class: "strip" }, images.slice(0, THUMBNAILS).map((src) => h("img", { src, alt: "", loading: "lazy" })));
    }
    if (set.columns?.length) {
      return h("span", { class: "terms" }, set.columns.slice(0, 3).map(([column, text]) => `${column} ${text}`).join(" · "));
    }
    const terms = (set.distinct?.length ? set.distinct : (set.terms ?? [])).slice(0, TERMS).map(([term]) => term);
    return terms.length ? h("span", { class: "terms" }, terms.join(" · ")) : null;
  }
}
