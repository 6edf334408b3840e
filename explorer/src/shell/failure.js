// The message that replaces the page if it cannot be shown.
import { byId, h } from "./dom.js";

export function showFailure(message) {
  const box = h("div", { class: "failure", role: "alert" }, h("h1", {}, "This page cannot be shown"), h("p", {}, message));
  byId("app").replaceChildren(box);
  document.documentElement.dataset.state = "failed";
}
