// Many lines in one string: finding text in one long string is much faster than in a million short ones.

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return Uint32Array.from(starts);
}

/** The last line that starts at or before `position`. */
function lineAt(starts, position) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

export class Lines {
  constructor(text) {
    this.text = text;
    this.starts = lineStarts(text);
    this.count = this.starts.length;
  }

  line(i) {
    if (i >= this.count) return undefined;
    const end = i + 1 < this.count ? this.starts[i + 1] - 1 : this.text.length;
    return this.text.slice(this.starts[i], end);
  }

  /** The numbers of the lines that contain all words (lower case). */
  find(words) {
    if (this.folded === undefined) {
      // Lower case may change the length of a text, but not its lines.
      this.folded = this.text.toLowerCase();
      this.foldedStarts = this.folded.length === this.text.length ? this.starts : lineStarts(this.folded);
    }
    const [longest, ...others] = [...words].sort((a, b) => b.length - a.length);
    const found = [];
    let at = this.folded.indexOf(longest);
    while (at >= 0) {
      const line = lineAt(this.foldedStarts, at);
      const next = line + 1 < this.count ? this.foldedStarts[line + 1] : this.folded.length + 1;
      const folded = others.length ? this.folded.slice(this.foldedStarts[line], next - 1) : "";
      if (others.every((word) => folded.includes(word))) found.push(line);
      at = this.folded.indexOf(longest, next);
    }
    return found;
  }
}
