"""`Vectors`: the rows of a file, whatever its format."""

import operator
from collections.abc import Iterator
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io._access.row_range import RowRange
from boostkmeans.io._access.spool import most_in_memory
from boostkmeans.io._access.store import Store

# Of a batch: large beside the cost of a call, small beside any memory.
BATCH_BYTES = 1 << 24
# Rows that are wanted, with at most so many bytes between them, are read at once: a call of the system
# costs as much as some 64 KB. Such a window stays in a cache.
GAP_BYTES, WINDOW_BYTES = 1 << 16, 1 << 20


class Vectors:
    """Rows of a file, of which no more is read than is asked for. `open_vectors` makes it.

    Attributes
    ----------
    name : str
        The path, or "standard input".
    format : str
        As `open_vectors` calls it.
    max_memory : int or None
        Bytes that whoever works with the rows should get along with.
    """

    def __init__(self, name: str, format: str, store: Store, max_memory: int | None) -> None:  # noqa: A002
        self.name = name
        self.format = format
        self.max_memory = max_memory
        self._store = store
        self._closed = False

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._open.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values, in the byte order of this machine."""
        return self._open.dtype

    @property
    def nbytes(self) -> int:
        """Of all rows, if they were a dense array."""
        return self.shape[0] * self._row_bytes

    @property
    def is_sparse(self) -> bool:
        """Whether rows come as CSR."""
        return self._open.is_sparse

    @property
    def is_mapped(self) -> bool:
        """Whether `load()` maps the file into memory instead of copying it there."""
        return self._open.is_mapped

    @property
    def held_bytes(self) -> int:
        """What reading keeps in memory beside the rows that it returns, at most."""
        return min(self._open.held_bytes, 3 * most_in_memory(self.max_memory))

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns, where the file has any."""
        return self._open.feature_names

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Vectors({self.name!r}, format={self.format!r})"

    def __getitem__(self, index: Any) -> Any:
        """Rows by a number, a slice or an array of numbers or booleans, as NumPy has it."""
        if isinstance(index, slice):
            return self._slice(index)
        if index is Ellipsis:
            return self.read(0, len(self))
        if isinstance(index, bool | np.bool_):
            raise IndexError(f"A row has a number, and {index} is none. A mask needs a value for each.")
        if isinstance(index, tuple):
            raise IndexError("Only rows are chosen here, not columns: vectors[rows][:, columns].")
        if np.ndim(index) == 0:
            i = operator.index(index)
            if not -len(self) <= i < len(self):
                raise IndexError(f"There is no row {i}: there are {len(self)}.")
            i %= len(self)
            row = self.read(i, i + 1)
            return row if self.is_sparse else row[0]
        return self._gathered(index)

    def read(self, begin: int, end: int, out: NDArray[Any] | None = None) -> Any:
        """The rows from `begin` to `end`, without it, in a new array or in `out`.

        They are read from the file, not from a map of it: no more memory is used than the result needs.
        Several threads may read at the same time.

        Parameters
        ----------
        begin, end : int
            0 <= begin <= end <= len(self).
        out : ndarray, default=None
            C-contiguous, of this dtype, with as many columns and at least as many rows. What is returned
            is the part of it that was filled.
        """
        begin, end = operator.index(begin), operator.index(end)
        if not 0 <= begin <= end <= len(self):
            raise IndexError(f"Rows {begin} to {end} are not within the {len(self)} that there are.")
        if out is None:
            return self._open.rows(begin, end)
        if self.is_sparse:
            raise ValueError("out is for dense rows, these are sparse.")
        if (
            out.dtype != self.dtype
            or out.ndim != 2
            or out.shape[1] != self.shape[1]
            or len(out) < end - begin
            or not out.flags.c_contiguous
            or not out.flags.writeable
        ):
            kind = "" if out.flags.writeable else ", read-only"
            raise ValueError(
                f"out must be C-contiguous, writable, of dtype {self.dtype} and of {self.shape[1]} "
                f"columns and at least {end - begin} rows. Got {out.dtype}, {out.shape}{kind}."
            )
        target = out[: end - begin]
        self._open.fill(begin, target)
        return target

    def batches(self, n_rows: int | None = None) -> Iterator[Any]:
        """Consecutive rows, so many at a time; by default about 16 MB."""
        step = self._rows_of_batch() if n_rows is None else operator.index(n_rows)
        if step < 1:
            raise ValueError(f"n_rows must be at least 1. Got {step}.")
        for begin in range(0, len(self), step):
            yield self.read(begin, min(begin + step, len(self)))

    def between(self, begin: int, end: int) -> "Vectors":
        """The rows from `begin` to `end`, without it, as vectors of their own; nothing is read.

        They share the file with these, and either closes it.
        """
        begin, end = operator.index(begin), operator.index(end)
        if not 0 <= begin <= end <= len(self):
            raise IndexError(f"Rows {begin} to {end} are not within the {len(self)} that there are.")
        return Vectors(self.name, self.format, RowRange(self._open, begin, end), self.max_memory)

    def load(self) -> Any:
        """All rows: a read-only map of the file where that is possible, else an array or CSR in memory.

        A map is only as good as its file: nobody may cut that short while the map is in use.
        """
        return self._open.load()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.is_sparse:
            raise TypeError(
                f"{self.name} has sparse rows, which are not made dense: load() gives them as CSR."
            )
        if copy is False and (not self.is_mapped or np.dtype(dtype or self.dtype) != self.dtype):
            raise ValueError(
                f"{self.name} cannot be an array of {np.dtype(dtype or self.dtype)} without a copy: it "
                f"has to be {'converted' if self.is_mapped else 'decoded'}."
            )
        every: NDArray[Any] = np.asarray(self.load(), dtype=dtype)
        return every.copy() if copy and self.is_mapped else every

    def close(self) -> None:
        """Lets go of the file. What was loaded stays."""
        if not self._closed:
            self._closed = True
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _open(self) -> Store:
        if self._closed:
            raise ValueError(f"{self.name} was closed: open it again.")
        return self._store

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def _rows_of_batch(self) -> int:
        if self.is_sparse:
            matrix = self.load()
            stored = int(matrix.data.nbytes + matrix.indices.nbytes)
            return max(1, BATCH_BYTES * len(self) // max(1, stored))
        return max(1, BATCH_BYTES // self._row_bytes)

    def _slice(self, index: slice) -> Any:
        begin, end, step = index.indices(len(self))
        if step == 1:
            return self.read(begin, max(begin, end))
        return self._gathered(np.arange(begin, end, step))

    def _gathered(self, index: Any) -> Any:
        rows = np.asarray(index)
        if rows.size == 0 and rows.ndim == 1:
            rows = rows.astype(np.intp)
        if rows.dtype.kind == "b" and rows.shape == (len(self),):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise IndexError(
                "Rows are chosen by a number, a slice, or a 1-D array of numbers or of a boolean for "
                f"each row. Got {type(index).__name__} of shape {rows.shape}."
            )
        if rows.dtype.kind == "u":  # what is beyond int64 is no row, and must not become one
            rows = np.minimum(rows.astype(np.uint64), np.uint64(2**63 - 1))
        rows = rows.astype(np.int64)  # a small type could not hold the number of rows
        wrong = np.flatnonzero((rows < -len(self)) | (rows >= len(self)))
        if len(wrong):
            raise IndexError(f"There is no row {rows[wrong[0]]}: there are {len(self)}.")
        rows = np.where(rows < 0, rows + len(self), rows).astype(np.intp)
        if self.is_sparse:
            return self.load()[rows]
        return self._read_runs(rows)

    def _read_runs(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """In the order of the file. Rows that are near each other come with what is between them."""
        found = np.empty((len(rows), self.shape[1]), dtype=self.dtype)
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        most = max(1, WINDOW_BYTES // self._row_bytes)
        gap = max(1, GAP_BYTES // self._row_bytes)
        buffer = np.empty((min(most, len(self)), self.shape[1]), dtype=self.dtype)
        # Where a window has to begin; within such a stretch, windows are as long as they may be.
        breaks = [0, *(np.flatnonzero(np.diff(ordered) > gap) + 1).tolist(), len(rows)]
        for stretch, stretch_end in pairwise(breaks):
            begin = stretch
            while begin < stretch_end:
                first = int(ordered[begin])
                end = begin + int(np.searchsorted(ordered[begin:stretch_end], first + most))
                piece = self.read(first, int(ordered[end - 1]) + 1, out=buffer)
                found[order[begin:end]] = piece[ordered[begin:end] - first]
                begin = end
        return found
