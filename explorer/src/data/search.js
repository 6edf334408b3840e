// Search over names and terms of clusters, texts, values, ids and numbers of rows.
import { Lines } from "./lines.js";

/** The words of a query, in lower case. */
export function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

function containsAll(text, words) {
  const folded = text.toLowerCase();
  return words.every((word) => folded.includes(word));
}

export class Search {
  constructor(payload, rows) {
    this.payload = payload;
    this.rows = rows;
    const { row, text, id, values } = payload.rows;
    const oneLine = (i) => [rows.allTexts ? null : text?.[i], rows.allIds ? null : id?.[i], ...(values?.[i] ?? [])].filter(Boolean).join(" ");
    this.shown = new Lines(row.map((_, i) => oneLine(i).replace(/\n/g, " ")).join("\n"));
    this.hasContent = Boolean(text || id || values || rows.allTexts || rows.allIds);
  }

  /** One sentence that says which rows the search covers. */
  get coverage() {
    const total = this.payload.n_rows.toLocaleString("en");
    const shown = this.payload.rows.row.length.toLocaleString("en");
    const whole = [this.rows.allTexts && "the beginning of the texts", this.rows.allIds && "the ids"].filter(Boolean).join(" and ");
    if (whole) return `Searches names and terms of clusters, and ${whole} of all ${total} rows.`;
    if (!this.hasContent) return "Searches names and terms of clusters, and row numbers.";
    if (shown === total) return `Searches names and terms of clusters, and all ${total} rows.`;
    return `Searches names and terms of clusters, and the ${shown} of ${total} rows whose content this page contains.`;
  }

  /** Return numbers of sets and of rows that contain all words of the query. */
  find(query, sets) {
    const words = wordsOf(query);
    if (!words.length) return { sets: [], rows: [] };
    const names = sets.filter((set) =>
      containsAll([set.name, ...set.terms.slice(0, 10).map(([term]) => term)].join(" "), words),
    );
    const found = new Set(this.#rowNumber(words));
    if (this.hasContent) for (const i of this.shown.find(words)) found.add(this.payload.rows.row[i]);
    for (const lines of [this.rows.allTexts, this.rows.allIds]) {
      for (const row of lines?.find(words) ?? []) if (row < this.payload.n_rows) found.add(row);
    }
    return { sets: names, rows: [...found] };
  }

  #rowNumber(words) {
    const match = words.length === 1 && /^#?(\d+)$/.exec(words[0]);
    const row = match ? Number(match[1]) : -1;
    return row >= 0 && row < this.payload.n_rows ? [row] : [];
  }
}
