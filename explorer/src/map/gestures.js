// Mouse, pen and touch on the map: drag, wheel, pinch, lasso, hover, click and double click.
import { extendPath } from "./lasso.js";

const CLICK_DISTANCE = 5; // pixels; a pointer that moved further was dragged

export class Gestures {
  /**
   * `handlers`: pan(dx, dy), zoom(factor, x, y), hover(place | null), click(place), deselect(),
   * lasso(path), lassoMoves(path | null), isLasso().
   */
  constructor(element, handlers) {
    Object.assign(this, { element, handlers, pointers: new Map(), path: null, moved: 0 });
    element.addEventListener("pointerdown", (event) => this.#down(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => this.#up(event));
    element.addEventListener("pointercancel", (event) => this.#up(event, true));
    element.addEventListener("pointerleave", () => handlers.hover(null));
    element.addEventListener("dblclick", () => handlers.deselect());
    element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  /** Forget a lasso that is being drawn. */
  cancel() {
    this.path = null;
    this.handlers.lassoMoves(null);
  }

  #place(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #down(event) {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    const place = this.#place(event);
    this.pointers.set(event.pointerId, place);
    if (this.pointers.size === 1) {
      this.moved = 0;
      this.path = event.shiftKey || this.handlers.isLasso() ? [place] : null;
    } else {
      this.cancel();
    }
  }

  #move(event) {
    const place = this.#place(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") this.handlers.hover(place);
      return;
    }
    const [dx, dy] = [place[0] - before[0], place[1] - before[1]];
    this.moved += Math.hypot(dx, dy);
    if (this.pointers.size === 2) this.#pinch(event.pointerId, place, [dx, dy]);
    else if (this.path) {
      extendPath(this.path, place);
      this.handlers.lassoMoves(this.path);
    } else if (this.moved >= CLICK_DISTANCE) {
      this.handlers.hover(null);
      this.handlers.pan(dx, dy);
    }
    this.pointers.set(event.pointerId, place);
  }

  #pinch(id, place, [dx, dy]) {
    const [other] = [...this.pointers].filter(([key]) => key !== id).map(([, value]) => value);
    const before = this.pointers.get(id);
    const gap = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
    this.handlers.pan(dx / 2, dy / 2);
    this.handlers.zoom(gap(place) / gap(before), (place[0] + other[0]) / 2, (place[1] + other[1]) / 2);
  }

  #up(event, cancelled = false) {
    if (!this.pointers.delete(event.pointerId)) return;
    const path = this.path;
    this.cancel();
    if (cancelled || this.pointers.size) return;
    if (this.moved < CLICK_DISTANCE) this.handlers.click(this.#place(event));
    else if (path) this.handlers.lasso(path);
  }

  #wheel(event) {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 240 : 1);
    // Pinching on a touchpad arrives as a wheel event with ctrlKey and small steps.
    const factor = Math.exp(-Math.max(-240, Math.min(240, pixels)) * (event.ctrlKey ? 0.01 : 0.0022));
    this.handlers.zoom(factor, ...this.#place(event));
  }
}
