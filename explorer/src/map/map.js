// The map: points, names, gestures and keys. It follows the state of the explorer.
import { h } from "../shell/dom.js";
import { plural } from "../shell/format.js";
import { Camera } from "./camera.js";
import { CanvasRenderer } from "./canvas2d.js";
import { Detail } from "./detail.js";
import { Flight } from "./flight.js";
import { Gestures } from "./gestures.js";
import { mapKeys } from "./keys.js";
import { pointsInPath } from "./lasso.js";
import { Overlay } from "./overlay.js";
import { clusterColours, pointStyle, themeColours } from "./styling.js";
import { Tooltip } from "./tooltip.js";
import { WebglRenderer } from "./webgl.js";

const HOVER_RADIUS = 14; // pixels

export class PointMap {
  constructor(stage, explorer) {
    Object.assign(this, { stage, explorer, camera: new Camera(), path: null, lassoMode: false, keyboard: false });
    this.tooltip = new Tooltip(explorer);
    this.overlay = new Overlay(h("canvas", { class: "overlay" }));
    this.renderer = this.#makeRenderer();
    stage.append(this.renderer.canvas, this.overlay.canvas, this.tooltip.element);
    this.detail = new Detail(explorer.points.count, () => this.invalidate());
    this.flight = new Flight(this.camera, () => this.#moved());
    this.gestures = new Gestures(stage, this.#handlers());
    this.#listenToKeys();
    this.#followState();
    new ResizeObserver(() => this.#resize()).observe(stage);
    this.#resize();
    this.camera.state = this.#home;
  }

  /** The view of all points. */
  get #home() {
    return this.camera.framing(this.explorer.grid.bounds);
  }

  #makeRenderer() {
    const { points } = this.explorer;
    try {
      return new WebglRenderer(h("canvas", { class: "points" }), points, () => this.#useCanvas());
    } catch {
      return new CanvasRenderer(h("canvas", { class: "points" }), points);
    }
  }

  /** Continue without WebGL, after the browser took it away. */
  #useCanvas() {
    const fallback = new CanvasRenderer(h("canvas", { class: "points" }), this.explorer.points);
    this.renderer.canvas.replaceWith(fallback.canvas);
    this.renderer = fallback;
    this.#updateLists(this.explorer.state);
    this.#updateColours();
    this.#resize();
  }

  #followState() {
    const { store } = this.explorer;
    this.#updateColours();
    // A slider that is dragged changes the colours many times per second.
    store.on(["clustering"], () => this.detail.moved());
    store.on(["theme", "clustering", "opened", "selection", "found"], () => this.#updateColours());
    store.on(["opened", "clustering", "selection", "found"], (state) => this.#updateLists(state));
    store.on(["marked"], ({ marked }) => this.#showMarked(marked));
  }

  #updateColours() {
    const { state } = this.explorer;
    this.theme = themeColours(this.stage);
    this.setsBySize = [...state.clustering.sets].sort((a, b) => b.size - a.size);
    this.renderer.setColours(clusterColours(state));
    this.stage.dataset.renderer = this.renderer.kind;
    this.invalidate();
  }

  #updateLists({ selection, found }) {
    const set = this.explorer.openedSet;
    this.renderer.setList("opened", set ? this.explorer.pointsOfSet(set) : new Uint32Array(0));
    this.renderer.setList("selection", selection);
    this.renderer.setList("found", found.points);
    this.invalidate();
  }

  #showMarked(row) {
    const point = row === null ? -1 : this.explorer.points.ofRow(row);
    this.marked = point < 0 ? null : [this.explorer.points.x[point], this.explorer.points.y[point]];
    if (this.marked) {
      const [x, y] = this.camera.toScreen(...this.marked);
      const isVisible = x > 20 && y > 20 && x < this.camera.width - 20 && y < this.camera.height - 20;
      if (!isVisible) this.flight.to({ ...this.camera.state, x: this.marked[0] / 65535, y: this.marked[1] / 65535 });
    }
    this.invalidate({ points: false });
  }

  #resize() {
    const { width, height } = this.stage.getBoundingClientRect();
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.camera.resize(width, height);
    for (const canvas of [this.renderer.canvas, this.overlay.canvas]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.reserved = this.#boxesOfControls();
    this.invalidate();
  }

