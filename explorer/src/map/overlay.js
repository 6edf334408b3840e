// Draws names, the lasso, the marked point and the crosshair above the points.
import { placeNames } from "./names.js";

const FONT = '600 12.5px Inter, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';

export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.widths = new Map();
  }

  #measure = (text) => {
    let width = this.widths.get(text);
    if (width === undefined) this.widths.set(text, (width = this.context.measureText(text).width));
    return width;
  };

  /** Draw everything; return the names that were placed. */
  draw(camera, { sets, opened, reserved, path, marked, crosshair, colours, ratio }) {
    const { context } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    context.font = FONT;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const names = placeNames(sets, camera, this.#measure, { first: opened, reserved });
    for (const name of names) this.#name(name, colours, opened && name.set !== opened);
    if (path) this.#path(path, colours);
    if (marked) this.#ring(camera.toScreen(...marked), colours);
    if (crosshair) this.#crosshair(camera, colours);
    return names;
  }

  #name({ text, x, y }, colours, dimmed) {
    const { context } = this;
    context.globalAlpha = dimmed ? 0.5 : 1;
    context.lineWidth = 4;
    context.strokeStyle = colours.halo;
    context.strokeText(text, x, y);
    context.fillStyle = colours.text;
    context.fillText(text, x, y);
    context.globalAlpha = 1;
  }

  #path(path, colours) {
    const { context } = this;
    context.beginPath();
    for (const [x, y] of path) context.lineTo(x, y);
    context.closePath();
    context.globalAlpha = 0.12;
    context.fillStyle = colours.accent;
    context.fill("evenodd");
    context.globalAlpha = 1;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.stroke();
  }

  #ring([x, y], colours) {
    const { context } = this;
    for (const [width, style] of [[5, colours.halo], [2, colours.text]]) {
      context.beginPath();
      context.arc(x, y, 7, 0, 2 * Math.PI);
      context.lineWidth = width;
      context.strokeStyle = style;
      context.stroke();
    }
  }

  #crosshair({ width, height }, colours) {
    const { context } = this;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(width / 2 + 5 * dx, height / 2 + 5 * dy);
      context.lineTo(width / 2 + 14 * dx, height / 2 + 14 * dy);
    }
    context.lineWidth = 1.5;
    context.strokeStyle = colours.text;
    context.stroke();
  }
}
