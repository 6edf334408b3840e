// Cuts of the tree of clusters: a cut into m sets applies the first splits of the tree.

export class Tree {
  constructor({ children, split, cluster, nodes, separation_sets: separationSets }) {
    this.separationSets = separationSets; // finer cuts have no separation
    this.children = children;
    this.split = split;
    this.nodes = nodes;
    this.leaves = this.#leavesOfNodes(cluster);
    this.splitsBySets = this.#countSets();
  }

  #leavesOfNodes(cluster) {
    const leaves = cluster.map((leaf) => (leaf >= 0 ? [leaf] : []));
    for (let s = this.split.length - 1; s >= 0; s--) {
      leaves[this.split[s]] = this.children[s].flatMap((child) => leaves[child]);
    }
    return leaves;
  }

  // A split may have more than two children, so that some numbers of sets cannot be reached.
  #countSets() {
    const counts = [1];
    for (const children of this.children) counts.push(counts.at(-1) + children.length - 1);
    return counts;
  }

  /** The nodes of the finest cut with at most `sets` sets. */
  cut(sets) {
    let splits = 0;
    while (splits < this.split.length && this.splitsBySets[splits + 1] <= sets) splits++;
    const nodes = new Set([0]);
    for (let s = 0; s < splits; s++) {
      nodes.delete(this.split[s]);
      for (const child of this.children[s]) nodes.add(child);
    }
    return [...nodes];
  }
}
