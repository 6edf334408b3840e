"""Checks of values that users pass for each row or each cluster."""

from collections.abc import Iterable, Sized
from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._runtime.errors import (
    InvalidValuesError,
    Message,
    Parameter,
    ParameterConflictError,
    ParameterError,
)


def check_length(name: str, values: Sized, n_rows: int) -> None:
    """Raise an error unless there is one value per row."""
    if len(values) != n_rows:
        raise ParameterConflictError(
            Message(
                "{name} has {n:,} entries, and there are {n_rows:,} rows.",
                name=Parameter(name),
                n=len(values),
                n_rows=n_rows,
            ),
            remedy="Pass one entry per row, in the order of the rows.",
        )


def as_strings(name: str, values: Iterable[Any]) -> list[str]:
    """Return values as strings. None and NaN become empty."""
    if isinstance(values, str | bytes):
        raise ParameterError(name, "a sequence with one entry per row", values, owner="page")
    return ["" if is_missing(one) else _printable(str(one)) for one in values]


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or the NA or NaT of pandas.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, False, False)
    """
    differs = value != value
    # A comparison with NA is NA, and a comparison of arrays is an array.
    is_na = type(differs).__name__ == "NAType"
    return value is None or is_na or (isinstance(differs, bool | np.bool_) and bool(differs))


def strings_of_rows(name: str, values: Iterable[Any], n_rows: int) -> list[str]:
    """Return one string per row."""
    found = as_strings(name, values)
    check_length(name, found, n_rows)
    return found


def cluster_names(names: Iterable[Any], n_clusters: int) -> list[str]:
    """Return the names that a user gave to the clusters."""
    found = as_strings("names", names)
    if len(found) != n_clusters:
        raise ParameterConflictError(
            Message(
                "{names} has {n:,} entries, and there are {k:,} clusters.",
                names=Parameter("names"),
                n=len(found),
                k=n_clusters,
            ),
            remedy="Pass one name per cluster, in the order of the labels.",
        )
    return [name.strip() or f"cluster {number}" for number, name in enumerate(found)]


def checked_coordinates(coordinates: Any, n_rows: int) -> Floats:
    """Return the places of the rows that a user passed."""
    found: Floats = np.asarray(coordinates, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] != 2:
        raise ParameterError(
            "coordinates", "an array with two columns, x and y", coordinates, owner="page"
        )
    check_length("coordinates", found, n_rows)
    bad = ~np.isfinite(found).all(axis=1)
    if bad.any():
        raise InvalidValuesError(
            Message(
                "{coordinates} must be finite. Row {row} is {x}, {y}.",
                coordinates=Parameter("coordinates"),
                row=int(bad.argmax()),
                x=found[bad.argmax(), 0],
                y=found[bad.argmax(), 1],
            )
        )
    return found


def _printable(text: str) -> str:
    """Replace halves of surrogate pairs, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
