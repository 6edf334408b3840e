"""Tools of the documentation site: the check of links, and the list of versions."""

import json
import runpy
import tomllib
from pathlib import Path

import pytest

from boostkmeans._runtime.version import VERSION
from check_links import broken_links, main
from publish_docs import publish, version_of
from release_notes import release_notes

ROOT = Path(__file__).parents[2]


def make_site(folder: Path, version: str, **pages: str) -> Path:
    """Write a site as Sphinx does, with these pages."""
    (folder / "_static").mkdir(parents=True)
    options = f"const DOCUMENTATION_OPTIONS = {{\n    VERSION: '{version}',\n}};\n"
    (folder / "_static" / "documentation_options.js").write_text(options)
    for name, body in {"index": "", **pages}.items():
        (folder / f"{name}.html").write_text(f"<!doctype html><body>{body}</body>")
    return folder


def test_broken_links_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = make_site(
        tmp_path / "site",
        "1.0",
        index='<h1 id="top">A</h1><a href="other.html#a%20b">1</a><a href="#top">2</a>'
        '<a href="https://example.org/x#y">3</a><script src="../versions.js"></script>',
        other='<a name="a b"></a><a href="index.html#bottom">4</a><img src="_static/no.png">'
        '<a href="gone.html">5</a>',
    )
    assert [(str(page), link, problem) for page, link, problem in broken_links(site)] == [
        ("other.html", "index.html#bottom", "no such anchor"),
        ("other.html", "_static/no.png", "no such file"),
        ("other.html", "gone.html", "no such file"),
    ]
    assert main(site) == 1
    assert "3 broken links in 2 pages" in capsys.readouterr().out
    (site / "other.html").write_text('<a name="a b"></a>')
    assert main(site) == 0
    assert main(tmp_path) == 1, "a folder without a site"


def test_versions_are_listed_with_their_pages(tmp_path: Path) -> None:
    target = tmp_path / "site"
    for version in ("0.9.0", "0.10.0", "0.11.0rc1"):
        pages = {} if version == "0.9.0" else {"explorer": ""}
        built = make_site(tmp_path / version, version, **pages)
        assert str(publish(built, target)) == version
    (target / "0.9.0" / "stale.html").write_text("")
    publish(tmp_path / "0.9.0", target)  # replaces the version
    text = (target / "versions.js").read_text()
    versions = json.loads(text.removeprefix("window.BOOSTKMEANS_VERSIONS = ").rstrip(";\n"))
    assert [(one["folder"], one["label"], one["pages"]) for one in versions] == [
        ("0.11.0rc1", "0.11.0rc1", ["explorer", "index"]),
        ("0.10.0", "0.10.0 (newest)", ["explorer", "index"]),
        ("0.9.0", "0.9.0", ["index"]),
    ]
    assert 'url=0.10.0/index.html"' in (target / "index.html").read_text()


def test_folder_that_is_not_a_site_is_refused(tmp_path: Path) -> None:
    site = make_site(tmp_path, "1.0")
    (site / "_static" / "documentation_options.js").write_text("")
    with pytest.raises(ValueError, match="names no version"):
        version_of(site)


def test_links_of_project_pages_work_on_the_site() -> None:
    pytest.importorskip("sphinx")
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    adapt, docs = conf["link_from_docs"], ROOT / "docs"
    text = "[a](docs/explorer.md#limits) [b](CHANGELOG.md) [c](https://a.org/) [d](LICENSE) [e](#x)"
    assert adapt(text, ROOT, docs) == (
        "[a](explorer.md#limits) [b](changelog.md) [c](https://a.org/) [d](path:../LICENSE) [e](#x)"
    )
    text = "[a](../paper.md) [b](../../CONTRIBUTING.md#tests) [c](../images/peers.svg)"
    assert adapt(text, docs / "paper", docs / "paper") == (
        "[a](../paper.md) [b](../contributing.md#tests) [c](../images/peers.svg)"
    )
    for name, page in conf["PROJECT_PAGES"].items():
        assert (ROOT / name).exists()
        assert f"{{include}} ../{name}" in (docs / page).read_text()
    # The repository is linked as soon as pyproject.toml names it.
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("urls", {})
    assert conf["html_theme_options"].get("source_repository") == urls.get("Repository")


def test_release_notes_are_a_section_of_the_changelog() -> None:
    changelog = (
        "# Changelog\n\n## 0.10.0 - unreleased\n\nSee [Page](docs/page.md) and [Site](https://x.org).\n\n"
        "### Fixed\n\n- One.\n\n## 0.1.0 - 2026-01-01\n\nFirst.\n"
    )
    expected = "See Page and [Site](https://x.org).\n\n### Fixed\n\n- One.\n"
    assert release_notes(changelog, "0.10.0") == expected
    assert release_notes(changelog, "0.1.0") == "First.\n"
    with pytest.raises(ValueError, match=r"no section of version 0\.10"):
        release_notes(changelog, "0.10")


def test_release_notes_of_this_version() -> None:
    notes = release_notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), VERSION)
    assert notes.count("### Fixed") == 1
    assert "\n## " not in notes
