// One opened cluster: measures, terms, central, borderline and outlying rows, and neighbours.
import { h } from "../shell/dom.js";
import { count, number, percent, plural } from "../shell/format.js";
import { icon } from "../shell/icons.js";
import { rowList } from "./row_list.js";
import { bar, setLink } from "./set_link.js";

const MAX_TERMS = 10;
const MAX_PARTS = 100;

function section(title, note, ...content) {
  return h("section", {}, h("h3", {}, title), note && h("p", { class: "note" }, note), ...content);
}

function termList(title, note, terms) {
  if (!terms?.length) return null;
  const items = terms.slice(0, MAX_TERMS).map(([term, weight]) => h("li", {}, bar(term, weight)));
  return h("div", { class: "term-list" }, h("h3", { title: note }, title), h("ul", {}, items));
}

function facts(explorer, set) {
  const pairs = [
    ["Rows", `${count(set.size)} (${percent(set.size / explorer.payload.n_rows)})`],
    ["Tightness", number(set.tightness)],
    ...(set.separation === null ? [] : [["Separation", number(set.separation)]]),
  ];
  return h("dl", { class: "facts-row" }, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function columnTable(columns) {
  if (!columns?.length) return null;
  const rows = columns.map(([name, text]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, text)));
  return section("Columns", null, h("table", { class: "plain" }, h("tbody", {}, rows)));
}

function rowSections(explorer, set) {
  const { rows, state } = explorer;
  const leavesSet = (row) => rows.second(row) !== null && state.clustering.containing(rows.second(row)).number !== set.number;
  const borderline = set.isCluster ? (set.borderline ?? []) : (set.borderline ?? []).filter(leavesSet);
  const byDistance = (a, b) => (rows.distance(b) ?? 0) - (rows.distance(a) ?? 0);
  const outlying = set.isCluster ? (set.outlying ?? []) : [...set.outlying].sort(byDistance);
  const list = (title, note, found, options) => found?.length > 0 && section(title, note, rowList(explorer, found, options));
  const centre = set.isCluster ? "the centre" : "the centres of its clusters";
  return [
    list("Central rows", `Nearest to ${centre}.`, set.central ?? []),
    list("Borderline rows", "Almost as near to another cluster.", borderline, { showSecond: true }),
    list("Outlying rows", `Farthest from ${centre}.`, outlying),
  ];
}

function parts(explorer, set) {
  if (set.isCluster) return null;
  const clusters = set.leaves.map((leaf) => explorer.clusters[leaf]).sort((a, b) => b.size - a.size);
  const items = clusters.slice(0, MAX_PARTS).map(({ name, size }) => h("li", {}, h("span", {}, name), h("span", { class: "muted" }, count(size))));
  const title = `Contains ${plural(clusters.length, "cluster")}`;
  return section(title, "Move the slider to the right to see them on the map.", h("ul", { class: "parts" }, items));
}

/** The content of the panel for an opened set. */
export function clusterDetail(explorer, set, map) {
  const { clustering } = explorer.state;
  const neighbours = (set.neighbours ?? []).map((i) => clustering.sets[i]).filter(Boolean);
  const action = (text, iconName, click) => h("button", { class: "button", type: "button", on: { click } }, icon(iconName), text);
  return h(
    "article",
    { class: "detail", "data-set": set.number, "aria-labelledby": "opened-name" },
    h("button", { class: "quiet back", type: "button", on: { click: () => explorer.close() } }, icon("back"), "All clusters"),
    h(
      "h2",
      { id: "opened-name", tabindex: "-1" },
      h("span", { class: "swatch", "aria-hidden": "true", vars: { swatch: explorer.colourOfSet(set.number) } }),
      set.name || `Cluster ${set.number}`,
    ),
    facts(explorer, set),
    h(
      "div",
      { class: "actions" },
      action("Zoom to it", "frame", () => map.frameSet(set)),
      action("Select its rows", "select", () => explorer.select(explorer.pointsOfSet(set))),
    ),
    (set.terms?.length > 0 || set.distinct?.length > 0) &&
      h(
        "div",
        { class: "term-lists" },
        termList("Frequent terms", "Terms that describe the cluster", set.terms),
        termList("Distinctive terms", "Terms that distinguish the cluster from others", set.distinct),
      ),
    columnTable(set.columns),
    parts(explorer, set),
    neighbours.length > 0 &&
      section("Neighbours", null, h("ul", { class: "chips" }, neighbours.map((other) => h("li", {}, setLink(explorer, other))))),
    ...rowSections(explorer, set),
  );
}
