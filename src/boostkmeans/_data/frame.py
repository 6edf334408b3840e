"""Frame: the shift and the power of two that bring data near 0 and within [-1, 1]."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.object_size import SizedByFields

Array = NDArray[Any]
Floats = NDArray[np.float64]

METRICS = ("euclidean", "cosine")

# Number of rows from which the shift of a frame is computed, as their median. The shift only has to be
# near the data.
ROWS_FOR_MEDIAN = 256
# Below this exponent, both 2**exponent and its inverse are normal numbers.
MAX_FACTOR_EXPONENT = 1000
# Points of frames with larger exponents may be rounded to subnormal numbers when they leave the frame.
MAX_EXACT_EXPONENT = 500


@dataclass(frozen=True)
class Frame(SizedByFields):
    """The map x -> (x - shift) * 2**exponent from the user's space to the core's.

    In the frame, the median of the data is near 0 and all values are within [-1, 1]. Float32 proposals
    are then as accurate as possible, and results do not depend on the offset or the unit of the data.
    Rows that stay sparse are not shifted, because a shift would make their zeros nonzero. With metric
    "cosine", rows are first scaled to unit length.
    """

    shift: Floats
    exponent: int
    metric: str = "euclidean"

    def enter(self, points: Floats) -> Floats:
        """Map points of the user's space, such as centres, into the frame."""
        return np.ascontiguousarray(_scale(points - self.shift, self.exponent))

    def leave(self, points: Floats) -> Floats:
        """Map points of the frame into the user's space."""
        result = _scale(points, -self.exponent)
        if self.shift.any():
            result += self.shift
        return result

    @property
    def is_exact(self) -> bool:
        """True if `leave` and `enter` do not round points."""
        return not self.shift.any() and self.exponent < MAX_EXACT_EXPONENT

    def inertia(self, in_frame: float) -> float:
        """Convert a sum of squared distances to the user's unit; inf if float64 cannot hold it."""
        try:
            return math.ldexp(in_frame, -2 * self.exponent)
        except OverflowError:
            return math.inf


def fit_frame(
    take: Callable[[NDArray[np.int64]], Floats],
    n_rows: int,
    dtype: np.dtype[Any],
    low: Floats,
    high: Floats,
    metric: str,
) -> Frame:
    """Return the frame for rows whose columns lie between `low` and `high`.

    `take(indices)` returns some of the rows. The shift is the columnwise median of a few rows. Unlike
    the mean, it is robust against outliers. It is rounded so that the core can subtract it in the rows'
    own precision without a second rounding.
    """
    few = np.unique(np.linspace(0, n_rows - 1, ROWS_FOR_MEDIAN).astype(np.int64))
    middle = (len(few) - 1) // 2  # The lower median. `np.quantile` takes ten times as long.
    shift: Floats = np.partition(take(few), middle, axis=0)[middle]
    if dtype != np.float64:
        shift = shift.astype(np.float32).astype(np.float64)
    with np.errstate(over="ignore"):
        spread = float(np.maximum(high - shift, shift - low).max())
    if not math.isfinite(spread):  # Centring values near the limits of float64 would overflow.
        shift = np.zeros_like(shift)
        spread = float(np.maximum(np.abs(high), np.abs(low)).max())
    return Frame(shift, exponent_for(spread), metric)


def exponent_for(spread: float) -> int:
    """Return the exponent of the power of two that brings `spread` below 1."""
    return -math.frexp(spread)[1] if spread > 0 else 0


def _scale(points: Floats, exponent: int) -> Floats:
    """Return points * 2**exponent, exactly. ldexp is slower than a product."""
    use_product = abs(exponent) < MAX_FACTOR_EXPONENT
    result: Floats = points * math.ldexp(1.0, exponent) if use_product else np.ldexp(points, exponent)
    return result
