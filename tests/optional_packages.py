"""Packages that only some environments of the tests have."""

from typing import Any

import pytest


class OptionalPackage:
    """A package that is imported when it is used. A test that uses a missing package is skipped."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(pytest.importorskip(self._name), attribute)
