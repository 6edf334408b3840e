"""Rows: the one representation of data.

The user's array or CSR matrix, seen through a frame, never copied whole.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import _core
from boostkmeans._runtime.errors import NotFiniteError
from boostkmeans._runtime.instruction_set import instruction_set

# What the core reads as it is. Everything else becomes the first of these that holds it.
DTYPES = (np.float64, np.float32, np.float16, np.uint8, np.int8)
# The same for sparse matrices. These hold the integers of the types above.
SPARSE_DTYPES = (np.float64, np.float32)

# A sparse matrix with more cells stays sparse, if fewer than that share of them have a value.
MOST_CELLS_TO_EXPAND, LEAST_DENSITY_TO_EXPAND = 2**22, 1 / 4

# For the shift of a frame, which needs to be near the data and nothing more.
ROWS_FOR_MEDIAN = 256
# Where NumPy serves: rows that are copied at a time.
ROWS_AT_ONCE = 4096

# Powers of two that are normal numbers, and so are their inverses.
LARGEST_EXPONENT = 1000

METRICS = ("euclidean", "cosine")

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """Where the data lies and how wide it spreads: x -> (x - shift) * 2**exponent.

    In its frame, data has its median near 0 and its values within [-1, 1], so that float32 proposals
    are as good as they can be, and the result does not depend on offset or unit of measurement.
    Rows that stay sparse are not shifted: most of their values are 0, and are to stay so.
    With metric "cosine", rows are first scaled to unit length.
    """

    shift: Floats
    exponent: int
    metric: str = "euclidean"

    def enter(self, points: Floats) -> Floats:
        """Points of the user's space (centres, say) in the frame."""
        return np.ascontiguousarray(_scaled(points - self.shift, self.exponent))

    def leave(self, points: Floats) -> Floats:
        """Points of the frame in the user's space."""
        result = _scaled(points, -self.exponent)
        if not self.is_exact:
            result += self.shift
        return result

    @property
    def is_exact(self) -> bool:
        """Whether points come back from the frame as they were, to the last bit."""
        return not self.shift.any()

    def inertia(self, in_frame: float) -> float:
        """A sum of squared distances in the user's unit; infinite where float64 cannot hold it."""
        try:
            return math.ldexp(in_frame, -2 * self.exponent)
        except OverflowError:
            return math.inf


def _scaled(points: Floats, exponent: int) -> Floats:
    """Times 2**exponent, exactly. A product is many times as fast as ldexp, where it serves."""
    fits = abs(exponent) < LARGEST_EXPONENT
    result: Floats = points * math.ldexp(1.0, exponent) if fits else np.ldexp(points, exponent)
    return result


class Part(NamedTuple):
    """Rows that are in memory at the same time."""

    number: int
    where: slice
    """Which of all rows they are."""
    rows: "Rows"


