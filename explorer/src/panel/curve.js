// The convergence curve: distortion over seconds, with a mark per step.
import { h, s } from "../shell/dom.js";
import { number, plural } from "../shell/format.js";

const WIDTH = 460;
const HEIGHT = 240;
const FRAME = { left: 62, right: 12, top: 14, bottom: 38 };
const MAX_MARKS = 400;
const MAX_ROWS = 200;
const SHAPES = ["circle", "square", "diamond", "triangle"];

/** Round numbers between low and high, about `wanted` of them. */
export function ticks(low, high, wanted = 4) {
  const step0 = (high - low || Math.abs(high) || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(step0));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= step0);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step || 0); // || turns -0 into 0
  return found;
}

function shape(kind, x, y, attributes) {
  const r = 3.4;
  if (kind === "circle") return s("circle", { cx: x, cy: y, r, ...attributes });
  const corners = {
    square: [[-r, -r], [r, -r], [r, r], [-r, r]],
    diamond: [[0, -1.3 * r], [1.3 * r, 0], [0, 1.3 * r], [-1.3 * r, 0]],
    triangle: [[0, -1.2 * r], [1.1 * r, r], [-1.1 * r, r]],
  }[kind];
  return s("polygon", { points: corners.map(([dx, dy]) => `${x + dx},${y + dy}`).join(" "), ...attributes });
}

function axes(scaleX, scaleY, xTicks, yTicks) {
  const bottom = HEIGHT - FRAME.bottom;
  return [
    ...yTicks.flatMap((value) => [
      s("line", { class: "rule", x1: FRAME.left, x2: WIDTH - FRAME.right, y1: scaleY(value), y2: scaleY(value) }),
      s("text", { class: "tick", x: FRAME.left - 8, y: scaleY(value) + 4, "text-anchor": "end" }, number(value)),
    ]),
    ...xTicks.map((value) => s("text", { class: "tick", x: scaleX(value), y: bottom + 16, "text-anchor": "middle" }, number(value))),
    s("text", { class: "tick", x: (FRAME.left + WIDTH - FRAME.right) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "Seconds"),
  ];
}

function legend(kinds) {
  const items = kinds.map((kind, i) =>
    h("li", {}, s("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, shape(SHAPES[i % 4], 6, 6, { class: `mark mark-${i % 4}` })), kind),
  );
  return h("ul", { class: "legend" }, items);
}

function valueTable({ seconds, distortion, kind }) {
  const step = Math.max(1, Math.ceil(seconds.length / MAX_ROWS));
  const chosen = seconds.map((_, i) => i).filter((i) => i % step === 0 || i === seconds.length - 1);
  const rows = chosen.map((i) => h("tr", {}, h("td", {}, number(seconds[i])), h("td", {}, number(distortion[i])), h("td", {}, kind?.[i] ?? "")));
  const head = h("thead", {}, h("tr", {}, ["Seconds", "Distortion", "Step"].map((title) => h("th", { scope: "col" }, title))));
  return h("details", {}, h("summary", {}, "Values"), h("table", { class: "plain" }, head, h("tbody", {}, rows)));
}

export function curve(history) {
  const { seconds, distortion, kind } = history;
  const kinds = [...new Set(kind ?? [])];
  const low = Math.min(...distortion);
  const high = Math.max(...distortion);
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  const yTicks = ticks(low - margin, high + margin);
  const end = Math.max(...seconds) || 1;
  const scaleX = (value) => FRAME.left + (value / end) * (WIDTH - FRAME.left - FRAME.right);
  const scaleY = (value) =>
    FRAME.top + ((high + margin - value) / (high - low + 2 * margin)) * (HEIGHT - FRAME.top - FRAME.bottom);
  const line = seconds.map((value, i) => `${scaleX(value).toFixed(1)},${scaleY(distortion[i]).toFixed(1)}`).join(" ");
  const step = Math.max(1, Math.ceil(seconds.length / MAX_MARKS));
  const marks = seconds.flatMap((value, i) => {
    if (i % step && i !== seconds.length - 1) return [];
    const which = Math.max(0, kinds.indexOf(kind?.[i])) % 4;
    return [shape(SHAPES[which], scaleX(value), scaleY(distortion[i]), { class: `mark mark-${which}` })];
  });
  const label = `Distortion over time: from ${number(distortion[0])} to ${number(distortion.at(-1))} in ${number(end)} seconds and ${plural(seconds.length, "step")}.`;
  return h(
    "figure",
    { class: "curve" },
    s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, axes(scaleX, scaleY, ticks(0, end), yTicks), s("polyline", { class: "line", points: line }), marks),
    kinds.length > 0 ? legend(kinds) : null,
    valueTable(history),
  );
}
