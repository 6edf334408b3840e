// What the page knows about single rows: content of some rows, and short texts and ids of all rows if they fit.
import { Lines } from "./lines.js";

const SAFE_IMAGE = /^data:image\/(jpeg|png);base64,[A-Za-z0-9+/=]+$/;

export class Rows {
  constructor({ rows, allTexts, allIds, points }) {
    this.content = rows;
    this.points = points;
    this.allTexts = allTexts === null ? null : new Lines(allTexts);
    this.allIds = allIds === null ? null : new Lines(allIds);
    this.place = new Map(rows.row.map((row, i) => [row, i]));
  }

  #value(key, row) {
    const i = this.place.get(row);
    return i === undefined ? null : (this.content[key]?.[i] ?? null);
  }

  has(row) {
    return this.place.has(row);
  }

  text(row) {
    const text = this.#value("text", row) ?? this.allTexts?.line(row);
    return text === undefined || text === "" ? null : text;
  }

  id(row) {
    return this.#value("id", row) || this.allIds?.line(row) || null;
  }

  values(row) {
    return this.#value("values", row);
  }

  distance(row) {
    return this.#value("distance", row);
  }

  /** The second-nearest cluster, or null. */
  second(row) {
    const second = this.#value("second", row);
    return second === null || second < 0 ? null : second;
  }

  margin(row) {
    return this.#value("margin", row);
  }

  /** The image as a data URI. Anything else than JPEG or PNG data is refused. */
  image(row) {
    const image = this.#value("image", row);
    return typeof image === "string" && SAFE_IMAGE.test(image) ? image : null;
  }

  cluster(row) {
    const label = this.#value("label", row);
    if (label !== null) return label;
    const point = this.points.ofRow(row);
    return point < 0 ? null : this.points.label[point];
  }
}
