// The panel next to the map: tabs, and the view of the chosen tab.
import { byId, h } from "../shell/dom.js";
import { count } from "../shell/format.js";
import { clusterDetail } from "./cluster_detail.js";
import { ClusterTable } from "./cluster_table.js";
import { fitView } from "./fit_view.js";
import { outliersView, resultsView, selectionView } from "./views.js";

const TABS = [
  { key: "clusters", title: "Clusters", depends: ["opened", "clustering", "theme"] },
  { key: "results", title: "Results", depends: ["found", "query", "clustering", "theme"] },
  { key: "outliers", title: "Outliers", depends: ["clustering", "theme"] },
  { key: "selection", title: "Selection", depends: ["selection", "clustering", "theme"] },
  { key: "fit", title: "Fit", depends: [] },
];

export class Panel {
  constructor(explorer, map) {
    Object.assign(this, { explorer, map, table: new ClusterTable(explorer), shown: null });
    this.tabs = new Map(TABS.map((tab) => [tab.key, this.#tab(tab)]));
    this.body = h("div", { id: "panel-body", class: "panel-body", role: "tabpanel", tabindex: "0" });
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, [...this.tabs.values()]);
    list.addEventListener("keydown", (event) => this.#moveBetweenTabs(event));
    byId("panel").append(list, this.body);
    explorer.store.on(["tab"], () => this.#show());
    explorer.store.on(["selection", "found", "query"], () => this.#updateTabs());
    for (const { key, depends } of TABS) {
      explorer.store.on(depends, ({ tab }) => tab === key && this.#show());
    }
    explorer.store.on(["marked"], ({ marked }) => this.#markRow(marked));
    this.#show();
  }

  #tab({ key, title }) {
    const attributes = { id: `tab-${key}`, role: "tab", type: "button", "aria-controls": "panel-body" };
    return h("button", { ...attributes, on: { click: () => this.explorer.showTab(key) } }, title);
  }

  #moveBetweenTabs(event) {
    const visible = [...this.tabs.values()].filter((tab) => !tab.hidden);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = visible.indexOf(document.activeElement);
    const next = visible[(at + step + visible.length) % visible.length];
    next.focus();
    next.click();
  }

  #updateTabs() {
    const { tab, selection, query, found } = this.explorer.state;
    const badges = { selection: selection.length, results: query.trim() ? found.sets.length + found.rows.length : 0 };
    for (const [key, element] of this.tabs) {
      element.setAttribute("aria-selected", String(key === tab));
      element.tabIndex = key === tab ? 0 : -1;
      const { title } = TABS.find((each) => each.key === key);
      element.replaceChildren(title, ...(badges[key] ? [h("span", { class: "badge" }, count(badges[key]))] : []));
      if (key === "results") element.hidden = !query.trim() && tab !== "results";
    }
  }

  #show() {
    this.#updateTabs();
    const { tab, opened } = this.explorer.state;
    this.body.setAttribute("aria-labelledby", `tab-${tab}`);
    const view = tab === "clusters" ? `clusters/${opened}` : tab;
    const returned = view === "clusters/null" && this.shown?.startsWith("clusters/") && view !== this.shown;
    this.body.replaceChildren(...this.#content(tab).filter(Boolean));
    if (view !== this.shown) this.body.scrollTop = returned ? (this.tableScroll ?? 0) : 0;
    this.#moveFocus(view, returned);
    this.shown = view;
  }

  // Where the focus was in a view that is gone, it goes to the new view. Elsewhere it stays.
  #moveFocus(view, returned) {
    const lost = document.activeElement === document.body || document.activeElement === null;
    if (view === this.shown || !lost || this.shown === null) return;
    const heading = this.body.querySelector("#opened-name");
    const row = returned && this.body.querySelector(`tr[data-set="${this.lastOpened}"] button`);
    (row || heading || this.body).focus({ preventScroll: Boolean(heading) });
  }

  #content(tab) {
    const { explorer } = this;
    if (tab === "results") return resultsView(explorer);
    if (tab === "outliers") return outliersView(explorer);
    if (tab === "selection") return selectionView(explorer);
    if (tab === "fit") return fitView(explorer);
    const set = explorer.openedSet;
    if (!set) return [this.table.element];
    if (this.shown === "clusters/null") this.tableScroll = this.body.scrollTop;
    this.lastOpened = set.number;
    return [clusterDetail(explorer, set, this.map)];
  }

  #markRow(marked) {
    for (const card of this.body.querySelectorAll(".row-card")) {
      if (Number(card.dataset.row) === marked) card.setAttribute("aria-current", "true");
      else card.removeAttribute("aria-current");
    }
  }
}
