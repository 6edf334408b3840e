// How the clusters were found: convergence, facts, the command, and what the page leaves out.
import { announce } from "../shell/announcer.js";
import { copyText } from "../shell/clipboard.js";
import { h } from "../shell/dom.js";
import { icon } from "../shell/icons.js";
import { curve } from "./curve.js";

function command(text) {
  const label = h("span", {}, "Copy");
  const copy = async () => {
    const copied = await copyText(text);
    label.textContent = copied ? "Copied" : "Not copied";
    announce(copied ? "Copied the command." : "The browser did not allow copying.");
    setTimeout(() => (label.textContent = "Copy"), 2000);
  };
  return h(
    "section",
    {},
    h("div", { class: "section-head" }, h("h3", {}, "Command"), h("button", { class: "button", type: "button", on: { click: copy } }, icon("copy"), label)),
    h("pre", { class: "command", tabindex: "0", "aria-label": "Command" }, h("code", {}, text)),
  );
}

export function fitView({ payload }) {
  const { history, history_note: note, facts, omitted } = payload;
  return [
    h("h2", {}, "Fit"),
    history?.seconds?.length > 0 && h("section", {}, h("h3", {}, "Distortion over time"), curve(history), note && h("p", { class: "note" }, note)),
    facts?.length > 0 &&
      h("section", {}, h("h3", {}, "Facts"), h("dl", { class: "facts" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
    payload.command && command(payload.command),
    omitted?.length > 0 &&
      h("section", {}, h("h3", {}, "Not in this page"), h("ul", { class: "plain-list" }, omitted.map((sentence) => h("li", {}, sentence)))),
  ];
}
