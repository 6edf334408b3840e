// Line icons, drawn as SVG paths on a 20 x 20 grid.
import { s } from "./dom.js";

const PATHS = {
  back: "M12 4.5 6.5 10l5.5 5.5",
  close: "M5 5l10 10M15 5 5 15",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  download: "M10 3.5v9M6 9l4 4 4-4M4 16.5h12",
  fit: "M4 8V4h4M16 8V4h-4M4 12v4h4M16 12v4h-4",
  frame: "M4 8V4h4M16 8V4h-4M4 12v4h4M16 12v4h-4M8 10h4M10 8v4",
  lasso: "M6.5 14.5C3.500 12.500 3 9 5 6.500S12 3 15 5s2.500 6-1 8-6 1-7.500 1.500c-1.500.5-1.500 2.500 0 2.500 1 0 1.500-1.200.5-2.500",
  minus: "M4.500 10h11",
  moon: "M16 11.500A6.500 6.500 0 1 1 8.500 4a5.200 5.200 0 0 0 7.500 7.500z",
  move: "M10 3v14M3 10h14M10 3 8 5M10 3l2 2M10 17l-2-2M10 17l2-2M3 10l2-2M3 10l2 2M17 10l-2-2M17 10l-2 2",
  plus: "M4.500 10h11M10 4.500v11",
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM12.700 12.700 16.500 16.500",
  select: "M4 6V4h2M9 4h2M14 4h2v2M16 9v2M16 14v2h-2M11 16H9M6 16H4v-2M4 11V9",
  sun: "M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1.100 1.100M14.600 14.600l1.100 1.100M4.300 15.700l1.100-1.100M14.600 5.400l1.100-1.100",
};

export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, s("path", { d: PATHS[name] }));
}
