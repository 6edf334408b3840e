// Bundles the page into src/boostkmeans/explore/_page: one script, one style sheet, the template, licences, hashes.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "src", "boostkmeans", "explore", "_page");

function filesIn(folder) {
  return readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
}

/** Lines as `sha256sum` prints them. */
function sums(paths, root) {
  return paths
    .map((path) => `${createHash("sha256").update(readFileSync(path)).digest("hex")}  ${relative(root, path).split(sep).join("/")}\n`)
    .join("");
}

/** Folders of the npm packages whose files are in the bundle. */
function bundledPackages(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const names = inputs.map((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean);
  return [...new Set(names)].sort().map((name) => join(here, "node_modules", name));
}

function licence(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE"].map((each) => join(folder, each)).find(existsSync);
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version}\n\n${readFileSync(file, "utf8").trim()}\n`;
}

const options = { absWorkingDir: here, bundle: true, minify: true, metafile: true, legalComments: "none", charset: "ascii", write: false };
const script = await build({ ...options, entryPoints: ["src/main.js"], format: "iife", target: ["es2022"] });
const style = await build({ ...options, entryPoints: ["src/styles/page.css"], target: ["chrome103", "firefox113", "safari16.4"] });
const packages = bundledPackages([script.metafile, style.metafile]);
const none = "page.js and page.css contain no third-party packages. The licence of boostkmeans applies.\n";

mkdirSync(target, { recursive: true });
writeFileSync(join(target, "page.js"), script.outputFiles[0].contents);
writeFileSync(join(target, "page.css"), style.outputFiles[0].contents);
writeFileSync(join(target, "page.html.j2"), readFileSync(join(here, "page.html.j2")));
writeFileSync(join(target, "LICENSES.txt"), packages.length ? packages.map(licence).join(`\n${"-".repeat(80)}\n\n`) : none);
const made = ["LICENSES.txt", "page.css", "page.html.j2", "page.js"].map((name) => join(target, name));
writeFileSync(join(target, "SHA256SUMS"), sums(made, target));
writeFileSync(join(here, "SOURCES.sha256"), sums([join(here, "page.html.j2"), ...filesIn(join(here, "src"))], here));
for (const path of made) console.log(`${relative(join(here, ".."), path)}: ${statSync(path).size} bytes`);
