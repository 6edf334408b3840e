// Tells screen readers what changed.
import { byId } from "./dom.js";

export function announce(text) {
  byId("status").textContent = text;
}
