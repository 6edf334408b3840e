// The sets that map and table show: the clusters themselves, or sets of clusters from a cut of the tree.

function setOfCluster(cluster, number) {
  return { ...cluster, number, leaves: [number], isCluster: true };
}

/** Merge weighted terms of clusters; large clusters count more. */
function mergeTerms(clusters, key) {
  const weights = new Map();
  const total = clusters.reduce((sum, cluster) => sum + cluster.size, 0) || 1;
  for (const cluster of clusters) {
    for (const [term, weight] of cluster[key] ?? []) {
      weights.set(term, (weights.get(term) ?? 0) + (weight * cluster.size) / total);
    }
  }
  const merged = [...weights].sort((a, b) => b[1] - a[1]).slice(0, 12);
  const largest = merged[0]?.[1] || 1;
  return merged.map(([term, weight]) => [term, weight / largest]);
}

/** Take rows from several lists in turn, so that every cluster of a set is represented. */
function interleave(lists, limit) {
  const rows = [];
  for (let i = 0; rows.length < limit && lists.some((list) => i < list.length); i++) {
    for (const list of lists) if (i < list.length && rows.length < limit) rows.push(list[i]);
  }
  return rows;
}

const ROWS_OF_A_SET = 12;

function setOfNode(node, number, leaves, clusters) {
  const members = leaves.map((leaf) => clusters[leaf]).sort((a, b) => b.size - a.size);
  const rows = (key) => interleave(members.map((cluster) => cluster[key] ?? []), ROWS_OF_A_SET);
  return {
    ...node,
    number,
    leaves,
    isCluster: false,
    separation: null,
    terms: mergeTerms(members, "terms"),
    distinct: mergeTerms(members, "distinct"),
    central: rows("central"),
    borderline: rows("borderline"),
    outlying: rows("outlying"),
  };
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
      this.sets = tree.cut(nSets).map((node) => {
        const leaves = tree.leaves[node];
        if (leaves.length === 1) return { ...setOfCluster(clusters[leaves[0]], leaves[0]) };
        return setOfNode(tree.nodes[node], 0, leaves, clusters);
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
