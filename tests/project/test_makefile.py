"""The Makefile explains itself: `make help` lists every target that users and developers call."""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Makefile").read_text()


def test_every_target_has_an_explanation() -> None:
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)$", TEXT, flags=re.MULTILINE)
    assert phony is not None
    targets = set(phony[1].replace("\\", " ").split()) - {"help"}
    explained = set(re.findall(r"^([a-z-]+):.*## \S", TEXT, flags=re.MULTILINE))
    assert targets == explained
    shown = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert targets == set(re.findall(r"^  make ([a-z-]+) ", shown.stdout, flags=re.MULTILINE))


def test_pages_name_existing_targets() -> None:
    targets = set(re.findall(r"^([a-z-]+):", TEXT, flags=re.MULTILINE))
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for name in re.findall(r"`make ([a-z-]+)", page.read_text()):
            assert name in targets, f"{page.name}: make {name}"


def test_tools_of_the_sanitized_build_are_installed() -> None:
    """The group "test" has neither CMake nor Ninja: the build of the package brings its own."""
    assert re.search(r"^sanitize-python: \$\(VENV\)/\.coverage ", TEXT, flags=re.MULTILINE)
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    names = {re.split("[^a-z-]", one)[0] for one in groups["coverage"] if isinstance(one, str)}
    assert names >= {"cmake", "ninja"}
