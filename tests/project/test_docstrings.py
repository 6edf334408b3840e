"""Docstrings: public ones are complete, and the examples of all modules run."""

import doctest
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

import boostkmeans
import check_docstrings

PACKAGE = Path(boostkmeans.__file__).parent
# Optional packages that the examples of some modules need.
NEEDED = {"interop._from_faiss": "faiss", "interop._to_faiss": "faiss"}


def modules_with_examples() -> list[str]:
    """Return the modules whose text has a prompt, relative to the package; "" is the package itself."""
    files = [file for file in sorted(PACKAGE.rglob("*.py")) if ">>> " in file.read_text()]
    paths = [file.relative_to(PACKAGE).with_suffix("") for file in files]
    return [".".join(path.parts).removesuffix("__init__").removesuffix(".") for path in paths]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_of_docstrings_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in NEEDED and find_spec(NEEDED[name]) is None:
        pytest.skip(f"{NEEDED[name]} is not installed")
    module = importlib.import_module(f"boostkmeans.{name}".rstrip("."))
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def test_public_docstrings_are_complete() -> None:
    checks = check_docstrings.enabled_checks()
    names = [*check_docstrings.public_names()]
    assert {"boostkmeans.BoostKMeans.partial_fit", "boostkmeans.metrics.purity"} <= set(names)
    assert [line for name in names for line in check_docstrings.violations_of(name, checks)] == []


def test_incomplete_docstring_is_reported() -> None:
    """The function `exported` is not public, and its docstring has no sections."""
    found = check_docstrings.violations_of("check_docstrings.exported", {"RT01", "SS05"})
    assert found == ["check_docstrings.exported: RT01 No Returns section found"]
