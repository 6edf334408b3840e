"""The layers of the C++ core: includes point downwards, and folders and files stay small."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "src" / "core"
# Each folder may include the folders of the lines before its own, and itself.
LAYERS = [
    ["kernel"],
    ["support"],
    ["parallel"],
    ["rows"],
    ["partition"],
    ["scoring"],
    ["projection"],
    ["sections"],
    ["search"],
    ["sweep", "tree", "assign", "baselines", "criteria"],
    ["fit"],
    ["bindings"],
]
MAX_FILES = 18
MAX_LINES = 400

FOLDERS = [folder for layer in LAYERS for folder in layer]


def sources(folder: str) -> list[Path]:
    return sorted((CORE / folder).glob("*.[ch]pp"))


def includes(file: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', file.read_text(), flags=re.MULTILINE)


def test_all_folders_have_a_layer() -> None:
    assert sorted(path.name for path in CORE.iterdir()) == sorted(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_includes_point_to_lower_layers(folder: str) -> None:
    level = next(i for i, layer in enumerate(LAYERS) if folder in layer)
    allowed = {folder, *(name for layer in LAYERS[:level] for name in layer)}
    upward = [
        f"{file.relative_to(CORE)} includes {included}"
        for file in sources(folder)
        for included in includes(file)
        if included.split("/")[0] not in allowed
    ]
    assert not upward


@pytest.mark.parametrize("folder", FOLDERS)
def test_included_files_exist(folder: str) -> None:
    missing = [i for file in sources(folder) for i in includes(file) if not (CORE / i).is_file()]
    assert not missing


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_and_files_are_small(folder: str) -> None:
    files = sources(folder)
    assert 0 < len(files) <= MAX_FILES
    assert [file.name for file in files if len(file.read_text().splitlines()) > MAX_LINES] == []
