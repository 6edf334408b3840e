// Keys of the map.

const STEP = 60; // pixels
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Act on a key; return whether the key has a meaning. */
export function mapKeys(event, map) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target !== map.stage) return false;
  if (event.key in ARROWS) {
    const [dx, dy] = ARROWS[event.key];
    const step = event.shiftKey ? 4 * STEP : STEP;
    map.panBy(dx * step, dy * step);
  } else if (event.key === "+" || event.key === "=") map.zoomBy(1.4);
  else if (event.key === "-" || event.key === "_") map.zoomBy(1 / 1.4);
  else if (event.key === "0" || event.key === "Home") map.fit();
  else if (event.key === "Enter") map.openAt([map.camera.width / 2, map.camera.height / 2]);
  else return false;
  return true;
}
