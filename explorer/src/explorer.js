// The model of the page: data, state, and everything that a reader can do with them.
import { Clustering } from "./data/clustering.js";
import { labelsCsv } from "./data/csv.js";
import { Rows } from "./data/rows.js";
import { Search } from "./data/search.js";
import { Tree } from "./data/tree.js";
import { Grid } from "./map/grid.js";
import { assignColours, colours, cssColour } from "./map/palette.js";
import { announce } from "./shell/announcer.js";
import { saveFile } from "./shell/download.js";
import { count, plural } from "./shell/format.js";
import { Store } from "./shell/store.js";
import { applyTheme, currentTheme, storeTheme } from "./shell/theme.js";

const NO_POINTS = new Uint32Array(0);

function join(parts) {
  const joined = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export class Explorer {
  constructor(payload) {
    this.payload = payload;
    this.points = payload.points;
    this.clusters = payload.clusters;
    this.rows = new Rows(payload);
    this.search = new Search(payload, this.rows);
    this.tree = payload.tree && this.clusters.length > 2 ? new Tree(payload.tree) : null;
    this.grid = new Grid(this.points);
    const clustering = new Clustering(this.clusters, null, this.clusters.length);
    this.leafColours = assignColours(clustering.sets);
    this.store = new Store({
      clustering,
      setColours: this.leafColours,
      nSets: this.clusters.length,
      opened: null, // number of a set
      selection: NO_POINTS,
      query: "",
      found: { sets: [], rows: [], points: NO_POINTS },
      marked: null, // number of a row
      theme: currentTheme(),
      tab: "clusters",
    });
  }

  get state() {
    return this.store.state;
  }

  get openedSet() {
    const { opened, clustering } = this.state;
    return opened === null ? null : clustering.sets[opened];
  }

  /** The colour of a set in the current theme, for style sheets. */
  colourOfSet(number) {
    return cssColour(colours(this.state.theme)[this.state.setColours[number]]);
  }

  setOfRow(row) {
    const cluster = this.rows.cluster(row);
    return cluster === null ? null : this.state.clustering.containing(cluster);
  }

  pointsOfSet(set) {
    return join(set.leaves.map((leaf) => this.points.ofCluster(leaf)));
  }

  open(number) {
    const set = this.state.clustering.sets[number];
    this.store.update({ opened: number, tab: "clusters", marked: null });
    announce(`Opened ${set.name}, ${plural(set.size, "row")}.`);
  }

  close() {
    this.store.update({ opened: null, marked: null });
  }

  showTab(tab) {
    this.store.update({ tab });
  }

  /** Mark one row on the map. */
  mark(row) {
    this.store.update({ marked: row });
  }

  select(points) {
    this.store.update({ selection: points, ...(points.length ? { tab: "selection", opened: null } : {}) });
    announce(points.length ? `Selected ${plural(points.length, "row")}.` : "Nothing is selected.");
  }

  deselect() {
    this.store.update({ selection: NO_POINTS, opened: null, marked: null });
  }

  find(query) {
    const found = this.search.find(query, this.state.clustering.sets);
    const points = found.rows.map((row) => this.points.ofRow(row)).filter((point) => point >= 0);
    const hadQuery = Boolean(this.state.query.trim());
    const hasQuery = Boolean(query.trim());
    const tab = hasQuery ? "results" : hadQuery && this.state.tab === "results" ? "clusters" : this.state.tab;
    this.store.update({ query, tab, found: { ...found, points: Uint32Array.from(points) } });
    if (hasQuery) announce(`Found ${plural(found.sets.length, "cluster")} and ${plural(found.rows.length, "row")}.`);
  }

  /** Show the finest cut of the tree with at most `nSets` sets. */
  cut(nSets) {
    const clustering = new Clustering(this.clusters, this.tree, nSets);
    const preferred = clustering.sets.map((set) => this.leafColours[this.#largestLeaf(set)]);
    const setColours = clustering.isCut ? assignColours(clustering.sets, preferred) : this.leafColours;
    const opened = this.openedSet ? clustering.setOfLeaf[this.#largestLeaf(this.openedSet)] : null;
    this.store.update({ nSets, clustering, setColours, opened });
    if (this.state.query.trim()) this.find(this.state.query);
  }

  #largestLeaf(set) {
    return set.leaves.reduce((best, leaf) => (this.clusters[leaf].size > this.clusters[best].size ? leaf : best));
  }

  setTheme(theme, { remember = false } = {}) {
    applyTheme(theme);
    if (remember) storeTheme(theme);
    this.store.update({ theme });
  }

  saveLabels() {
    const all = Uint32Array.from({ length: this.points.count }, (_, i) => i);
    saveFile("labels.csv", this.#csv(all));
    announce(`Saved the labels of ${count(all.length)} rows.`);
  }

  saveSelection() {
    saveFile("selection.csv", this.#csv(this.state.selection));
    announce(`Saved ${plural(this.state.selection.length, "selected row")}.`);
  }

  #csv(points) {
    const { rows, clusters, state } = this;
    return labelsCsv(points, { allPoints: this.points, rows, clusters, clustering: state.clustering });
  }
}
