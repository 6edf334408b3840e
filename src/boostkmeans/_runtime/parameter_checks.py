"""Checks of constructor parameters. Their messages follow those of scikit-learn."""

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from boostkmeans._runtime.errors import (
    InvalidValuesError,
    Message,
    Parameter,
    ParameterConflictError,
    ParameterError,
    Text,
    TooFewRowsError,
)

POSITIVE_FLOAT = Message("a float in the range (0, inf)", shell="a number above 0")
NON_NEGATIVE_FLOAT = Message("a float in the range [0, inf)", shell="a number of at least 0")
# The largest seed of a RandomState.
MAX_SEED = 2**32 - 1
SEED_IN_SHELL = "an integer of at least 0 and at most {high}"


def int_range(low: int) -> Message:
    """Return the description of integers of at least `low`."""
    return Message("an int in the range [{low}, inf)", shell="an integer of at least {low}", low=low)


def one_of(choices: tuple[str, ...]) -> Message:
    """Return the description of a choice between strings."""
    shown = ", ".join(map(repr, choices))
    return Message("a str among {{{choices}}}", shell="one of {choices}", choices=shown)


class Allowed(NamedTuple):
    """The values that a parameter may have."""

    accepts: Callable[[Any], bool]
    expected: Text
    """Description for error messages."""


def is_finite(value: Any) -> bool:
    """Return True if a real number is finite as a float64. An int may be too large for it."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def integer(low: int) -> Allowed:
    """Allow an int of at least `low`."""

    def accepts(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low

    return Allowed(accepts, int_range(low))


def real(*, positive: bool = False) -> Allowed:
    """Allow a finite float of at least 0, or above 0."""

    def accepts(value: Any) -> bool:
        number = isinstance(value, Real) and not isinstance(value, bool) and is_finite(value)
        return number and (value > 0 if positive else value >= 0)

    return Allowed(accepts, POSITIVE_FLOAT if positive else NON_NEGATIVE_FLOAT)


def numbers_of_clusters(*, positive: bool = False) -> Allowed:
    """Allow a 1D array of numbers of at least 0, or above 0, which may be infinite."""

    def accepts(value: Any) -> bool:
        if isinstance(value, str) or np.ndim(value) != 1:
            return False
        array = np.asarray(value)
        numeric = array.dtype.kind in "iuf" and len(array) > 0
        return numeric and bool((array > 0 if positive else array >= 0).all())

    return Allowed(accepts, "an array of one such number per cluster")


def choice(choices: tuple[str, ...]) -> Allowed:
    """Allow one of several strings."""
    return Allowed(lambda value: isinstance(value, str) and value in choices, one_of(choices))


def satisfying(accepts: Callable[[Any], bool], expected: str) -> Allowed:
    """Allow values for which a function returns True."""
    return Allowed(accepts, expected)


def any_of(*options: Allowed | str | type[bool] | None) -> Allowed:
    """Allow a value that one of the options allows: None, a string, bool, or an `Allowed`."""
    constants = tuple(option for option in options if option is None or isinstance(option, str))
    types = (bool, np.bool_) if bool in options else ()
    others = [option for option in options if isinstance(option, Allowed)]

    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value in constants or any(option.accepts(value) for option in others)
        return isinstance(value, types) or any(option.accepts(value) for option in others)

    names: list[Text] = [repr(option) for option in constants]
    names += ["a bool"] if types else []
    names += [option.expected for option in others]
    fields = [f"{{option_{number}}}" for number in range(len(names))]
    # In the shell, an option that is left out stands for None.
    shell = [field for field, name in zip(fields, names, strict=True) if name != repr(None)]
    values: dict[str, Any] = {f"option_{number}": name for number, name in enumerate(names)}
    return Allowed(accepts, Message(_either(fields), shell=_either(shell), **values))


def _either(fields: list[str]) -> str:
    return f"{', '.join(fields[:-1])} or {fields[-1]}" if len(fields) > 1 else "".join(fields)


def _is_seed(value: Any) -> bool:
    return isinstance(value, Integral) and 0 <= int(value) <= MAX_SEED


def _is_random_state(value: Any) -> bool:
    # As in scikit-learn, the module `numpy.random` stands for its own generator.
    known = value is None or value is np.random or isinstance(value, np.random.RandomState)
    return known or _is_seed(value)


SEED = Allowed(
    lambda value: _is_seed(value) and not isinstance(value, bool),
    Message("an int in the range [0, {high}]", shell=SEED_IN_SHELL, high=MAX_SEED),
)
"""The values of a `random_state` that is always an int."""
RANDOM_STATE = Allowed(
    _is_random_state,
    Message(
        "None, an int in the range [0, {high}] or a numpy.random.RandomState",
        shell=SEED_IN_SHELL,
        high=MAX_SEED,
    ),
)
"""The values of `random_state`."""


def check_generator(random_state: Any, owner: str) -> np.random.RandomState:
    """Return the generator of a `random_state`. Raise ParameterError if it is not allowed."""
    if not RANDOM_STATE.accepts(random_state):
        raise ParameterError("random_state", RANDOM_STATE.expected, random_state, owner=owner)
    return check_random_state(random_state)  # type: ignore[no-any-return]


def check_parameters(estimator: Any, allowed: Mapping[str, Allowed]) -> None:
    """Raise ParameterError for the first parameter of an estimator that is not allowed."""
    for name, one in allowed.items():
        value = getattr(estimator, name)
        if not one.accepts(value):
            raise ParameterError(name, one.expected, value, owner=type(estimator).__name__)


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
        good = good and is_finite(value) and (value > 0 if positive else value >= 0)
        if not good:
            self.fail(name, POSITIVE_FLOAT if positive else NON_NEGATIVE_FLOAT, value)

    def random_state(self, value: Any) -> None:
        """Raise ParameterError unless `value` is None, a seed or a RandomState."""
        if not RANDOM_STATE.accepts(value):
            self.fail("random_state", RANDOM_STATE.expected, value)

    def choice(self, name: str, value: Any, choices: tuple[str, ...]) -> None:
        """Raise ParameterError unless `value` is one of the choices."""
        if not isinstance(value, str) or value not in choices:
            self.fail(name, one_of(choices), value)


def check_n_clusters(n_clusters: int, n_rows: int, n_positive: int) -> None:
    """Raise an error if there are fewer rows, or rows with a positive weight, than clusters."""
    if n_rows < n_clusters:
        raise TooFewRowsError(n_rows, n_clusters)
    if n_positive < n_clusters:
        raise ParameterConflictError(
            Message(
                "{n_clusters} is more than the number of rows with a positive weight in {sample_weight} "
                "({n_positive}).",
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
