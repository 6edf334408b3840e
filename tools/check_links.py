"""Check the links of the built site: every file and every anchor must exist. No network is needed.

`python tools/check_links.py build/docs/html` lists broken links and returns 1 if there are any.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that hold addresses.
ADDRESSES = ("href", "src")
# The list of versions is above the folder of a version, and exists on published sites only.
OPTIONAL = "versions.js"


@dataclass
class Page(HTMLParser):
    """Links and anchors of a page."""

    path: Path
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the links and anchors of an element."""
        for name, value in attrs:
            if name in ADDRESSES and value:
                self.links.append(value)
            elif value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)


def broken_links(site: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield page, link and problem of each broken link within the site."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            problem = find_problem(path, link, pages)
            if problem:
                yield page.path.relative_to(site), link, problem


def find_problem(page: Path, link: str, pages: dict[Path, Page]) -> str:
    """Return what is wrong with a link, or "" if it is valid or leads to another site."""
    address = urlsplit(link)
    if address.scheme or address.netloc or address.path.endswith(OPTIONAL):
        return ""
    target = (page.parent / unquote(address.path)).resolve() if address.path else page
    if not target.is_file():
        return "no such file"
    # Fragments of other files, such as scripts, mean something else.
    anchor = unquote(address.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return ""


def main(site: Path) -> int:
    """Print the broken links of a site."""
    if not (site / "index.html").is_file():
        print(f"{site} is not a built site: run `make docs`")
        return 1
    broken = list(broken_links(site))
    for page, link, problem in broken:
        print(f"{page}: {link}: {problem}")
    print(f"{len(broken)} broken links in {len(list(site.rglob('*.html')))} pages")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
