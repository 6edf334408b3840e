"""Selection of single rows: their numbers, and reading of rows that are scattered over a file."""

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# Rows with at most this many bytes between them are read in one call: a system call takes about as long
# as reading 64 KB.
GAP_BYTES = 1 << 16
# Largest number of bytes that one call reads for scattered rows. They fit into the cache of a processor.
WINDOW_BYTES = 1 << 20


class DenseSource(Protocol):
    """Dense rows that can be read in ranges."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""

    def read(self, begin: int, end: int, out: NDArray[Any] | None = None) -> Any:
        """Return rows [begin, end), in `out` if given."""


def row_numbers(index: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the numbers of the rows that an array of integers or booleans selects.

    Raise IndexError if the array is not a valid index of `n_rows` rows.
    """
    rows = np.asarray(index)
    if rows.size == 0 and rows.ndim == 1:
        rows = rows.astype(np.intp)
    if rows.dtype.kind == "b" and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise IndexError(
            "Rows must be selected by an integer, a slice, a 1-D array of integers or a boolean mask "
            f"with one value per row. Got {type(index).__name__} of shape {rows.shape}."
        )
    if rows.dtype.kind == "u":  # values beyond int64 must remain out of range after the conversion
        rows = np.minimum(rows.astype(np.uint64), np.uint64(2**63 - 1))
    rows = rows.astype(np.int64)  # the comparison below needs a type that can hold n_rows
    wrong = np.flatnonzero((rows < -n_rows) | (rows >= n_rows))
    if len(wrong):
        raise IndexError(f"Row {rows[wrong[0]]} is out of range: there are {n_rows:,} rows.")
    return np.where(rows < 0, rows + n_rows, rows).astype(np.intp)


def read_scattered(source: DenseSource, rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return the given rows, read in the order of the file.

    Rows close to each other are read in one call, together with the rows between them.
    """
    n_rows, n_columns = source.shape
    row_bytes = n_columns * source.dtype.itemsize
    found = np.empty((len(rows), n_columns), dtype=source.dtype)
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    max_rows = max(1, WINDOW_BYTES // row_bytes)
    max_gap = max(1, GAP_BYTES // row_bytes)
    buffer = np.empty((min(max_rows, n_rows), n_columns), dtype=source.dtype)
    # A new window begins after each large gap, and after `max_rows` rows.
    breaks = [0, *(np.flatnonzero(np.diff(ordered) > max_gap) + 1).tolist(), len(rows)]
    for stretch, stretch_end in pairwise(breaks):
        begin = stretch
        while begin < stretch_end:
            first = int(ordered[begin])
            end = begin + int(np.searchsorted(ordered[begin:stretch_end], first + max_rows))
            piece = source.read(first, int(ordered[end - 1]) + 1, out=buffer)
            found[order[begin:end]] = piece[ordered[begin:end] - first]
            begin = end
    return found
