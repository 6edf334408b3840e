"""The first-contribution guide: its changes still fit the files that they change."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "first_contribution.md"
CHANGES = re.findall(r"```diff\n\+\+\+ (\S+)\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)


def test_guide_has_all_examples() -> None:
    assert len(CHANGES) >= 10
    paths = " ".join(path for path, _ in CHANGES)
    for folder in ("io/", "baselines/", "select/", "tests/"):
        assert folder in paths


@pytest.mark.parametrize(("path", "change"), CHANGES, ids=[path for path, _ in CHANGES])
def test_changed_lines_exist(path: str, change: str) -> None:
    lines = (ROOT / path).read_text().splitlines()
    for line in change.splitlines():
        if line.startswith((" ", "-")):
            assert line[1:] in lines, f"{path} has no line {line[1:]!r}: update the guide"
    added = [line[1:] for line in change.splitlines() if line.startswith("+")]
    assert set(added) - set(lines), f"{path} already has this change: choose another example"
