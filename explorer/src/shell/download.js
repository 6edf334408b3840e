// Saves text as a file, without a server.
import { h } from "./dom.js";

const REVOKE_AFTER = 60000; // milliseconds; some browsers read the file long after the click

/** `parts` are strings. */
export function saveFile(name, parts) {
  const url = URL.createObjectURL(new Blob([...parts], { type: "text/csv;charset=utf-8" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER);
}