class Rows:
    """An array in a frame, as the core reads it. It is one part; `StreamedRows` have many."""

    n_parts = 1

    def __init__(
        self, array: Array, frame: Frame, factors: Floats | None, *, stays_sparse: bool = False
    ) -> None:
        """`stays_sparse`: a CSR matrix whose rows are not expanded. The frame has no shift then."""
        self.frame = frame
        self.stays_sparse = stays_sparse
        self.core = _core_rows(array, frame, factors, stays_sparse)
        self.n_rows, self.n_features = array.shape
        self.row_bytes = self.n_features * array.dtype.itemsize
        self._array: Any = array
        self._factors = factors

    @classmethod
    def in_own_frame(cls, array: Array, metric: str, n_threads: int) -> "Rows":
        """Rows in the frame that suits them. Raises ValueError where a value is not finite."""
        factors = unit_factors(array, metric, n_threads)
        if stays_sparse(array):
            frame = Frame(np.zeros(array.shape[1]), _exponent(_largest(array, factors)), metric)
            return cls(array, frame, factors, stays_sparse=True)
        low, high = describe(array, factors, n_threads)

        def take(few: NDArray[np.int64]) -> Floats:
            points = _dense(array[few])
            return points if factors is None else points * factors[few, None]

        return cls(array, frame_of(take, array.shape[0], array.dtype, low, high, metric), factors)

    @classmethod
    def in_frame(cls, array: Array, frame: Frame, n_threads: int, *, first_row: int = 0) -> "Rows":
        """Rows in a given frame, of a fitted model; those that stay sparse in one without its shift.

        Raises ValueError where a value is not finite; `first_row` is the number of the first one to the
        user, for that error.
        """
        sparsely = stays_sparse(array)
        factors = unit_factors(array, frame.metric, n_threads, first_row)
        if sparsely:
            _check_finite(array, first_row)
            frame = Frame(np.zeros_like(frame.shift), frame.exponent, frame.metric)
        else:
            describe(array, factors, n_threads, first_row)
        return cls(array, frame, factors, stays_sparse=sparsely)

    def order(self, rng: np.random.RandomState) -> list[int]:
        """The numbers of all parts, in random order if there are many."""
        return [0]

    def parts_with(self, indices: NDArray[np.integer[Any]]) -> list[int]:
        """The numbers of the parts that these rows are in."""
        return [0] if len(indices) else []

    def parts(self, order: list[int] | None = None) -> Iterator[Part]:
        """All rows, part by part; or those parts that are named."""
        for number in [0] if order is None else order:
            yield Part(number, slice(None), self)

    def sample(self, indices: NDArray[np.integer[Any]]) -> "Rows":
        """Some rows, copied, as rows in the same frame."""
        factors = None if self._factors is None else self._factors[indices]
        return Rows(self._array[indices], self.frame, factors, stays_sparse=self.stays_sparse)

    def fingerprint(self, indices: NDArray[np.int64]) -> list[Array]:
        """Arrays that tell these rows, which ascend, from others."""
        if not sparse.issparse(self._array):
            return [self.take(indices)]
        some = self._array[indices]
        return [
            some.data.astype(np.float64),
            some.indices.astype(np.int64),
            some.indptr.astype(np.int64),
        ]

    def take(self, indices: NDArray[np.integer[Any]]) -> Floats:
        """Some rows, copied, as float64 in the frame, and dense: for rows that become centres."""
        points = _dense(self._array[indices])
        if self._factors is not None:
            points *= self._factors[indices, None]
        return self.frame.enter(points)

    def scaled(self) -> Any:
        """All rows, copied, as float64 outside of the frame; of unit length if that is the metric."""
        points = self._array.astype(np.float64)
        if self._factors is None:
            return points
        if sparse.issparse(points):
            points.data *= np.repeat(self._factors, np.diff(points.indptr))
            return points
        return points * self._factors[:, None]


