"""Checks of constructor parameters, with messages in scikit-learn's manner."""

import math
from numbers import Integral, Real
from typing import Any

from boostkmeans._runtime.errors import ParameterError


class ParameterChecker:
    """Collects no state: only knows whose parameters it speaks of."""

    def __init__(self, estimator: object) -> None:
        self._owner = type(estimator).__name__

    def fail(self, name: str, expected: str, value: Any) -> None:
        """Raises the error that all checks raise."""
        raise ParameterError(name, expected, value, owner=self._owner)

    def integer(self, name: str, value: Any, low: int) -> None:
        """An int of at least `low`."""
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
            self.fail(name, f"an int in the range [{low}, inf)", value)

    def real(self, name: str, value: Any, *, positive: bool = False) -> None:
        """A finite float of at least 0, or above 0."""
        good = isinstance(value, Real) and not isinstance(value, bool)
        good = good and math.isfinite(value) and (value > 0 if positive else value >= 0)
        if not good:
            self.fail(name, f"a float in the range {'(0' if positive else '[0'}, inf)", value)

    def choice(self, name: str, value: Any, choices: tuple[str, ...]) -> None:
        """One of some words."""
        if not isinstance(value, str) or value not in choices:
            self.fail(name, f"a str among {{{', '.join(map(repr, choices))}}}", value)


def check_n_clusters(n_clusters: int, n_rows: int, n_positive: int) -> None:
    """Whether there are rows enough, and rows with a positive weight."""
    if n_rows < n_clusters:
        raise ValueError(f"n_samples={n_rows} should be >= n_clusters={n_clusters}.")
    if n_positive < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} needs as many rows with a positive weight; "
            f"sample_weight has {n_positive}."
        )
