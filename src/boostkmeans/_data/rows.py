"""Rows: the common representation of data, as a view of an array or CSR matrix through a frame.

Every pass over the data iterates over blocks (`RowSet.blocks`). Rows in memory are a single block;
`StreamedRows` reads one block after the other from a file.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import _core
from boostkmeans._data.frame import Array, Floats, Frame, exponent_for, fit_frame
from boostkmeans._runtime.errors import InvalidValuesError, Message, NotFiniteError
from boostkmeans._runtime.instruction_set import instruction_set

Indices = NDArray[np.integer[Any]]
NativeArray = Array | _core.CsrMatrix
"""An array that the core reads directly, or a CSR matrix whose indices it has checked."""

# Types of dense arrays that the core reads directly. Other types are converted to the first that fits.
DTYPES = (np.float64, np.float32, np.float16, np.uint8, np.int8)
# Types of sparse values that the core reads directly. They hold the integers of the types above.
SPARSE_DTYPES = (np.float64, np.float32)

# A sparse matrix with more cells than this stays sparse, unless its density is at least
# MIN_EXPANDED_DENSITY.
MAX_EXPANDED_CELLS = 2**22
# Minimum share of nonzero cells for which a large sparse matrix is expanded while it is read.
MIN_EXPANDED_DENSITY = 1 / 4

# Checksums of blocks of rows are added modulo this number.
CHECKSUM_MODULUS = 2**64

# Rows that NumPy copies at a time.
ROWS_AT_ONCE = 4096


class RowBlock(NamedTuple):
    """Rows that are in memory at the same time."""

    number: int
    where: slice
    """Position of the block among all rows."""
    rows: "Rows"


class RowSet(Protocol):
    """The rows of a problem, in memory or streamed."""

    frame: Frame
    n_rows: int
    n_features: int
    row_bytes: int
    stays_sparse: bool
    in_memory: bool
    """True if all rows are one block. Steps that visit rows in any order need this."""
    n_blocks: int
    max_sample: int | None
    """Largest sample that fits into memory; None without a limit."""

    def block_order(self, rng: np.random.RandomState) -> list[int]:
        """Return the indices of all blocks in the order in which a sweep visits them."""

    def blocks_containing(self, indices: Indices) -> list[int]:
        """Return the indices of the blocks that contain these rows."""

    def blocks(self, order: list[int] | None = None) -> Iterator[RowBlock]:
        """Yield all blocks, or those in `order`. A block is valid until the next one is yielded."""

    def block_bounds(self, number: int) -> tuple[int, int]:
        """Return the first row of a block, and the first row after it."""

    def sample(self, indices: Indices) -> "Rows":
        """Copy some rows, given by ascending indices, into memory, in the same frame."""

    def take(self, indices: Indices) -> Floats:
        """Copy some rows, given by ascending indices, as dense float64 points in the frame."""

    def fingerprint(self, indices: NDArray[np.int64]) -> list[Array]:
        """Return arrays that identify the data, from some rows given by ascending indices."""

    def checksum(self, n_threads: int) -> int:
        """Return a checksum of the values of all rows, which takes a pass over them."""


class Rows:
    """Rows in memory: an array or CSR matrix in a frame, as the core reads it."""

    in_memory = True
    n_blocks = 1
    max_sample: int | None = None

    def __init__(
        self,
        array: Array,
        frame: Frame,
        factors: Floats | None,
        *,
        stays_sparse: bool = False,
        native: NativeArray | None = None,
    ) -> None:
        """Wrap an array.

        `factors` has one factor per row. `stays_sparse` requires a frame without a shift. `native` is
        the result of `native_array(array)`, if it is known.
        """
        self.frame = frame
        self.stays_sparse = stays_sparse
        native = native_array(array) if native is None else native
        self.core = _core_rows(native, frame, factors, stays_sparse)
        self.n_rows, self.n_features = array.shape
        self.dtype = array.dtype
        self.row_bytes = self.n_features * array.dtype.itemsize
        self._array: Any = array
        self._factors = factors

    @classmethod
    def in_own_frame(cls, array: Array, metric: str, n_threads: int) -> "Rows":
        """Return rows in a frame fitted to them. Raise NotFiniteError if a value is not finite."""
        native = native_array(array, n_threads)
        factors = unit_factors(array, metric, n_threads, native=native)
        if stays_sparse(array):
            frame = Frame(np.zeros(array.shape[1]), exponent_for(_largest(array, factors)), metric)
            return cls(array, frame, factors, stays_sparse=True, native=native)
        low, high = describe(array, factors, n_threads, native=native)

        def take(few: NDArray[np.int64]) -> Floats:
            points = _dense(array[few])
            return points if factors is None else points * factors[few, None]

        frame = fit_frame(take, array.shape[0], array.dtype, low, high, metric)
        return cls(array, frame, factors, native=native)

    @classmethod
    def in_frame(cls, array: Array, frame: Frame, n_threads: int, *, first_row: int = 0) -> "Rows":
        """Return rows in the frame of a fitted model. Sparse rows ignore the shift of the frame.

        `first_row` is added to row numbers in error messages.
        """
        keep_sparse, native = stays_sparse(array), native_array(array, n_threads)
        factors = unit_factors(array, frame.metric, n_threads, first_row, native)
        if keep_sparse:
            check_finite(array, first_row)
            frame = Frame(np.zeros_like(frame.shift), frame.exponent, frame.metric)
        else:
            describe(array, factors, n_threads, first_row, native)
        return cls(array, frame, factors, stays_sparse=keep_sparse, native=native)

    def block_order(self, rng: np.random.RandomState) -> list[int]:
        """See `RowSet`."""
        return [0]

    def blocks_containing(self, indices: Indices) -> list[int]:
        """See `RowSet`."""
        return [0] if len(indices) else []

    def blocks(self, order: list[int] | None = None) -> Iterator[RowBlock]:
        """See `RowSet`."""
        for number in [0] if order is None else order:
            yield RowBlock(number, slice(None), self)

    def block_bounds(self, number: int) -> tuple[int, int]:
        """See `RowSet`."""
        return 0, self.n_rows

    @property
    def array(self) -> Any:
        """The array or CSR matrix, in the user's space."""
        return self._array

    def sample(self, indices: Indices) -> "Rows":
        """See `RowSet`. The indices may come in any order."""
        factors = None if self._factors is None else self._factors[indices]
        return Rows(self._array[indices], self.frame, factors, stays_sparse=self.stays_sparse)

    def after(self, n_rows: int) -> "Rows":
        """Return all rows but the first ones. A dense array is not copied."""
        factors = None if self._factors is None else self._factors[n_rows:]
        return Rows(self._array[n_rows:], self.frame, factors, stays_sparse=self.stays_sparse)

    def take(self, indices: Indices) -> Floats:
        """See `RowSet`. The indices may come in any order."""
        points = _dense(self._array[indices])
        if self._factors is not None:
            points *= self._factors[indices, None]
        return self.frame.enter(points)

    def fingerprint(self, indices: NDArray[np.int64]) -> list[Array]:
        """See `RowSet`."""
        if not sparse.issparse(self._array):
            return [self.take(indices)]
        some = self._array[indices]
        return [
            some.data.astype(np.float64),
            some.indices.astype(np.int64),
            some.indptr.astype(np.int64),
        ]

    def checksum(self, n_threads: int) -> int:
        """See `RowSet`."""
        return array_checksum(self._array, n_threads)

    def has_same_lengths(self, n_threads: int, *, by_columns: bool = False) -> bool:
        """Return False if the lengths of rows have changed since they were scaled to unit length.

        `by_columns` is that of the call of `unit_factors` that scaled them.
        """
        if self._factors is None:
            return True
        found = unit_factors(self._array, self.frame.metric, n_threads, by_columns=by_columns)
        return found is not None and np.array_equal(found, self._factors)

    def zero_rows(self) -> NDArray[np.bool_] | None:
        """Return a mask of the rows of length 0, if rows are scaled to unit length; None otherwise."""
        return None if self._factors is None else self._factors == 0

    def scaled(self) -> Any:
        """Copy all rows as float64 in the user's space, scaled to unit length for metric "cosine"."""
        points = self._array.astype(np.float64)
        if self._factors is None:
            return points
        if sparse.issparse(points):
            points.data *= np.repeat(self._factors, np.diff(points.indptr))
            return points
        return points * self._factors[:, None]

    def in_frame_units(self) -> Any:
        """Copy all rows of a matrix that stays sparse as float64 in the frame."""
        points = self.scaled()
        np.ldexp(points.data, self.frame.exponent, out=points.data)
        return points


