// The view of the map: which part of the unit square is visible. Lengths on the screen are CSS pixels.

export const FULL = 65535; // coordinates of points are 0..65535
const MARGIN = 0.08; // free space around the points, as a share of the view
const MAX_ZOOM = 400;

export class Camera {
  constructor() {
    Object.assign(this, { width: 1, height: 1, x: 0.5, y: 0.5, zoom: 1 });
  }

  /** Pixels per unit. */
  get scale() {
    return this.zoom * Math.min(this.width, this.height) * (1 - 2 * MARGIN);
  }

  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  toScreen(x, y) {
    return [(x / FULL - this.x) * this.scale + this.width / 2, this.height / 2 - (y / FULL - this.y) * this.scale];
  }

  /** Coordinates (0..65535) of a place on the screen. */
  toData(sx, sy) {
    return [
      ((sx - this.width / 2) / this.scale + this.x) * FULL,
      ((this.height / 2 - sy) / this.scale + this.y) * FULL,
    ];
  }

  get state() {
    return { x: this.x, y: this.y, zoom: this.zoom };
  }

  set state({ x, y, zoom }) {
    this.zoom = Math.min(MAX_ZOOM, Math.max(0.5, zoom));
    this.x = Math.min(1, Math.max(0, x));
    this.y = Math.min(1, Math.max(0, y));
  }

  pan(dx, dy) {
    this.state = { x: this.x - dx / this.scale, y: this.y + dy / this.scale, zoom: this.zoom };
  }

  /** Zoom by a factor; the place under (sx, sy) stays where it is. */
  zoomAt(factor, sx = this.width / 2, sy = this.height / 2) {
    const [x, y] = this.toData(sx, sy);
    this.state = { ...this.state, zoom: this.zoom * factor };
    const [movedX, movedY] = this.toScreen(x, y);
    this.pan(sx - movedX, sy - movedY);
  }

  /** The state that shows a box of coordinates (0..65535). */
  framing([left, bottom, right, top]) {
    const extent = Math.max((right - left) / FULL / this.width, (top - bottom) / FULL / this.height, 1e-6);
    const zoom = ((1 - 2 * MARGIN) / extent / this.scale) * this.zoom;
    return { x: (left + right) / 2 / FULL, y: (bottom + top) / 2 / FULL, zoom: Math.min(zoom, 60) };
  }
}
