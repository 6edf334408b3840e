"""Rows: the one representation of data. The user's array, seen through a frame, never copied whole."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._instruction_set import instruction_set

# What the core reads as it is. Everything else becomes the first of these that holds it.
DTYPES = (np.float64, np.float32, np.float16, np.uint8, np.int8)

# For the shift of a frame, which needs to be near the data and nothing more.
ROWS_FOR_MEDIAN = 256
# Where NumPy serves: rows that are copied at a time.
ROWS_AT_ONCE = 4096

# Powers of two that are normal numbers, and so are their inverses.
LARGEST_EXPONENT = 1000

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """Where the data lies and how wide it spreads: x -> (x - shift) * 2**exponent.

    In its frame, data has its median near 0 and its values within [-1, 1], so that float32 proposals
    are as good as they can be, and the result does not depend on offset or unit of measurement.
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
        result: Floats = _scaled(points, -self.exponent) + self.shift
        return result

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


class Rows:
    """An array in a frame, as the core reads it."""

    def __init__(self, array: Array, frame: Frame, factors: Floats | None) -> None:
        self.frame = frame
        self.core = _core.Rows(array, frame.shift.tolist(), frame.exponent, factors, instruction_set())
        self.n_rows, self.n_features = array.shape
        self.row_bytes = self.n_features * array.itemsize
        self._array = array
        self._factors = factors

    @classmethod
    def in_own_frame(cls, array: Array, metric: str, n_threads: int) -> "Rows":
        """Rows in the frame that suits them. Raises ValueError where a value is not finite."""
        factors = _unit_factors(array, metric, n_threads)
        low, high = _describe(array, factors, n_threads)
        return cls(array, _frame_of(array, factors, low, high, metric), factors)

    @classmethod
    def in_frame(cls, array: Array, frame: Frame, n_threads: int, *, first_row: int = 0) -> "Rows":
        """Rows in a given frame, of a fitted model. Raises ValueError where a value is not finite.

        `first_row` is the number of the first one to the user, for that error.
        """
        factors = _unit_factors(array, frame.metric, n_threads, first_row)
        _describe(array, factors, n_threads, first_row)
        return cls(array, frame, factors)

    def sample(self, indices: NDArray[np.integer[Any]]) -> "Rows":
        """Some rows, copied, as rows in the same frame."""
        factors = None if self._factors is None else self._factors[indices]
        return Rows(self._array[indices], self.frame, factors)

    def take(self, indices: NDArray[np.integer[Any]]) -> Floats:
        """Some rows, copied, as float64 in the frame."""
        points: Floats = self._array[indices].astype(np.float64)
        if self._factors is not None:
            points *= self._factors[indices, None]
        return self.frame.enter(points)


def _unframed(array: Array, factors: Floats | None = None) -> _core.Rows:
    return _core.Rows(array, [0.0] * array.shape[1], 0, factors, instruction_set())


def _unit_factors(array: Array, metric: str, n_threads: int, first_row: int = 0) -> Floats | None:
    """1 / |x| for each row if rows count by their direction. A zero row has none and stays zero."""
    if metric != "cosine":
        return None
    norms = _core.row_norms(_unframed(array), n_threads)
    with np.errstate(divide="ignore", over="ignore"):
        factors: Floats = np.where(norms > 0, 1 / norms, 0.0)
    for row in np.flatnonzero(np.isinf(factors) | np.isinf(norms))[:1]:
        if not np.isfinite(array[row]).all():
            break  # the value is to blame, and `_describe` will say so
        raise ValueError(
            f"Row {first_row + row} of X has length {norms[row]:g}, which cannot be scaled to unit "
            "length. Remove it, or multiply X by a power of two."
        )
    return factors


def _describe(
    array: Array, factors: Floats | None, n_threads: int, first_row: int = 0
) -> tuple[Floats, Floats]:
    low, high, bad_row = _core.describe(_unframed(array, factors), n_threads)
    if bad_row >= 0:
        column = int((~np.isfinite(array[bad_row])).argmax())
        value = "NaN" if np.isnan(array[bad_row, column]) else "infinity"
        raise ValueError(
            f"Input X contains {value} (first at row {first_row + bad_row}, column {column}). "
            "Boost k-means needs finite values: remove or impute such rows first."
        )
    return low, high


def _frame_of(array: Array, factors: Floats | None, low: Floats, high: Floats, metric: str) -> Frame:
    shift = _middle(array, factors)
    with np.errstate(over="ignore"):
        spread = float(np.maximum(high - shift, shift - low).max())
    if not math.isfinite(spread):  # near the end of float64: such data needs no centring
        shift = np.zeros_like(shift)
        spread = float(np.maximum(np.abs(high), np.abs(low)).max())
    exponent = -math.frexp(spread)[1] if spread > 0 else 0
    return Frame(shift, exponent, metric)


def _middle(array: Array, factors: Floats | None) -> Floats:
    """Median of a few rows by column. Unlike a mean, it stays with the data if some rows are far off.

    Rounded so that the core can subtract it in the rows' own precision without a second rounding.
    """
    few = np.unique(np.linspace(0, len(array) - 1, ROWS_FOR_MEDIAN).astype(np.int64))
    points = array[few].astype(np.float64)
    if factors is not None:
        points *= factors[few, None]
    middle: Floats = np.quantile(points, 0.5, axis=0, method="lower")
    return middle if array.dtype == np.float64 else middle.astype(np.float32).astype(np.float64)
