"""Checks of arrays from users that NumPy and SciPy do not make, before any of them is converted.

SciPy trusts the indices of a sparse matrix, and reads beyond its arrays if they are wrong. NumPy ignores
masks, and converts dates to numbers.
"""

import copy
import datetime as dt
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._runtime.errors import InvalidValuesError, Message, shorten

# Kinds of NumPy's types that hold dates and durations.
TIME_KINDS = "mM"
# Beginnings of the names of the types of polars and, for periods, of pandas for them.
TIME_NAMES = ("Date", "Time", "Duration", "period")
# Python's own types for them, and those of single values of NumPy. Those of pandas are subclasses.
TIME_TYPES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


def accepted_rows(X: Any, name: str = "X") -> Any:
    """Return rows that can be converted safely: X itself, or a view with indices that nobody changes.

    Parameters
    ----------
    X : array-like, sparse matrix or table
        Rows from the user.
    name : str, default="X"
        Name of the rows in messages.

    Returns
    -------
    array-like, sparse matrix or table
        X, without a copy of its values.

    Raises
    ------
    InvalidValuesError
        If X has masked values, holds dates, or is a sparse matrix with invalid indices.
    """
    if sparse.issparse(X):
        values = getattr(X, "data", None)
        if isinstance(values, np.ma.MaskedArray):
            _without_mask(values, name)
        if isinstance(values, np.ndarray) and values.dtype.kind in TIME_KINDS:
            raise _time_error(name)
        return _with_valid_indices(X, name)
    if isinstance(X, np.ma.MaskedArray):
        X = _without_mask(X, name)
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        _without_mask(np.ma.stack(X), name)
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise _invalid(name, "is a structured array", "Pass a two-dimensional array of numbers.")
    holds_times = any(kind and kind in TIME_KINDS for kind in _type_kinds(X))
    if holds_times or _are_times(_object_types(X)):
        raise _time_error(name)
    return X


def accepted_weights(sample_weight: Any, name: str = "sample_weight") -> NDArray[np.float64]:
    """Return weights as float64. Raise InvalidValuesError unless they are real numbers.

    Parameters
    ----------
    sample_weight : array-like
        Weights from the user.
    name : str, default="sample_weight"
        Name of the weights in messages.

    Returns
    -------
    ndarray of float64
        The weights. Their values are not checked.
    """
    if isinstance(sample_weight, np.ma.MaskedArray):
        sample_weight = _without_mask(sample_weight, name)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biufO":
        raise _invalid(name, f"holds values of type {weights.dtype}", "Weights must be real numbers.")
    if _are_times(_object_types(weights)):
        raise _time_error(name)
    return _real_numbers(weights, name)


def accepted_parameter(array: Any, name: str) -> NDArray[Any]:
    """Return an array that the user passed as a parameter, e.g. centres.

    Parameters
    ----------
    array : array-like
        The value of the parameter.
    name : str
        Name of the parameter in messages.

    Returns
    -------
    ndarray
        The array. Its shape and its values are not checked.

    Raises
    ------
    InvalidValuesError
        If it has masked values, dates, or complex numbers.
    """
    found = np.asarray(accepted_rows(array, name))
    if found.dtype.kind == "c":
        raise _invalid(name, f"holds values of type {found.dtype}", "They must be real numbers.")
    return _real_numbers(found, name) if found.dtype == object and found.ndim else found


@contextmanager
def converting(name: str) -> Iterator[None]:
    """Raise InvalidValuesError if a Python number is too large for the conversion to float64.

    Parameters
    ----------
    name : str
        Name of the array in messages.
    """
    try:
        yield
    except OverflowError:
        raise _invalid(
            name,
            "holds numbers that float64 cannot represent",
            "Divide them by a large number before they become an array.",
        ) from None


def without_objects(array: Any, name: str) -> Any:
    """Return an array, as float64 if it holds Python objects, such as integers beyond int64.

    Parameters
    ----------
    array : ndarray or sparse matrix
        Rows from the user.
    name : str
        Name of the rows in messages.

    Returns
    -------
    ndarray or sparse matrix
        The array. Its values are not checked.

    Raises
    ------
    InvalidValuesError
        If an object is not a real number.
    """
    return _real_numbers(array, name) if array.dtype == object else array


