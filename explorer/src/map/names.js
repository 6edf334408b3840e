// Chooses which names fit on the map without overlapping: large sets first, more of them as one zooms in.

const PADDING = 6;
const LINE = 16;
const MAX_LENGTH = 30;
const SHIFTS = [0, -LINE, LINE]; // a name may be a line above or below its place, if it fits only there
const PIXELS_PER_NAME = 15000; // leaves the points visible between the names

export function shorten(name) {
  const characters = [...name.replace(/\s+/g, " ")];
  return characters.length <= MAX_LENGTH ? characters.join("") : `${characters.slice(0, MAX_LENGTH - 1).join("").trimEnd()}…`;
}

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * Return [{set, text, x, y}] of the names to draw. `measure(text)` is the width of a text in pixels, `first` is the
 * set whose name must be visible (or null), and no name covers the boxes in `reserved`.
 */
export function placeNames(sets, camera, measure, { first, reserved }) {
  const limit = Math.max(4, Math.floor((camera.width * camera.height) / PIXELS_PER_NAME));
  const placed = [];
  const boxes = [...reserved];
  for (const set of first ? [first, ...sets.filter((each) => each !== first)] : sets) {
    if (placed.length >= limit) break;
    if (!set.name || set.size === 0) continue;
    const [x, y] = camera.toScreen(set.x, set.y);
    if (x < 0 || y < 0 || x > camera.width || y > camera.height) continue;
    const text = shorten(set.name);
    const half = measure(text) / 2 + PADDING;
    // Keep the name inside the view, so that it can be read.
    const inside = Math.min(Math.max(x, half), Math.max(half, camera.width - half));
    const reach = (LINE + PADDING) / 2;
    for (const shift of SHIFTS) {
      const box = { left: inside - half, right: inside + half, top: y + shift - reach, bottom: y + shift + reach };
      if (boxes.some((other) => overlap(box, other))) continue;
      boxes.push(box);
      placed.push({ set, text, x: inside, y: y + shift });
      break;
    }
  }
  return placed;
}
