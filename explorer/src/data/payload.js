// Reads and checks the JSON document that Python put into the page.
import { PageError, unpack } from "./decode.js";
import { Points } from "./points.js";

const FORMAT = 1;

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new PageError("The data of this page are damaged: they are not valid JSON.");
  }
}

function check(condition, message) {
  if (!condition) throw new PageError(message);
}

async function readPoints(payload) {
  const names = ["x", "y", "label", "distance", ...(payload.points.row ? ["row"] : [])];
  const arrays = await Promise.all(names.map((name) => unpack(payload.points[name], `points.${name}`)));
  check(arrays.every((array) => array.length === arrays[0].length), "The arrays of the points differ in length.");
  const points = Object.fromEntries(names.map((name, i) => [name, arrays[i]]));
  const k = payload.clusters.length;
  check(points.label.every((label) => label < k), "A point has a label without a cluster.");
  return new Points(points, k);
}

async function readLines(packed, name) {
  return packed ? new TextDecoder().decode(await unpack(packed, name)) : null;
}

/** Return the checked payload with decoded `points`, and texts and ids of all rows (or null) in `allTexts`, `allIds`. */
export async function readPayload(text) {
  const payload = parse(text);
  check(payload && typeof payload === "object", "The data of this page are damaged: they are not an object.");
  check(
    payload.format === FORMAT,
    `The data of this page have the format ${String(payload.format)}, but the page reads format ${FORMAT}. Create it again.`,
  );
  check(Array.isArray(payload.clusters) && payload.points && payload.rows, "The data of this page are incomplete.");
  const points = await readPoints(payload);
  const allTexts = await readLines(payload.search?.text, "search.text");
  const allIds = await readLines(payload.search?.id, "search.id");
  return { ...payload, points, allTexts, allIds };
}