  #boxesOfControls() {
    const origin = this.stage.getBoundingClientRect();
    return [...this.stage.parentElement.querySelectorAll(".tool-group, .slider")].map((control) => {
      const { left, top, right, bottom } = control.getBoundingClientRect();
      return { left: left - origin.left, top: top - origin.top, right: right - origin.left, bottom: bottom - origin.top };
    });
  }

  /** Draw again in the next frame: everything, or only what is above the points. */
  invalidate({ points = true } = {}) {
    this.pointsChanged ||= points;
    if (this.frame) return;
    this.frame = requestAnimationFrame((time) => {
      this.frame = 0;
      this.#draw(time);
    });
  }

  #draw(time) {
    const { state, openedSet } = this.explorer;
    if (this.pointsChanged) {
      this.pointsChanged = false;
      const style = pointStyle(this.explorer.points.count, this.camera.zoom, state, this.theme);
      const count = this.detail.count(time);
      this.renderer.draw(this.camera, { ...style, count, ratio: this.ratio });
      this.stage.dataset.drawn = count;
    }
    const names = this.overlay.draw(this.camera, {
      sets: this.setsBySize,
      opened: openedSet,
      reserved: this.reserved,
      path: this.path,
      marked: this.marked,
      crosshair: this.keyboard,
      colours: this.theme,
      ratio: this.ratio,
    });
    this.stage.dataset.names = names.length;
  }

  #moved() {
    this.detail.moved();
    this.tooltip.hide();
    this.invalidate();
  }

  pointAt([x, y], radius = HOVER_RADIUS) {
    const [dataX, dataY] = this.camera.toData(x, y);
    return this.explorer.grid.nearest(dataX, dataY, (radius / this.camera.scale) * 65535);
  }

  #hover(place) {
    const point = place ? this.pointAt(place) : -1;
    this.stage.classList.toggle("is-over-point", point >= 0);
    if (point < 0) this.tooltip.hide();
    else this.tooltip.show(this.explorer.points.row[point], place, this.camera);
  }

  /** Open the cluster of the point at a place. */
  openAt(place) {
    const point = this.pointAt(place);
    if (point < 0) return;
    const { clustering } = this.explorer.state;
    this.explorer.open(clustering.setOfLeaf[this.explorer.points.label[point]]);
    this.explorer.mark(this.explorer.points.row[point]);
  }

  #handlers() {
    return {
      pan: (dx, dy) => this.panBy(dx, dy),
      zoom: (factor, x, y) => this.zoomBy(factor, x, y),
      hover: (place) => this.#hover(place),
      click: (place) => {
        this.openAt(place);
        this.#hover(place); // fingers do not hover
      },
      deselect: () => this.explorer.deselect(),
      isLasso: () => this.lassoMode,
      lassoMoves: (path) => {
        this.path = path;
        this.invalidate({ points: false });
      },
      lasso: (path) => this.explorer.select(pointsInPath(path, this.camera, this.explorer.grid)),
    };
  }

  panBy(dx, dy) {
    this.flight.stop();
    this.camera.pan(dx, dy);
    this.#moved();
  }

  zoomBy(factor, x, y) {
    this.flight.stop();
    this.camera.zoomAt(factor, x, y);
    this.#moved();
  }

  /** Show all points. */
  fit() {
    this.flight.to(this.#home);
  }

  /** Show some points, leaving out the few that are far away from the rest. */
  frameSet(set) {
    const points = this.explorer.pointsOfSet(set);
    if (!points.length) return;
    const range = (values) => {
      const sorted = Uint16Array.from(points, (point) => values[point]).sort();
      const at = (share) => sorted[Math.floor(share * (sorted.length - 1))];
      return [at(0.02), at(0.98)];
    };
    const [left, right] = range(this.explorer.points.x);
    const [bottom, top] = range(this.explorer.points.y);
    this.flight.to(this.camera.framing([left, bottom, right, top]));
  }

  /** Select the points in the visible part of the map. */
  selectVisible() {
    const { width, height } = this.camera;
    const [left, top] = this.camera.toData(0, 0);
    const [right, bottom] = this.camera.toData(width, height);
    this.explorer.select(this.explorer.grid.within([left, bottom, right, top]));
  }

  #listenToKeys() {
    this.stage.addEventListener("keydown", (event) => {
      if (mapKeys(event, this)) {
        event.preventDefault();
        this.#useKeyboard(true);
      }
    });
    this.stage.addEventListener("focus", () => this.#useKeyboard(this.stage.matches(":focus-visible")));
    for (const name of ["blur", "pointerdown"]) this.stage.addEventListener(name, () => this.#useKeyboard(false));
  }

  // With the keyboard, a crosshair in the middle replaces the pointer.
  #useKeyboard(used) {
    this.keyboard = used;
    this.invalidate({ points: false });
    if (used) requestAnimationFrame(() => this.keyboard && this.#hover([this.camera.width / 2, this.camera.height / 2]));
  }

  get description() {
    return `Map of ${plural(this.explorer.points.count, "row")}. Arrow keys move it, plus and minus zoom, 0 shows everything, Enter opens the cluster in the middle. The table lists the same clusters.`;
  }
}
