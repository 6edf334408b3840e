// The sets that map and table show: the clusters themselves, or sets of clusters from a cut of the tree.

function setOfCluster(cluster, number) {
  return { ...cluster, number, leaves: [number], isCluster: true };
}

const ROWS_OF_A_SET = 12;

/** Rows of several clusters in proportion to their sizes (D'Hondt's method), so that they are typical of the set. */
function rowsByShare(members, key) {
  const taken = members.map(() => 0);
  const rows = [];
  while (rows.length < ROWS_OF_A_SET) {
    let best = -1;
    members.forEach((cluster, i) => {
      const claim = (j) => members[j].size / (taken[j] + 1);
      if (taken[i] < (cluster[key]?.length ?? 0) && (best < 0 || claim(i) > claim(best))) best = i;
    });
    if (best < 0) break;
    rows.push(members[best][key][taken[best]++]);
  }
  return rows;
}

/** The separation of a node in a cut, from pairs [sets, value] that hold until the next pair. */
function separationInCut(tree, node, nSets) {
  if (nSets > tree.separationSets) return null;
  return tree.nodes[node].separation?.findLast(([from]) => from <= nSets)?.[1] ?? null;
}

function setOfNode(node, leaves, clusters) {
  const members = leaves.map((leaf) => clusters[leaf]).sort((a, b) => b.size - a.size);
  const rows = (key) => rowsByShare(members, key);
  const lists = { terms: [], distinct: [] }; // of nodes without a description
  return { ...lists, ...node, leaves, isCluster: false, central: rows("central"), borderline: rows("borderline"), outlying: rows("outlying") };
}

function neighboursOfSet(set, clusters, setOfLeaf) {
  const found = new Set();
  for (const leaf of set.leaves) {
    for (const other of clusters[leaf].neighbours ?? []) {
      if (setOfLeaf[other] !== set.number) found.add(setOfLeaf[other]);
    }
  }
  return [...found].slice(0, 8);
}

/** One level of detail: `sets`, and the number of the set of each cluster in `setOfLeaf`. */
export class Clustering {
  constructor(clusters, tree, nSets) {
    this.isCut = Boolean(tree) && nSets < clusters.length;
    const setOfLeaf = new Uint32Array(clusters.length);
    if (this.isCut) {
      const cut = tree.cut(nSets);
      this.sets = cut.map((node) => {
        const leaves = tree.leaves[node];
        const set = leaves.length === 1 ? setOfCluster(clusters[leaves[0]], leaves[0]) : setOfNode(tree.nodes[node], leaves, clusters);
        // The nearest other set of a cut may be a merged one, also for a single cluster.
        return { ...set, separation: separationInCut(tree, node, cut.length) };
      });
      const first = new Map(this.sets.map((set) => [set, set.leaves.reduce((a, b) => Math.min(a, b))]));
      this.sets.sort((a, b) => first.get(a) - first.get(b));
      this.sets.forEach((set, number) => {
        set.number = number;
        for (const leaf of set.leaves) setOfLeaf[leaf] = number;
      });
      for (const set of this.sets) set.neighbours = neighboursOfSet(set, clusters, setOfLeaf);
    } else {
      this.sets = clusters.map(setOfCluster);
      setOfLeaf.forEach((_, leaf) => (setOfLeaf[leaf] = leaf));
    }
    this.setOfLeaf = setOfLeaf;
  }

  /** The set that contains a cluster. */
  containing(cluster) {
    return this.sets[this.setOfLeaf[cluster]];
  }
}