def _real_numbers(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert an array to float64. Raise InvalidValuesError if an object in it is not a real number."""
    try:
        with converting(name):
            return np.asarray(array, dtype=np.float64)
    except InvalidValuesError:
        raise
    except (TypeError, ValueError) as error:
        raise _invalid(name, "holds values that are not numbers", f"{shorten(str(error))}.") from None


def check_still_finite(inertia: float) -> None:
    """Raise ValueError if the inertia of rows is not finite in their frame.

    All rows were finite when they were checked, so their owner has changed them since.
    """
    if not math.isfinite(inertia):
        raise ValueError(
            "X contains NaN or infinity, which it did not contain when the fit began. Do not change X "
            "until the fit has ended."
        )


def _invalid(name: str, problem: str, remedy: str) -> InvalidValuesError:
    return InvalidValuesError(
        Message("{name} {problem}. {remedy}", name=name, problem=problem, remedy=remedy)
    )


def _time_error(name: str) -> InvalidValuesError:
    return _invalid(
        name, "holds dates or durations", "Convert them to numbers of a unit that you choose."
    )


def _without_mask(array: Any, name: str) -> NDArray[Any]:
    n_masked = int(np.count_nonzero(np.ma.getmaskarray(array)))
    if n_masked:
        raise _invalid(
            name,
            f"is a masked array with {n_masked} masked values",
            "Remove their rows, or fill them with numbers (numpy.ma.filled).",
        )
    return np.asarray(array)


def _type_kinds(X: Any) -> Iterable[str]:
    """Return the kinds of the types in an array, a table, or the first row of a list."""
    if isinstance(X, np.ndarray):
        return (X.dtype.kind,)
    if isinstance(X, list | tuple):
        first = X[0] if len(X) else []
        return () if isinstance(first, str | bytes) else (np.asarray(first).dtype.kind,)
    types = getattr(X, "dtypes", ())
    return [_kind(one) for one in (types if isinstance(types, Iterable) else (types,))]


def _object_types(X: Any) -> set[type]:
    """Return the types of the Python objects in an array, a list of rows, or the columns of a table.

    NumPy raises a TypeError for objects that are not numbers, only while it converts them.
    """
    if isinstance(X, np.ndarray):
        return set(map(type, X.ravel())) if X.dtype == object else set()
    if isinstance(X, list | tuple):
        return set().union(*(_types_in_row(row) for row in X))
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:  # a data frame of pandas
        columns = [j for j, dtype in enumerate(X.dtypes) if _kind(dtype) == "O"]
        return set().union(*(_object_types(X.iloc[:, j].to_numpy()) for j in columns))
    return set()


def _types_in_row(row: Any) -> set[type]:
    if isinstance(row, list | tuple):
        return set(map(type, row))
    return _object_types(row) if isinstance(row, np.ndarray) else {type(row)}


def _are_times(types: set[type]) -> bool:
    """Return True if one of the types holds dates or durations."""
    return any(issubclass(one, TIME_TYPES) for one in types)


def _kind(dtype: Any) -> str:
    """Return the kind of a type of NumPy, pandas or polars."""
    if str(dtype).startswith(TIME_NAMES):
        return TIME_KINDS[0]
    return str(getattr(dtype, "kind", ""))


def _with_valid_indices(matrix: Any, name: str) -> Any:
    """Return a sparse matrix with its own row starts, after a check of its indices.

    Row starts that change during a fit could make the core or SciPy read beyond the arrays.
    """
    if matrix.format == "coo":
        for axis, indices in enumerate((matrix.row, matrix.col)):
            _check_range(indices, matrix.shape[axis], name)
        return matrix
    if matrix.format not in ("csr", "csc", "bsr"):  # built from Python objects, or without indices
        return matrix
    matrix = copy.copy(matrix)
    matrix.indptr = np.array(matrix.indptr)
    rows, columns = matrix.shape[::-1] if matrix.format == "csc" else matrix.shape
    if matrix.format == "bsr":
        rows, columns = rows // matrix.blocksize[0], columns // matrix.blocksize[1]
    starts, n_values = matrix.indptr, min(len(matrix.data), len(matrix.indices))
    valid = (
        starts.dtype.kind in "iu"
        and starts.shape == (rows + 1,)
        and starts[0] == 0
        and starts[-1] <= n_values
        and bool((starts[1:] >= starts[:-1]).all())
    )
    if not valid:
        raise _invalid(
            name,
            f"is a {matrix.format.upper()} matrix with an invalid indptr",
            f"Expected {rows + 1} ascending integers from 0 to at most {n_values}.",
        )
    _check_range(matrix.indices[: starts[-1]], columns, name)
    return matrix


def _check_range(indices: NDArray[Any], length: int, name: str) -> None:
    if indices.dtype.kind not in "iu":
        raise _invalid(name, f"is a sparse matrix with indices of type {indices.dtype}", "Use integers.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < length):
        wrong = int(indices.min()) if indices.min() < 0 else int(indices.max())
        raise _invalid(
            name,
            f"is a sparse matrix with the index {wrong}",
            f"Expected indices from 0 to {length - 1}.",
        )
