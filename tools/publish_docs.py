"""Add a built site to a folder with the sites of several versions, among which readers can switch.

`python tools/publish_docs.py SITE` copies `build/docs/html` to `SITE/VERSION`, and writes the list of
all versions (`versions.js`) and a page that leads to the newest release (`index.html`). SITE can then
be served by any web server, or opened as files.
"""

import argparse
import json
import re
import shutil
from pathlib import Path

from packaging.version import InvalidVersion, Version

BUILT = Path(__file__).parents[1] / "build" / "docs" / "html"
# Sphinx writes the version of a site into this script.
OPTIONS = Path("_static") / "documentation_options.js"
REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>boostkmeans</title>
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<a href="{folder}/index.html">boostkmeans {folder}</a>
</html>
"""


def version_of(site: Path) -> Version:
    """Return the version of a built site."""
    found = re.search(r"VERSION: '([^']+)'", (site / OPTIONS).read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{site / OPTIONS} names no version: it is not a site that Sphinx built.")
    return Version(found[1])


def versions_in(folder: Path) -> list[Version]:
    """Return the versions in a folder, the newest one first. Other folders are ignored."""
    found = []
    for one in folder.iterdir():
        try:
            version = Version(one.name)
        except InvalidVersion:
            continue
        if (one / "index.html").is_file():
            found.append(version)
    return sorted(found, reverse=True)


def publish(built: Path, folder: Path) -> Version:
    """Copy a built site into the folder, and list all versions. Return the version of the site."""
    version = version_of(built)
    folder.mkdir(parents=True, exist_ok=True)
    target, incomplete = folder / str(version), folder / f"{version}.incomplete"
    shutil.rmtree(incomplete, ignore_errors=True)
    shutil.copytree(built, incomplete)
    shutil.rmtree(target, ignore_errors=True)
    incomplete.rename(target)
    write_list(folder)
    return version


def write_list(folder: Path) -> None:
    """Write the list of versions, and the page that leads to the newest release."""
    versions = versions_in(folder)
    newest = next((one for one in versions if not one.is_prerelease), versions[0])
    entries = [
        {
            "folder": str(version),
            "label": f"{version} (newest)" if version == newest else str(version),
            "pages": pages_of(folder / str(version)),
        }
        for version in versions
    ]
    text = f"window.BOOSTKMEANS_VERSIONS = {json.dumps(entries)};\n"
    (folder / "versions.js").write_text(text, encoding="utf-8")
    (folder / "index.html").write_text(REDIRECT.format(folder=newest), encoding="utf-8")


def pages_of(site: Path) -> list[str]:
    """Return the names of all pages, as Sphinx names them."""
    return sorted(one.relative_to(site).with_suffix("").as_posix() for one in site.rglob("*.html"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="SITE", help="Folder with one site per version.")
    parser.add_argument("--built", type=Path, default=BUILT, help="Site to add.")
    arguments = parser.parse_args()
    added = publish(arguments.built, arguments.folder)
    print(f"Version {added} is in {arguments.folder / str(added)}.")
    print(f"Open {arguments.folder / 'index.html'}")
