"""The list of versions in the sidebar of the documentation, on a published site."""

from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import pytest

from publish_docs import publish

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ("browser_fixtures",)
pytestmark = pytest.mark.process

DOCS = Path(__file__).parents[2] / "docs"


def build(folder: Path, version: str, pages: list[str]) -> Path:
    """Write a site whose pages have the sidebar of the documentation."""
    (folder / "_static").mkdir(parents=True)
    (folder / "_static" / "documentation_options.js").write_text(f"VERSION: '{version}'")
    script = (DOCS / "_static" / "version_switcher.js").read_text()
    (folder / "_static" / "version_switcher.js").write_text(script)
    template = jinja2.Template((DOCS / "_templates" / "versions.html").read_text())
    for name in pages:
        root = "../" * name.count("/") or "./"
        path = folder / f"{name}.html"
        path.parent.mkdir(exist_ok=True)
        sidebar = template.render(release=version, pagename=name, content_root=root)
        path.write_text(f"<!doctype html><title>{version} {name}</title><body>{sidebar}</body>")
    return folder


def test_readers_switch_between_versions(browser: "Browser", tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(build(tmp_path / "old", "0.9.0", ["index", "paper/search"]), site)
    publish(build(tmp_path / "new", "0.10.0", ["index", "paper/search", "explorer"]), site)
    page = browser.new_page()
    page.goto((site / "0.10.0" / "paper" / "search.html").as_uri())
    versions = page.get_by_label("Version")
    assert versions.locator("option").all_inner_texts() == ["0.10.0 (newest)", "0.9.0"]
    assert versions.input_value() == "0.10.0"
    versions.select_option("0.9.0")
    page.wait_for_url("**/0.9.0/paper/search.html")
    assert page.title() == "0.9.0 paper/search"
    page.goto((site / "0.10.0" / "explorer.html").as_uri())
    page.get_by_label("Version").select_option("0.9.0")
    page.wait_for_url("**/0.9.0/index.html")  # this version has no such page
    page.goto((tmp_path / "new" / "index.html").as_uri())
    assert not page.locator("#versions").is_visible(), "a site that is not published has no list"
    page.close()
