"""`Vectors`: the rows of a file of any format."""

import operator
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._access.row_range import RowRange
from boostkmeans.io._access.row_selection import read_scattered, row_numbers
from boostkmeans.io._access.spool import max_spool_memory
from boostkmeans.io._access.store import Store

# Size of a batch in bytes. The overhead of a call and the memory are then negligible.
BATCH_BYTES = 1 << 24


class FileRows(NamedTuple):
    """The rows of a data set that one of its files holds.

    Parameters
    ----------
    name : str
        Path of the file. A URL has neither password nor query.
    begin, end : int
        Range of its rows in the data set, with `end` excluded.
    """

    name: str
    begin: int
    end: int


class Vectors:
    """The rows of a file, which are read only when they are needed. Created by `open_vectors`.

    Parameters
    ----------
    name : str
        Name of the file.
    format : str
        Format of the file.
    store : Store
        Reader of the rows.
    max_memory : int or None
        Memory limit in bytes.
    paths : sequence of str, default=()
        Paths of the files, if there are several.

    Attributes
    ----------
    name : str
        Path of the file, "standard input", or a name of all files together.
    format : str
        Format of the file, as in `open_vectors`. Several formats are separated by commas.
    max_memory : int or None
        Memory limit in bytes for functions that work with the rows.
    """

    def __init__(
        self,
        name: str,
        format: str,  # noqa: A002
        store: Store,
        max_memory: int | None,
        paths: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.format = format
        self.max_memory = max_memory
        self._store = store
        self._paths = tuple(paths) or (name,)
        self._closed = False

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return self._open.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values, in the byte order of this machine."""
        return self._open.dtype

    @property
    def nbytes(self) -> int:
        """Number of bytes of all rows as a dense array."""
        return self.shape[0] * self._row_bytes

    @property
    def is_sparse(self) -> bool:
        """True if rows are returned as CSR matrices."""
        return self._open.is_sparse

    @property
    def stored_bytes(self) -> int:
        """Number of bytes of all rows in memory. Of sparse rows, only stored values count."""
        return self._open.stored_bytes

    @property
    def file_bytes(self) -> int:
        """Size of all files together in bytes. Standard input has no size."""
        return sum(ByteSource(path).n_bytes() for path in self._paths)

    @property
    def files(self) -> tuple[FileRows, ...]:
        """The files in order, each with the range of its rows."""
        counts = self._open.row_counts
        ends = np.cumsum(counts).tolist()
        return tuple(
            FileRows(ByteSource(path).name, end - n, end)
            for path, n, end in zip(self._paths, counts, ends, strict=True)
        )

    @property
    def group_starts(self) -> list[int] | None:
        """First rows of the row groups of a single Parquet file, or None for other formats."""
        return self._open.group_starts

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of all rows: integers, or strings in an array of objects. See `read_ids`."""
        return self.read_ids(0, len(self))

    @property
    def has_ids(self) -> bool:
        """True if the rows were opened with `id_column`."""
        try:
            self._open.ids(0, 0)
        except NotImplementedError:
            return False
        return True

    @property
    def is_mapped(self) -> bool:
        """True if `load()` returns a memory map of the file instead of a copy."""
        return self._open.is_mapped

    @property
    def held_bytes(self) -> int:
        """Upper limit of the memory that reading takes, besides the rows that it returns."""
        return min(self._open.held_bytes, 3 * max_spool_memory(self.max_memory))

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns, or None if the file has no names."""
        return self._open.feature_names

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Vectors({self.name!r}, format={self.format!r})"

    def __getitem__(self, index: Any) -> Any:
        """Return rows by an integer, a slice, or an array of integers or booleans, as NumPy does."""
        if isinstance(index, slice):
            return self._slice(index)
        if index is Ellipsis:
            return self.read(0, len(self))
        if isinstance(index, bool | np.bool_):
            raise IndexError(
                f"A row index must be an integer, not {index}. A mask must have one value per row."
            )
        if isinstance(index, tuple):
            raise IndexError("Columns cannot be selected here: use vectors[rows][:, columns].")
        if np.ndim(index) == 0:
            i = operator.index(index)
            if not -len(self) <= i < len(self):
                raise IndexError(f"Row {i} is out of range: there are {len(self):,} rows.")
            i %= len(self)
            row = self.read(i, i + 1)
            return row if self.is_sparse else row[0]
        return self._gathered(index)

    def read(self, begin: int, end: int, out: NDArray[Any] | None = None) -> Any:
        """Return the rows from `begin` to `end` (excluded).

        Rows are read from the file without a memory map, so that no more memory is used than the result
        needs. Several threads may read at the same time.

        Parameters
        ----------
        begin, end : int
            Range of rows, with 0 <= begin <= end <= len(self).
        out : ndarray, default=None
            Array for the rows: C-contiguous, of this dtype, with as many columns and at least as many
            rows. By default, a new array is created.

        Returns
        -------
        rows : ndarray or csr_array
            The rows. If `out` is given, this is the part of it that was filled.
        """
        begin, end = self._checked_range(begin, end)
        if out is None:
            return self._open.rows(begin, end)
        if self.is_sparse:
            raise ValueError("`out` is only supported for dense rows, and these are sparse.")
        self._check_out(out, end - begin)
        target = out[: end - begin]
        self._open.fill(begin, target)
        return target

    def read_ids(self, begin: int, end: int) -> NDArray[Any]:
        """Return the ids of the rows from `begin` to `end` (excluded).

        The rows must have been opened with `id_column`. Ids of Parquet files are read when they are
        needed. Ids of Arrow, CSV and TSV files stay in memory after the first row was read.

        Parameters
        ----------
        begin, end : int
            Range of rows, with 0 <= begin <= end <= len(self).

        Returns
        -------
        ids : ndarray
            Integers, or strings in an array of objects. Ids of CSV and TSV files are strings.
        """
        begin, end = self._checked_range(begin, end)
        try:
            return self._open.ids(begin, end)
        except NotImplementedError:
            raise ValueError(f"{self._shown_name} was opened without id_column.") from None

    def locate(self, row: int) -> tuple[str, int]:
        """Return the file that contains a row, and the number of the row in this file.

        Parameters
        ----------
        row : int
            Number of the row, with 0 <= row < len(self).

        Returns
        -------
        name : str
            Name of the file.
        row_in_file : int
            Number of the row, counted from 0 at the beginning of the file.
        """
        for file in self.files:
            if file.begin <= row < file.end:
                return file.name, row - file.begin
        raise IndexError(f"Row {row} is out of range: there are {len(self):,} rows.")

    def batches(self, n_rows: int | None = None) -> Iterator[Any]:
        """Iterate over consecutive batches of rows.

        Parameters
        ----------
        n_rows : int, default=None
            Number of rows per batch. By default, a batch has about 16 MB.

        Yields
        ------
        rows : ndarray or csr_array
            Rows of the batch.
        """
        step = self._rows_per_batch() if n_rows is None else operator.index(n_rows)
        if step < 1:
            raise ParameterError("n_rows", "an int of at least 1", step)
        for begin in range(0, len(self), step):
            yield self.read(begin, min(begin + step, len(self)))

    def between(self, begin: int, end: int) -> "Vectors":
        """Return a view of the rows from `begin` to `end` (excluded), without reading them.

        The view shares the file with this object: closing one of them closes the file.

        Parameters
        ----------
        begin, end : int
            Range of rows, with 0 <= begin <= end <= len(self).

        Returns
        -------
        vectors : Vectors
            The view.
        """
        begin, end = self._checked_range(begin, end)
        rows = RowRange(self._open, begin, end)
        return Vectors(self.name, self.format, rows, self.max_memory, self._paths)

    def load(self) -> Any:
        """Return all rows.

        If the format allows it, the result is a read-only memory map of the file. The file must not be
        truncated while the map is in use.

        Returns
        -------
        rows : ndarray or csr_array
            All rows.
        """
        return self._open.load()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.is_sparse:
            raise TypeError(
                f"{self._shown_name} has sparse rows, which are not converted to a dense array. Use "
                "load(), which returns a CSR matrix."
            )
        if copy is False and (not self.is_mapped or np.dtype(dtype or self.dtype) != self.dtype):
            raise ValueError(
                f"{self._shown_name} cannot be converted to {np.dtype(dtype or self.dtype)} without a "
                f"copy: it must be {'converted' if self.is_mapped else 'decoded'}."
            )
        every: NDArray[Any] = np.asarray(self.load(), dtype=dtype)
        return every.copy() if copy and self.is_mapped else every

    def close(self) -> None:
        """Close the file. Rows that were loaded stay valid."""
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
            raise ValueError(f"{self._shown_name} is closed. Open it again.")
        return self._store

    @property
    def _shown_name(self) -> str:
        """Name for messages."""
        return escape_untrusted(self.name)

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def _checked_range(self, begin: int, end: int) -> tuple[int, int]:
        begin, end = operator.index(begin), operator.index(end)
        if not 0 <= begin <= end <= len(self):
            raise IndexError(f"Rows {begin} to {end} are out of range: there are {len(self):,} rows.")
        return begin, end

    def _check_out(self, out: NDArray[Any], n_rows: int) -> None:
        """Raise ValueError unless the array can hold this number of rows."""
        if (
            out.dtype != self.dtype
            or out.ndim != 2
            or out.shape[1] != self.shape[1]
            or len(out) < n_rows
            or not out.flags.c_contiguous
            or not out.flags.writeable
        ):
            read_only = "" if out.flags.writeable else ", read-only"
            raise ValueError(
                f"`out` must be C-contiguous, writable, of type {self.dtype}, with {self.shape[1]} "
                f"columns and at least {n_rows} rows. Got {out.dtype}, {out.shape}{read_only}."
            )

    def _rows_per_batch(self) -> int:
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
        """Return the rows that an array of integers or booleans selects."""
        rows = row_numbers(index, len(self))
        if self.is_sparse:
            return self.load()[rows]
        return read_scattered(self, rows)
