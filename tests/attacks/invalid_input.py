"""Rows and weights that must be refused, with the expected message."""

import datetime as dt
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

ROWS = np.array([[0.0, 1], [0, 2], [5, 5], [6, 5], [5, 6], [1, 1]])
DATES = np.array([["2020-01-01", "2021-01-01"]] * 6, dtype="datetime64[D]")


def damaged(kind: str, change: Callable[[Any], None]) -> Any:
    """Return a sparse matrix with damaged indices."""
    matrix = getattr(sparse, f"{kind}_array")(ROWS)
    change(matrix)
    return matrix


def set_item(attribute: str, at: int, value: int) -> Callable[[Any], None]:
    """Return a function that changes one index."""

    def change(matrix: Any) -> None:
        getattr(matrix, attribute)[at] = value

    return change


def set_floats(matrix: Any) -> None:
    """Make the row starts floats."""
    matrix.indptr = matrix.indptr.astype(float)


def mask(matrix: Any) -> None:
    """Mask some of the values."""
    matrix.data = np.ma.masked_equal(matrix.data, 5)


def set_dates(matrix: Any) -> None:
    """Make the values dates."""
    matrix.data = matrix.data.astype("datetime64[s]")


def set_float_indices(matrix: Any) -> None:
    """Make the columns floats."""
    matrix.indices = matrix.indices.astype(float)


def cut(matrix: Any) -> None:
    """Remove the end of the row starts."""
    matrix.indptr = matrix.indptr[:-1]


def tables(columns: dict[str, Any], match: str, kind: str = "") -> dict[str, tuple[Any, str]]:
    """Return a table of each package for tables that is installed, and the expected message."""
    found = {}
    for package in ("pandas", "polars"):
        with suppress(ModuleNotFoundError):
            found[f"a table of {package} {kind}"] = (import_module(package).DataFrame(columns), match)
    return found


REFUSED: dict[str, tuple[Any, str]] = {
    "starts that descend": (damaged("csr", set_item("indptr", 2, 9)), "invalid indptr"),
    "starts beyond the values": (damaged("csr", set_item("indptr", -1, 99)), "invalid indptr"),
    "a negative start": (damaged("csr", set_item("indptr", 1, -5)), "invalid indptr"),
    "starts not from 0": (damaged("csr", set_item("indptr", 0, 1)), "invalid indptr"),
    "too few starts": (damaged("csr", cut), r"invalid indptr. Expected 7"),
    "starts that are floats": (damaged("csr", set_floats), "invalid indptr"),
    "a large column": (damaged("csr", set_item("indices", 3, 2)), "the index 2. Expected .* 0 to 1"),
    "a negative column": (damaged("csr", set_item("indices", 0, -1)), "the index -1"),
    "CSC with a large row": (damaged("csc", set_item("indices", 0, 6)), "the index 6"),
    "CSC with bad starts": (damaged("csc", set_item("indptr", 1, 99)), "CSC matrix with an invalid"),
    "BSR": (damaged("bsr", set_item("indices", 0, 7)), "the index 7"),
    "COO": (damaged("coo", lambda matrix: matrix.row.__setitem__(0, 100)), "the index 100"),
    "masked values": (np.ma.masked_equal(ROWS, 5), "masked array with 4 masked values"),
    "masked values of CSR": (damaged("csr", mask), "masked array with 4 masked values"),
    "dates in CSR": (damaged("csr", set_dates), "holds dates"),
    "columns that are floats": (damaged("csr", set_float_indices), "indices of type float64"),
    "a structured array": (np.zeros(6, dtype=[("a", "f8"), ("b", "f8")]), "structured array"),
    "masked rows in a list": ([*np.ma.masked_equal(ROWS, 5)], "masked array with 4 masked values"),
    "integers beyond float64 in a list": ([[1, 2], [10**400, 4]] * 3, "numbers that float64 cannot"),
    "integers beyond float64": (
        np.array([[1, 2], [3, -(10**400)]] * 3, dtype=object),
        "numbers that float64 cannot",
    ),
    "dates": (DATES, "holds dates"),
    "durations": (DATES - DATES[0, 0], "holds dates or durations"),
    "a list of dates": (list(map(list, DATES)), "holds dates"),
    "a list of Python's dates": ([[1.0, 2.0]] * 5 + [[dt.date(2020, 1, 1), 1.0]], "holds dates"),
    "an array of Python's dates": (DATES.astype(object), "holds dates"),
    "a list of Python's times": ([[dt.datetime(2020, 1, 1), 1.0]] * 6, "holds dates"),
    "a list of Python's durations": ([[dt.timedelta(1), 1.0]] * 6, "holds dates or durations"),
    **tables({"a": ROWS[:, 0], "b": DATES[:, 0]}, "holds dates"),
    **tables({"a": ROWS[:, 0], "b": [dt.date(2020, 1, 1)] * 6}, "holds dates", "of Python's objects"),
}

with suppress(ModuleNotFoundError):
    pandas = import_module("pandas")
    periods = pandas.period_range("2020", periods=6, freq="D")
    REFUSED["periods of pandas"] = (pandas.DataFrame({"a": periods, "b": ROWS[:, 0]}), "holds dates")

# Values of parameters that are arrays.
PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "masked centres": ({"init": np.ma.masked_greater(ROWS[:2], 1)}, "init is a masked array with 1"),
    "centres beyond float64": ({"init": [[0, 1], [10**400, 1]]}, "init holds numbers that float64"),
    "dates as centres": ({"init": DATES[:2]}, "init holds dates"),
    "complex centres": ({"init": ROWS[:2] + 1j}, "init holds values of type complex128"),
    "complex objects as centres": ({"init": (ROWS[:2] + 1j).astype(object)}, "init holds values that"),
    "masked labels": ({"init": np.ma.masked_equal([0, 0, 1, 1, 1, 0], 1)}, "init is a masked array"),
    "masked limits": ({"max_size": np.ma.masked_equal([3.0, 4], 4)}, "max_size is a masked array"),
}

WEIGHTS: dict[str, tuple[Any, str]] = {
    "complex": (np.ones(6) + 1j, "type complex128. Weights must be real"),
    "complex objects": (np.array([1 + 1j] * 6, dtype=object), "holds values that are not numbers"),
    "integers beyond float64": ([1, 10**400, 3, 4, 5, 6], "holds numbers that float64"),
    "dates": (DATES[:, 0], "type datetime64"),
    "Python's dates": ([dt.date(2020, 1, 1)] * 6, "holds dates"),
    "texts": (["1"] * 6, "type <U1"),
    "masked": (np.ma.masked_equal([1.0, 2, 3, 4, 5, 6], 3), "masked array with 1 masked"),
    "a sum that overflows": (np.linspace(1e308, 1.5e308, 6), "sum of sample_weight is too large"),
    "a sum near the largest float64": (np.array([1e308, 1, 1, 1, 1, 1]), "sum of sample_weight is too"),
    "equal weights that overflow": (np.full(6, 1e308), "sum of sample_weight is too large"),
}
