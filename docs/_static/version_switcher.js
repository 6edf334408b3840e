// Fills the list of versions in the sidebar. `versions.js` in the folder above this version sets
// BOOSTKMEANS_VERSIONS; tools/publish_docs.py writes it. Without it, the list stays hidden.
"use strict";

(function () {
  const versions = window.BOOSTKMEANS_VERSIONS;
  const box = document.getElementById("versions");
  if (!Array.isArray(versions) || box === null) {
    return;
  }
  const list = box.querySelector("select");
  for (const one of versions) {
    list.add(new Option(one.label, one.folder, false, one.folder === list.dataset.version));
  }
  list.addEventListener("change", () => {
    const chosen = versions.find((one) => one.folder === list.value);
    // A page that this version does not have leads to its first page.
    const page = chosen.pages.includes(list.dataset.page) ? list.dataset.page : "index";
    window.location.href = `${list.dataset.root}../${chosen.folder}/${page}.html`;
  });
  box.hidden = false;
})();
