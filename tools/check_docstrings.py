"""Validate the docstrings of every public name with numpydoc, by the checks listed in pyproject.toml."""

import dataclasses
import importlib
import inspect
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

from numpydoc.validate import ERROR_MSGS, validate

ROOT = Path(__file__).parents[1]
# Methods that other layers of the project call, but users do not.
INTERNAL = {"for_partition", "render", "restore", "restored", "state"}


def main() -> int:
    """Print every violation; return 1 if there are any."""
    checks = enabled_checks()
    violations = [line for name in public_names() for line in violations_of(name, checks)]
    for line in violations:
        print(line)
    return int(bool(violations))


def enabled_checks() -> set[str]:
    """Return the codes of the checks: all of numpydoc's, except those that pyproject.toml lists."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(settings["tool"]["numpydoc_validation"]["checks"])
    return set(ERROR_MSGS) - listed if "all" in listed else listed


def violations_of(name: str, checks: set[str]) -> list[str]:
    """Return one line per violation in the docstring of a name."""
    found = validate(name)
    definition = _resolve(name)
    if dataclasses.is_dataclass(definition):
        checks = checks - {"PR01"}  # the fields are documented as attributes
    elif not _has_parameters(definition):
        checks = checks - {"RT01"}  # the summary says what is returned
    return [f"{name}: {code} {text}" for code, text in found["errors"] if code in checks]


def _resolve(name: str) -> Any:
    found: Any = importlib.import_module(name.split(".")[0])
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def _has_parameters(function: Any) -> bool:
    try:
        parameters = set(inspect.signature(function).parameters) if callable(function) else set()
    except ValueError:  # An exception without a constructor of its own has no signature.
        return False
    return bool(parameters - {"self"})


def public_names() -> list[str]:
    """Return the full name of every function, class, method and property that users may use.

    A method that several classes inherit is listed once.
    """
    names: dict[int, str] = {}
    for name, definition in _members("boostkmeans", importlib.import_module("boostkmeans")):
        names.setdefault(id(definition), name)
    return list(names.values())


def _members(path: str, module: ModuleType) -> Iterator[tuple[str, object]]:
    for name in exported(module):
        found = getattr(module, name)
        if isinstance(found, ModuleType):
            yield from _members(f"{path}.{name}", found)
        elif inspect.isclass(found) or inspect.isfunction(found):
            yield f"{path}.{name}", found
        if inspect.isclass(found):
            yield from ((f"{path}.{name}.{member}", own) for member, own in _own_members(found))


def exported(module: ModuleType) -> list[str]:
    """Return `__all__` of a module, or without it the public names that the module defines itself."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    names = (name for name in vars(module) if not name.startswith("_"))
    return [name for name in names if getattr(vars(module)[name], "__module__", "") == module.__name__]


def _own_members(cls: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods and properties that this project defines, not those of scikit-learn."""
    for name in dir(cls):
        definition = inspect.getattr_static(cls, name)
        function = getattr(definition, "fget", None) or getattr(definition, "__func__", definition)
        is_ours = str(getattr(function, "__module__", "")).startswith("boostkmeans")
        is_public = not name.startswith("_") and name not in INTERNAL
        if is_public and is_ours and not inspect.isclass(definition):
            yield name, definition


def use_sources() -> None:
    """Import the package from `src`, without the compiled core, which need not be up to date."""
    sys.path.insert(0, str(ROOT / "src"))
    sys.modules["boostkmeans._core"] = MagicMock()


if __name__ == "__main__":
    use_sources()
    sys.exit(main())
