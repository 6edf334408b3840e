// A closed path drawn by hand, and the points inside it.

const MIN_STEP = 4; // pixels between two corners: fewer corners make the test of each point cheaper

/** Append a corner unless it is very close to the last one. */
export function extendPath(path, corner) {
  const last = path.at(-1);
  if (!last || Math.hypot(corner[0] - last[0], corner[1] - last[1]) >= MIN_STEP) path.push(corner);
}

function isInside(corners, x, y) {
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const [x1, y1] = corners[i];
    const [x2, y2] = corners[j];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

/** The points of the grid inside a path of screen coordinates. */
export function pointsInPath(path, camera, grid) {
  const corners = path.map(([sx, sy]) => camera.toData(sx, sy));
  if (corners.length < 3) return new Uint32Array(0);
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  const inBox = grid.within([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]);
  return inBox.filter((point) => isInside(corners, grid.x[point], grid.y[point]));
}