def canonical(matrix: Any) -> Any:
    """A CSR matrix as the core reads it, copied only if need be: columns ascend, none is there twice."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def stays_sparse(array: Any) -> bool:
    """Whether rows are computed with by their terms alone.

    Those of a matrix that is small, or hardly sparse, are expanded when they are read, a few at a time,
    and give the same result as a dense array, to the last bit.
    """
    if not sparse.issparse(array):
        return False
    cells = array.shape[0] * array.shape[1]
    return bool(cells > MOST_CELLS_TO_EXPAND and array.nnz < LEAST_DENSITY_TO_EXPAND * cells)


def _dense(some: Any) -> Floats:
    """A few rows as an array of float64."""
    if not sparse.issparse(some):
        return np.array(some, dtype=np.float64)
    points = np.zeros(some.shape)
    points[np.repeat(np.arange(some.shape[0]), np.diff(some.indptr)), some.indices] = some.data
    return points


def _core_rows(array: Any, frame: Frame, factors: Floats | None, stays_sparse: bool) -> _core.Rows:
    if not sparse.issparse(array):
        return _core.Rows(array, frame.shift.tolist(), frame.exponent, factors, instruction_set())
    shift = None if stays_sparse else frame.shift.tolist()
    values, columns, starts = map(np.ascontiguousarray, (array.data, array.indices, array.indptr))
    return _core.Rows(
        values, columns, starts, array.shape[1], shift, frame.exponent, factors, instruction_set()
    )


def _unframed(array: Array, factors: Floats | None = None) -> _core.Rows:
    return _core_rows(array, Frame(np.zeros(array.shape[1]), 0), factors, stays_sparse(array))


def unit_factors(array: Array, metric: str, n_threads: int, first_row: int = 0) -> Floats | None:
    """1 / |x| for each row if rows count by their direction. A zero row has none and stays zero."""
    if metric != "cosine":
        return None
    norms = _core.row_norms(_unframed(array), n_threads)
    with np.errstate(divide="ignore", over="ignore"):
        factors: Floats = np.where(norms > 0, 1 / norms, 0.0)
    for row in np.flatnonzero(np.isinf(factors) | np.isinf(norms))[:1]:
        if not np.isfinite(_not_finite_at(array, row)[1]):
            break  # the value is to blame, and it will be said so
        raise ValueError(
            f"Row {first_row + row} of X has length {norms[row]:g}, which cannot be scaled to unit "
            "length. Remove it, or multiply X by a power of two."
        )
    return factors


def _not_finite_at(array: Array, row: int) -> tuple[int, float]:
    """Column and value of the first one in a row that is not finite."""
    values = _dense(array[[row]])[0]
    column = int((~np.isfinite(values)).argmax())
    return column, float(values[column])


def describe(
    array: Array, factors: Floats | None, n_threads: int, first_row: int = 0
) -> tuple[Floats, Floats]:
    """The lowest and the highest value of each column. Raises ValueError where one is not finite."""
    low, high, bad_row = _core.describe(_unframed(array, factors), n_threads)
    if bad_row >= 0:
        column, value = _not_finite_at(array, bad_row)
        raise _not_finite(value, first_row + bad_row, column)
    return low, high


def _check_finite(matrix: Any, first_row: int = 0) -> None:
    bad = ~np.isfinite(matrix.data[: matrix.indptr[-1]])
    if bad.any():
        at = int(bad.argmax())
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise _not_finite(matrix.data[at], first_row + row, int(matrix.indices[at]))


def _not_finite(value: float, row: int, column: int) -> NotFiniteError:
    return NotFiniteError(float(value), row, column)


def _largest(matrix: Any, factors: Floats | None) -> float:
    """The largest value of a sparse matrix, whatever its sign."""
    _check_finite(matrix)
    if factors is not None:
        return 1.0  # no value of a row of unit length is larger
    values = matrix.data[: matrix.indptr[-1]]
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def frame_of(
    take: Callable[[NDArray[np.int64]], Floats],
    n_rows: int,
    dtype: np.dtype[Any],
    low: Floats,
    high: Floats,
    metric: str,
) -> Frame:
    """The frame that suits rows with values between `low` and `high`, of which `take` gives some."""
    shift = _middle(take, n_rows, dtype)
    with np.errstate(over="ignore"):
        spread = float(np.maximum(high - shift, shift - low).max())
    if not math.isfinite(spread):  # near the end of float64: such data needs no centring
        shift = np.zeros_like(shift)
        spread = float(np.maximum(np.abs(high), np.abs(low)).max())
    return Frame(shift, _exponent(spread), metric)


def _exponent(spread: float) -> int:
    """Of the power of two that brings it below 1."""
    return -math.frexp(spread)[1] if spread > 0 else 0


def _middle(take: Callable[[NDArray[np.int64]], Floats], n_rows: int, dtype: np.dtype[Any]) -> Floats:
    """Median of a few rows by column. Unlike a mean, it stays with the data if some rows are far off.

    Rounded so that the core can subtract it in the rows' own precision without a second rounding.
    """
    few = np.unique(np.linspace(0, n_rows - 1, ROWS_FOR_MEDIAN).astype(np.int64))
    middle: Floats = np.quantile(take(few), 0.5, axis=0, method="lower")
    return middle if dtype == np.float64 else middle.astype(np.float32).astype(np.float64)
