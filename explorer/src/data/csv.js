// CSV files of labels. Spreadsheets execute cells that begin with =, +, - or @, so that these get a quote in front.

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export function cell(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (FORMULA.test(text.trimStart() || text) && !NUMBER.test(text)) text = `'${text}`;
  return /[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Yield parts of the file. `points` are in any order; the file is sorted by row. */
export function* labelsCsv(points, { allPoints, rows, clusters, clustering }) {
  const names = clusters.map((cluster) => cell(cluster.name));
  const sets = clustering.isCut ? clustering.sets.map((set) => cell(set.name)) : null;
  yield `row,id,cluster,name${sets ? ",set,set_name" : ""}\n`;
  const sorted = Uint32Array.from(points, (point) => allPoints.row[point]).sort();
  let part = [];
  for (const row of sorted) {
    const cluster = allPoints.label[allPoints.ofRow(row)];
    const set = sets ? `,${clustering.setOfLeaf[cluster]},${sets[clustering.setOfLeaf[cluster]]}` : "";
    part.push(`${row},${cell(rows.id(row))},${cluster},${names[cluster]}${set}\n`);
    if (part.length === 20000) {
      yield part.join("");
      part = [];
    }
  }
  yield part.join("");
}
