// Points in a grid of cells, for fast queries of small regions. Building it takes two passes over the points.
import { FULL } from "./camera.js";

const POINTS_PER_CELL = 8;
const MAX_SIDE = 512;

export class Grid {
  constructor({ x, y, count }) {
    this.side = Math.max(1, Math.min(MAX_SIDE, Math.ceil(Math.sqrt(count / POINTS_PER_CELL))));
    this.x = x;
    this.y = y;
    const cells = new Uint32Array(count);
    this.start = new Uint32Array(this.side * this.side + 1);
    for (let i = 0; i < count; i++) {
      cells[i] = this.#cell(y[i]) * this.side + this.#cell(x[i]);
      this.start[cells[i] + 1]++;
    }
    for (let c = 1; c < this.start.length; c++) this.start[c] += this.start[c - 1];
    const next = this.start.slice();
    this.points = new Uint32Array(count);
    for (let i = 0; i < count; i++) this.points[next[cells[i]]++] = i;
  }

  /** The box of all points. */
  get bounds() {
    const box = [FULL, FULL, 0, 0];
    for (const point of this.points) {
      box[0] = Math.min(box[0], this.x[point]);
      box[1] = Math.min(box[1], this.y[point]);
      box[2] = Math.max(box[2], this.x[point]);
      box[3] = Math.max(box[3], this.y[point]);
    }
    return this.points.length ? box : [0, 0, FULL, FULL];
  }

  #cell(value) {
    return Math.min(this.side - 1, Math.max(0, Math.floor((value / (FULL + 1)) * this.side)));
  }

  /** Call `visit(point)` for all points in cells that touch a box. */
  visit([left, bottom, right, top], visit) {
    const [first, last] = [this.#cell(left), this.#cell(right)];
    for (let row = this.#cell(bottom); row <= this.#cell(top); row++) {
      const end = this.start[row * this.side + last + 1];
      for (let i = this.start[row * this.side + first]; i < end; i++) visit(this.points[i]);
    }
  }

  /** The point nearest to a place within a radius, or -1. */
  nearest(x, y, radius) {
    let best = radius * radius;
    let found = -1;
    this.visit([x - radius, y - radius, x + radius, y + radius], (point) => {
      const squared = (this.x[point] - x) ** 2 + (this.y[point] - y) ** 2;
      if (squared < best) [best, found] = [squared, point];
    });
    return found;
  }

  /** All points within a box. */
  within([left, bottom, right, top]) {
    const found = [];
    this.visit([left, bottom, right, top], (point) => {
      const [x, y] = [this.x[point], this.y[point]];
      if (x >= left && x <= right && y >= bottom && y <= top) found.push(point);
    });
    return Uint32Array.from(found);
  }
}
