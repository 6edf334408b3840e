// Draws the points without WebGL: it blends small discs into the pixels of a 2D canvas.

/** Offsets and coverage of the pixels of a disc. */
function stamp(diameter, stride) {
  const reach = Math.ceil(diameter / 2);
  const pixels = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const coverage = Math.min(1, Math.max(0, diameter / 2 - Math.hypot(dx, dy)));
      if (coverage > 0.05) pixels.push({ offset: (dy * stride + dx) * 4, coverage });
    }
  }
  return { reach, pixels };
}

export class CanvasRenderer {
  kind = "canvas";

  constructor(canvas, points) {
    this.canvas = canvas;
    this.points = points;
    this.context = canvas.getContext("2d");
    this.lists = new Map();
  }

  setColours(rgba) {
    this.rgba = rgba;
  }

  setList(name, points) {
    this.lists.set(name, points);
  }

  draw(camera, { count, size, opacity, ratio, lists }) {
    const { width, height } = this.canvas;
    const image = this.context.createImageData(width, height);
    this.#blend(image, camera, ratio, { count, size, opacity, paint: null, order: null });
    for (const { name, ...style } of lists) {
      const order = this.lists.get(name);
      if (order?.length) this.#blend(image, camera, ratio, { ...style, order, count: order.length });
    }
    this.context.putImageData(image, 0, 0);
  }

  #blend(image, camera, ratio, { count, size, opacity, paint, order }) {
    const { data, width, height } = image;
    const { x, y, label } = this.points;
    const { reach, pixels } = stamp(size * ratio, width);
    const scale = (camera.scale * ratio) / 65535;
    const [left, top] = [(width / 2) - camera.x * 65535 * scale, height / 2 + camera.y * 65535 * scale];
    for (let i = 0; i < count; i++) {
      const point = order ? order[i] : i;
      const sx = Math.round(left + x[point] * scale);
      const sy = Math.round(top - y[point] * scale);
      if (sx < reach || sy < reach || sx >= width - reach || sy >= height - reach) continue;
      const at = 4 * label[point];
      const [r, g, b] = paint ?? [this.rgba[at], this.rgba[at + 1], this.rgba[at + 2]];
      // Lists are in front, whatever the emphasis of their cluster.
      const strength = order ? opacity : (opacity * this.rgba[at + 3]) / 255;
      const centre = (sy * width + sx) * 4;
      for (const { offset, coverage } of pixels) blendPixel(data, centre + offset, r, g, b, strength * coverage);
    }
  }
}

function blendPixel(data, at, r, g, b, alpha) {
  const below = (data[at + 3] / 255) * (1 - alpha);
  const total = alpha + below;
  if (total <= 0) return;
  data[at] = (r * alpha + data[at] * below) / total;
  data[at + 1] = (g * alpha + data[at + 1] * below) / total;
  data[at + 2] = (b * alpha + data[at + 2] * below) / total;
  data[at + 3] = total * 255;
}
