// The other views of the panel: results of the search, outliers, and the selection.
import { h } from "../shell/dom.js";
import { count, percent, plural } from "../shell/format.js";
import { icon } from "../shell/icons.js";
import { rowList } from "./row_list.js";
import { bar, setLink } from "./set_link.js";

const MAX_SETS = 30;
const MAX_OUTLIERS = 1000;
const FARTHEST = 255; // the highest rank of a distance: 1 of 256 rows
const MAX_LISTED = 5000;

const button = (text, iconName, click) => h("button", { class: "button", type: "button", on: { click } }, icon(iconName), text);
const empty = (text) => h("p", { class: "empty" }, text);

function setLinks(explorer, sets) {
  const items = sets.slice(0, MAX_SETS).map((set) => h("li", {}, setLink(explorer, set), h("span", { class: "muted" }, count(set.size))));
  return h("ul", { class: "parts" }, items);
}

export function resultsView(explorer) {
  const { found, query } = explorer.state;
  if (!query.trim()) return [empty("Type into the search field above, or press /.")];
  return [
    h("h2", {}, `${plural(found.sets.length, "cluster")}, ${plural(found.rows.length, "row")}`),
    h("p", { class: "note" }, explorer.search.coverage),
    found.points.length > 0 && h("div", { class: "actions" }, button("Select these rows", "select", () => explorer.select(found.points))),
    found.sets.length > 0 && h("section", {}, h("h3", {}, "Clusters"), setLinks(explorer, found.sets)),
    found.rows.length > 0 && h("section", {}, h("h3", {}, "Rows"), rowList(explorer, found.rows, { showCluster: true })),
    found.sets.length + found.rows.length === 0 && empty(`Nothing contains “${query.trim()}”.`),
  ];
}

function farthestPoints({ distance }) {
  const found = [];
  for (let i = 0; i < distance.length; i++) if (distance[i] === FARTHEST) found.push(i);
  return Uint32Array.from(found);
}

export function outliersView(explorer) {
  const { row, distance } = explorer.payload.rows;
  const order = row.map((_, i) => i).filter((i) => Number.isFinite(distance?.[i]));
  order.sort((a, b) => distance[b] - distance[a]);
  const rows = order.slice(0, MAX_OUTLIERS).map((i) => row[i]);
  const farthest = farthestPoints(explorer.points);
  const scope = row.length === explorer.payload.n_rows ? `all ${count(row.length)} rows` : `the ${count(row.length)} rows whose content this page contains`;
  return [
    h("h2", {}, "Outliers"),
    h("p", { class: "note" }, `Rows with the largest distance to their centre, among ${scope}.`),
    farthest.length > 0 &&
      h("div", { class: "actions" }, button(`Select the farthest 0.4 % of all rows (${count(farthest.length)})`, "select", () => explorer.select(farthest))),
    rows.length > 0 ? rowList(explorer, rows, { showCluster: true }) : empty("This page contains no distances of rows."),
  ];
}

function countsBySet(explorer, selection) {
  const { clustering } = explorer.state;
  const counts = new Uint32Array(clustering.sets.length);
  for (const point of selection) counts[clustering.setOfLeaf[explorer.points.label[point]]]++;
  return clustering.sets.map((set) => [set, counts[set.number]]).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
}

/** Rows whose content is in the page come first. */
function rowsToList(explorer, selection) {
  const withContent = [];
  const others = [];
  for (const point of selection) {
    const row = explorer.points.row[point];
    if (explorer.rows.has(row)) withContent.push(row);
    else if (others.length < MAX_LISTED) others.push(row);
  }
  const ascending = (rows) => rows.sort((a, b) => a - b);
  return [...ascending(withContent), ...ascending(others)].slice(0, MAX_LISTED);
}

export function selectionView(explorer) {
  const { selection } = explorer.state;
  if (!selection.length) {
    return [empty("Nothing is selected. Draw around points on the map with the lasso (or hold Shift and drag), or select the rows of a cluster or of a search.")];
  }
  const counts = countsBySet(explorer, selection);
  const items = counts.slice(0, MAX_SETS).map(([set, n]) =>
    h("li", {}, setLink(explorer, set), bar(`${count(n)} (${percent(n / selection.length)})`, n / counts[0][1])),
  );
  return [
    h("h2", {}, `${plural(selection.length, "row")} selected`),
    h(
      "div",
      { class: "actions" },
      button("Download as CSV", "download", () => explorer.saveSelection()),
      button("Clear", "close", () => explorer.deselect()),
    ),
    h("section", {}, h("h3", {}, `In ${plural(counts.length, "cluster")}`), h("ul", { class: "shares" }, items)),
    h("section", {}, h("h3", {}, "Rows"), rowList(explorer, rowsToList(explorer, selection), { showCluster: true })),
  ];
}
