// The points of the map in a random order, so that a prefix of them is a fair sample of all.

/** Return the numbers 0..n-1 in an order that looks random and is the same on every load. */
export function shuffledOrder(n) {
  const order = new Uint32Array(n);
  let state = 0x9e3779b9;
  for (let i = 0; i < n; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const j = Math.floor(((state >>> 0) / 4294967296) * (i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  return order;
}

function gather(values, order) {
  const result = new values.constructor(order.length);
  for (let i = 0; i < order.length; i++) result[i] = values[order[i]];
  return result;
}

/** Group points by label: the points of cluster c are order[start[c]] .. order[start[c + 1] - 1]. */
export function groupByLabel(labels, nClusters) {
  const start = new Uint32Array(nClusters + 1);
  for (const label of labels) start[label + 1]++;
  for (let c = 0; c < nClusters; c++) start[c + 1] += start[c];
  const next = start.slice(0, nClusters);
  const order = new Uint32Array(labels.length);
  for (let i = 0; i < labels.length; i++) order[next[labels[i]]++] = i;
  return { order, start };
}

export class Points {
  constructor({ x, y, label, distance, row }, nClusters) {
    const order = shuffledOrder(x.length);
    this.count = x.length;
    this.x = gather(x, order);
    this.y = gather(y, order);
    this.label = gather(label, order);
    this.distance = gather(distance, order);
    this.row = row ? gather(row, order) : order;
    this.sampled = Boolean(row);
    this.groups = groupByLabel(this.label, nClusters);
  }

  /** The points of one cluster, as a view. */
  ofCluster(cluster) {
    const { order, start } = this.groups;
    return order.subarray(start[cluster], start[cluster + 1]);
  }

  /** The point that shows a row, or -1 if the map does not contain the row. */
  ofRow(row) {
    if (!this.inverse) {
      let last = 0;
      for (const each of this.row) if (each > last) last = each;
      this.inverse = new Int32Array(last + 1).fill(-1);
      for (let i = 0; i < this.count; i++) this.inverse[this.row[i]] = i;
    }
    return row < this.inverse.length ? this.inverse[row] : -1;
  }
}
