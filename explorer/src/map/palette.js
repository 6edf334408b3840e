// Colours of clusters that people with colour-blindness can tell apart (after Okabe and Ito), in three lightnesses.

const HUES = [
  [0, 114, 178], // blue
  [230, 143, 0], // orange
  [0, 150, 110], // green
  [204, 105, 160], // purple
  [86, 175, 228], // sky
  [213, 84, 20], // vermilion
  [190, 170, 40], // yellow, darkened for white paper
  [120, 120, 135], // grey
];
const BLACK = [10, 14, 24];
const WHITE = [255, 255, 255];

const mix = (from, to, share) => from.map((value, i) => Math.round(value + (to[i] - value) * share));

function shades(dark) {
  const base = dark ? HUES.map((hue) => mix(hue, WHITE, 0.16)) : HUES;
  const variants = [0, dark ? 0.42 : 0.34, dark ? 0.3 : 0.36];
  return variants.flatMap((share, i) => base.map((hue) => mix(hue, i === 2 ? BLACK : WHITE, share)));
}

export const N_COLOURS = HUES.length * 3;
const PALETTES = { light: shades(false), dark: shades(true) };

export const colours = (theme) => PALETTES[theme];
export const cssColour = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

// Weighted distance of two colours in RGB ("redmean"), good enough to keep neighbours apart.
function difference(a, b) {
  const red = (a[0] + b[0]) / 2;
  const [dr, dg, db] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  return Math.sqrt((2 + red / 256) * dr * dr + 4 * dg * dg + (2 + (255 - red) / 256) * db * db);
}

const DIFFERENCES = PALETTES.light.map((a) => PALETTES.light.map((b) => difference(a, b)));
const FAR = 250; // two colours with this difference are clearly different

/**
 * Choose a colour number for each set, so that neighbours differ and all colours are used about equally often.
 * `preferred` keeps the colour of a set while the tree is cut at other places.
 */
export function assignColours(sets, preferred = null) {
  const assigned = new Int16Array(sets.length).fill(-1);
  const used = new Array(N_COLOURS).fill(0);
  const neighbours = sets.map(() => []);
  sets.forEach((set, i) => {
    for (const other of set.neighbours ?? []) {
      if (other === i || other >= sets.length) continue;
      neighbours[i].push(other);
      neighbours[other].push(i);
    }
  });
  const bySize = sets.map((_, i) => i).sort((a, b) => sets[b].size - sets[a].size);
  for (const i of bySize) {
    let best = -Infinity;
    for (let colour = 0; colour < N_COLOURS; colour++) {
      let gap = FAR;
      for (const other of neighbours[i]) {
        if (assigned[other] >= 0) gap = Math.min(gap, DIFFERENCES[colour][assigned[other]]);
      }
      // Base hues first: lighter and darker ones only where neighbours need them, or for many clusters.
      const price = (used[colour] * 400) / Math.max(8, sets.length) + (colour >= HUES.length ? 35 : 0) + colour * 0.01;
      const bonus = preferred && preferred[i] === colour ? 90 : 0;
      if (gap - price * 4 + bonus > best) [best, assigned[i]] = [gap - price * 4 + bonus, colour];
    }
    used[assigned[i]]++;
  }
  return assigned;
}
