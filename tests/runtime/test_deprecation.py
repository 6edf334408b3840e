"""Deprecated names and parameters: they warn, they still work, and they are removed on time."""

from pathlib import Path

import pytest

import boostkmeans
from boostkmeans._runtime.deprecation import (
    DEPRECATIONS,
    Deprecation,
    deprecated_name,
    renamed_parameter,
)

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
MESSAGE = r"old is deprecated since version 0\.8 and will be removed in 0\.10\. Use new instead\."
RENAMED = Deprecation("old", "new", since="0.8")


def new(value: int, *, scale: int = 1) -> int:
    """Multiply."""
    return value * scale


def test_deprecated_name_warns_and_calls_the_replacement() -> None:
    old = deprecated_name(RENAMED, new)
    with pytest.warns(FutureWarning, match=MESSAGE) as caught:
        assert old(2, scale=3) == 6
    assert caught[0].filename == __file__  # the warning points to the caller
    assert old.__doc__ == new.__doc__


def test_renamed_parameter_is_accepted_with_a_warning() -> None:
    function = renamed_parameter(RENAMED, "factor", "scale")(new)
    assert function(2, scale=3) == 6
    with pytest.warns(FutureWarning, match=MESSAGE) as caught:
        assert function(2, factor=3) == 6  # type: ignore[call-arg]
    assert caught[0].filename == __file__


def test_old_and_new_parameter_together_are_rejected() -> None:
    function = renamed_parameter(RENAMED, "factor", "scale")(new)
    with pytest.raises(TypeError, match="both 'scale' and its old name 'factor'"):
        function(2, factor=3, scale=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("version", "due"), [("0.8.0", False), ("0.9.7", False), ("0.10.0", True), ("1.0.0", True)]
)
def test_removal_is_due_two_minor_releases_later(version: str, due: bool) -> None:
    assert RENAMED.is_due(version) == due


def test_no_deprecation_is_overdue() -> None:
    due = [item.old for item in DEPRECATIONS if item.is_due(boostkmeans.__version__)]
    assert not due, f"remove these names, and their entries in DEPRECATIONS: {due}"


def test_deprecations_are_in_the_changelog() -> None:
    changelog = CHANGELOG.read_text()
    assert all(item.old in changelog for item in DEPRECATIONS)
