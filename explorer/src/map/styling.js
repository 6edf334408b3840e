// Sizes, opacities and colours of points and names in the current state.
import { colours } from "./palette.js";

const DIMMED = 45; // alpha of clusters that are not in front

/** RGBA bytes of all clusters. The alpha says which clusters are in front. */
export function clusterColours({ theme, clustering, setColours, opened, selection, found, query }) {
  const palette = colours(theme);
  const rgba = new Uint8Array(clustering.setOfLeaf.length * 4);
  const dimmed = selection.length > 0 || (query.trim() !== "" && found.points.length > 0);
  clustering.setOfLeaf.forEach((set, leaf) => {
    const isForemost = opened === null ? !dimmed : set === opened;
    rgba.set([...palette[setColours[set]], isForemost ? 255 : DIMMED], 4 * leaf);
  });
  return rgba;
}

const clamp = (low, value, high) => Math.min(high, Math.max(low, value));

/** Many points are small and transparent, few are large. Zooming in makes them larger. */
export function pointStyle(n, zoom, { opened }, theme) {
  const size = clamp(1.7, 16 * n ** -0.16, 7) * clamp(1, zoom ** 0.33, 4);
  const opacity = clamp(0.3, 1.45 - 0.19 * Math.log10(Math.max(1, n)) + 0.12 * Math.log2(Math.max(1, zoom)), 0.85);
  const lists = [
    ...(opened === null ? [] : [{ name: "opened", size: size * 1.15, opacity: Math.min(1, opacity + 0.15), paint: null }]),
    { name: "selection", size: size * 1.25, opacity: Math.min(1, opacity + 0.25), paint: null },
    // Found points have an outline, because they are often few.
    { name: "found", size: size + 5, opacity: 0.9, paint: theme.textBytes },
    { name: "found", size: size + 2, opacity: 1, paint: null },
  ];
  return { size, opacity, lists };
}

/** Colours of the style sheet that the canvas needs. */
export function themeColours(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(name).trim();
  const hex = read("--map-text").replace("#", "");
  const textBytes = [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return { text: read("--map-text"), halo: read("--map-halo"), accent: read("--accent"), textBytes };
}