def canonical(matrix: Any) -> Any:
    """Return a CSR matrix with ascending, unique columns in each row; copy only if necessary."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def stays_sparse(array: Any) -> bool:
    """Return True if the core computes with the nonzero values only.

    Rows of a small or fairly dense matrix are expanded a few at a time while they are read. The results
    are bit-for-bit those of a dense array.
    """
    if not sparse.issparse(array):
        return False
    cells = array.shape[0] * array.shape[1]
    return bool(cells > MAX_EXPANDED_CELLS and array.nnz < MIN_EXPANDED_DENSITY * cells)


def native_array(array: Any, n_threads: int = 1) -> NativeArray:
    """Return an array as the core reads it. The indices of a CSR matrix are checked here, once."""
    if not sparse.issparse(array):
        return array  # type: ignore[no-any-return]
    values, columns, starts = map(np.ascontiguousarray, (array.data, array.indices, array.indptr))
    return _core.CsrMatrix(
        values=values, columns=columns, starts=starts, n_features=array.shape[1], n_threads=n_threads
    )


class RowLengthError(InvalidValuesError):
    """A row cannot be scaled to unit length, because its length is infinite or nearly 0."""

    remedy = "Remove it, or multiply X by a power of two."

    def __init__(self, row: int, length: float) -> None:
        self.row = row
        self.length = length
        super().__init__(
            Message(
                "Row {row} of X has length {length:g}, which cannot be scaled to unit length. {remedy}",
                row=row,
                length=length,
                remedy=self.remedy,
            )
        )


def unit_factors(
    array: Array,
    metric: str,
    n_threads: int,
    first_row: int = 0,
    native: NativeArray | None = None,
    *,
    by_columns: bool = False,
) -> Floats | None:
    """Return 1 / |x| for each row if the metric is "cosine", else None. A zero row stays zero.

    `by_columns` adds squares in the order of the columns, so that an array and a CSR matrix of the same
    data have equal factors.
    """
    if metric != "cosine":
        return None
    norms = _core.row_norms(_unframed(array, native), n_threads, by_columns)
    with np.errstate(divide="ignore", over="ignore"):
        factors: Floats = np.where(norms > 0, 1 / norms, 0.0)
    for row in np.flatnonzero(np.isinf(factors) | np.isinf(norms))[:1]:
        if not np.isfinite(_not_finite_at(array, row)[1]):
            break  # `describe` reports the value.
        raise RowLengthError(first_row + int(row), float(norms[row]))
    return factors


def describe(
    array: Array,
    factors: Floats | None,
    n_threads: int,
    first_row: int = 0,
    native: NativeArray | None = None,
) -> tuple[Floats, Floats]:
    """Return the minimum and maximum of each column. Raise NotFiniteError if a value is not finite."""
    low, high, bad_row = _core.describe(_unframed(array, native, factors), n_threads)
    if bad_row >= 0:
        column, value = _not_finite_at(array, bad_row)
        raise NotFiniteError(value, first_row + bad_row, column)
    return low, high


def array_checksum(array: Array, n_threads: int, first_row: int = 0) -> int:
    """Return a checksum of the values of rows, whose numbers begin with `first_row`.

    It does not depend on the memory order and the type of the array. The checksum of several blocks is
    the sum of their checksums, modulo 2**64.
    """
    return _core.row_checksum(_unframed(array, None), first_row, n_threads)


def _core_rows(
    native: NativeArray, frame: Frame, factors: Floats | None, stays_sparse: bool
) -> _core.Rows:
    shift = None if stays_sparse else frame.shift
    return _core.Rows(
        native, shift=shift, exponent=frame.exponent, factors=factors, isa=instruction_set()
    )


def _unframed(array: Array, native: NativeArray | None, factors: Floats | None = None) -> _core.Rows:
    native = native_array(array) if native is None else native
    return _core_rows(native, Frame(np.zeros(array.shape[1]), 0), factors, stays_sparse(array))


def _dense(some: Any) -> Floats:
    """Return a few rows as a dense array of float64."""
    if not sparse.issparse(some):
        return np.array(some, dtype=np.float64)
    points = np.zeros(some.shape)
    points[np.repeat(np.arange(some.shape[0]), np.diff(some.indptr)), some.indices] = some.data
    return points


def _not_finite_at(array: Array, row: int) -> tuple[int, float]:
    """Return the column and value of the first value in a row that is not finite."""
    values = _dense(array[[row]])[0]
    column = int((~np.isfinite(values)).argmax())
    return column, float(values[column])


def check_finite(matrix: Any, first_row: int = 0) -> None:
    """Raise NotFiniteError if a stored value of a sparse matrix is not finite."""
    bad = ~np.isfinite(matrix.data[: matrix.indptr[-1]])
    if bad.any():
        at = int(bad.argmax())
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise NotFiniteError(float(matrix.data[at]), first_row + row, int(matrix.indices[at]))


def _largest(matrix: Any, factors: Floats | None) -> float:
    """Return the largest absolute value of a sparse matrix whose rows are scaled by `factors`."""
    check_finite(matrix)
    if factors is not None:
        return 1.0  # Rows have unit length.
    values = matrix.data[: matrix.indptr[-1]]
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
