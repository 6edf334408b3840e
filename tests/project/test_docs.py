"""The site, without building it: a place for every page and public name, links that lead somewhere."""

import fnmatch
import importlib
import inspect
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import boostkmeans
from command import succeed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = DOCS / "gallery"  # by sphinx-gallery
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if MADE not in page.parents]
MODULES = ("baselines", "documents", "interop", "io", "metrics", "select")


def entries(page: Path) -> list[str]:
    """What the lists of pages in a page name, options left out."""
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), flags=re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith(":")]


def names_of(page: Path) -> list[str]:
    """The entries that a page is listed by."""
    name = page.relative_to(DOCS).with_suffix("").as_posix()
    same_depth = [one for one in entries(DOCS / "index.md") if one.count("/") == name.count("/")]
    return [one for one in same_depth if fnmatch.fnmatchcase(name, one)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_one_place_on_the_site(page: Path) -> None:
    assert page.stem == "index" or len(names_of(page)) == 1, "add it to a toctree of docs/index.md"


def test_what_is_listed_is_there() -> None:
    made = {"gallery/index"}
    for name in entries(DOCS / "index.md"):
        if name not in made and "*" not in name:  # a place for what may come
            assert list(DOCS.glob(f"{name}.*")), name


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def test_every_public_name_is_in_the_reference() -> None:
    text = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.rst"))
    documented = set(re.findall(r"^\.\. (?:auto|py:)\w+:: ([\w.]+)$", text, flags=re.MULTILINE))
    wanted = {name for name in boostkmeans.__all__ if name not in MODULES}
    for name in MODULES:
        module = importlib.import_module(f"boostkmeans.{name}")
        wanted |= {f"boostkmeans.{name}", *getattr(module, "__all__", own_names(module.__name__))}
    assert wanted <= documented, wanted - documented
    assert documented <= wanted, documented - wanted


def own_names(module: str) -> set[str]:
    """Public functions and classes of a module that does not list them."""
    members = inspect.getmembers(importlib.import_module(module), inspect.isroutine)
    members += inspect.getmembers(importlib.import_module(module), inspect.isclass)
    return {name for name, one in members if not name.startswith("_") and one.__module__ == module}


def test_the_commands_of_the_tutorial_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sift: NDArray[np.uint8]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    np.save("base.npy", sift[:9000])
    np.save("new.npy", sift[9000:])
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / "tutorial.md").read_text(), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("boostkmeans ")]
    assert len(lines) >= 5
    for line in lines:
        succeed(*shlex.split(line)[1:])
