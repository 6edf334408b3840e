// Numbers and counts for people.

export const count = (n) => n.toLocaleString("en");

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** Three significant digits, without exponents in the usual range. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0"; // -0 would become "-0"
  if (size < 1e-4 || size >= 1e6) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: size >= 1000 ? 6 : size < 1e-3 ? 2 : 3, maximumFractionDigits: 6 });
}

export function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(100 * share).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
}
