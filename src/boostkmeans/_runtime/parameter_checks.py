"""Checks of constructor parameters. Their messages follow those of scikit-learn."""

import math
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import (
    InvalidValuesError,
    Message,
    Parameter,
    ParameterConflictError,
    ParameterError,
    Text,
    TooFewRowsError,
)


class ParameterChecker:
    """Checks of the parameters of one estimator, whose class the error messages name."""

    def __init__(self, estimator: object) -> None:
        self._owner = type(estimator).__name__

    def fail(self, name: str, expected: Text, value: Any) -> NoReturn:
        """Raise a ParameterError."""
        raise ParameterError(name, expected, value, owner=self._owner)

    def integer(self, name: str, value: Any, low: int) -> None:
        """Raise ParameterError unless `value` is an int of at least `low`."""
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
            self.fail(name, int_range(low), value)

    def real(self, name: str, value: Any, *, positive: bool = False) -> None:
        """Raise ParameterError unless `value` is a finite float of at least 0, or above 0."""
        good = isinstance(value, Real) and not isinstance(value, bool)
        good = good and math.isfinite(value) and (value > 0 if positive else value >= 0)
        if not good:
            self.fail(name, POSITIVE_FLOAT if positive else NON_NEGATIVE_FLOAT, value)

    def choice(self, name: str, value: Any, choices: tuple[str, ...]) -> None:
        """Raise ParameterError unless `value` is one of the choices."""
        if not isinstance(value, str) or value not in choices:
            self.fail(name, one_of(choices), value)


POSITIVE_FLOAT = Message("a float in the range (0, inf)", shell="a number above 0")
NON_NEGATIVE_FLOAT = Message("a float in the range [0, inf)", shell="a number of at least 0")


def int_range(low: int) -> Message:
    """Return the description of the integers from `low`."""
    return Message("an int in the range [{low}, inf)", shell="an integer of at least {low}", low=low)


def one_of(choices: tuple[str, ...]) -> Message:
    """Return the description of a choice between strings."""
    shown = ", ".join(map(repr, choices))
    return Message("a str among {{{choices}}}", shell="one of {choices}", choices=shown)


def check_n_clusters(n_clusters: int, n_rows: int, n_positive: int) -> None:
    """Raise an error if there are fewer rows, or rows with a positive weight, than clusters."""
    if n_rows < n_clusters:
        raise TooFewRowsError(n_rows, n_clusters)
    if n_positive < n_clusters:
        raise ParameterConflictError(
            Message(
                "{n_clusters} needs as many rows with a positive weight; {sample_weight} has "
                "{n_positive}.",
                n_clusters=Parameter("n_clusters", n_clusters),
                sample_weight=Parameter("sample_weight"),
                n_positive=n_positive,
            )
        )


def check_initial_centres(centres: NDArray[np.float64], n_clusters: int, n_features: int) -> None:
    """Raise an error unless an `init` array has finite values and one row per cluster."""
    if centres.shape != (n_clusters, n_features):
        raise ParameterConflictError(
            Message(
                "Centres given as init have shape {shape}, expected (n_clusters, n_features) = "
                "({n_clusters}, {n_features}).",
                shell="{init} has {shape[0]} centres of {shape[1]} features, expected {n_clusters} "
                "centres of {n_features} features.",
                init=Parameter("init"),
                shape=centres.shape,
                n_clusters=n_clusters,
                n_features=n_features,
            )
        )
    if not np.isfinite(centres).all():
        raise InvalidValuesError(
            Message(
                "Centres given as init contain NaN or infinity.",
                shell="The centres of {init} contain NaN or infinity.",
                init=Parameter("init"),
            )
        )
