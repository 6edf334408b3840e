"""The checked-in bundle: it belongs to the sources, and contains nothing of the machine that made it."""

import hashlib
import re
from pathlib import Path

import pytest

from browser_pages import BUNDLE

EXPLORER = Path(__file__).parents[2] / "explorer"
NAMES = {"LICENSES.txt", "page.css", "page.html.j2", "page.js"}


def sums(path: Path) -> dict[str, str]:
    """Return the hashes of a file in the format of sha256sum, by name."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_bundle_has_the_recorded_hashes() -> None:
    assert {path.name for path in BUNDLE.iterdir()} == {*NAMES, "SHA256SUMS"}
    assert sums(BUNDLE / "SHA256SUMS") == {name: hash_of(BUNDLE / name) for name in NAMES}


def test_bundle_was_made_from_the_current_sources() -> None:
    sources = [
        EXPLORER / "page.html.j2",
        *(path for path in (EXPLORER / "src").rglob("*") if path.is_file()),
    ]
    current = {path.relative_to(EXPLORER).as_posix(): hash_of(path) for path in sources}
    assert sums(EXPLORER / "SOURCES.sha256") == current, "Run `make page-bundle`"


def test_script_cannot_end_its_element_and_needs_no_eval() -> None:
    script = (BUNDLE / "page.js").read_text(encoding="ascii")
    assert not re.search(r"</script|<!--", script, re.IGNORECASE)
    assert not re.search(
        r"\beval\(|\bnew Function\b|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write", script
    )
    assert len(script) < 100_000


@pytest.mark.parametrize("name", ["package.json", "package-lock.json", ".npmrc", "build.js"])
def test_build_files_name_no_host_and_no_folder(name: str) -> None:
    text = (EXPLORER / name).read_text(encoding="utf-8")
    assert not re.search(r'"resolved"|registry\s*=|/home/|/work/|/root/', text)
    assert set(re.findall(r"https?://[^\s\"]+", text)) <= {"https://opencollective.com/esbuild"}


def test_folders_and_files_of_the_sources_are_small() -> None:
    for folder in [EXPLORER / "src", *(path for path in (EXPLORER / "src").iterdir() if path.is_dir())]:
        files = [path for path in folder.iterdir() if path.is_file()]
        assert len(files) <= 15
        assert [
            path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 300
        ] == []
