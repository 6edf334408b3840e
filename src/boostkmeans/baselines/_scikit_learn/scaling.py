"""Scaling of rows whose squares would overflow or underflow in scikit-learn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from boostkmeans._data.frame import Floats, exponent_for
from boostkmeans.baselines._baseline import FitData
from boostkmeans.baselines._scikit_learn.wrapper import for_scikit_learn

# If the largest value is within 2**-e and 2**e, scikit-learn gets the rows as they are. Sums of squares
# are then far from the limits of the type: those of float64 are at 2**1024 and 2**-1022, and those of
# float32 at 2**128 and 2**-126.
SAFE_EXPONENTS = {np.dtype(np.float64): 400, np.dtype(np.float32): 48}


@dataclass(frozen=True)
class Scaling:
    """The power of two by which rows are multiplied, which does not round: 2**0 for nearly all data."""

    exponent: int

    @classmethod
    def of(cls, data: FitData) -> "Scaling":
        """Return the scaling for the rows of a fit. The clock is paused: few data need a scaling."""
        array = data.array
        safe = SAFE_EXPONENTS.get(array.dtype)
        if safe is None:  # Bytes and float16 become float32, where their squares are safe.
            return cls(0)
        with data.watch.paused():
            values = array.data if sparse.issparse(array) else array
            largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
        exponent = exponent_for(largest)
        return cls(exponent if abs(exponent) > safe else 0)

    def rows(self, array: Any) -> Any:
        """Convert rows for scikit-learn, and scale them."""
        rows = for_scikit_learn(array)
        if self.exponent == 0:
            return rows
        if not sparse.issparse(rows):
            return np.ldexp(rows, self.exponent)
        values = np.ldexp(rows.data, self.exponent)
        return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)

    def points(self, points: Floats) -> Floats:
        """Scale centres of the user."""
        return np.ldexp(points, self.exponent) if self.exponent else points

    def centres(self, scaled: Any) -> Floats:
        """Return the centres of scaled rows in the unit of the user, as float64."""
        centres: Floats = scaled.astype(np.float64)
        return np.ldexp(centres, -self.exponent) if self.exponent else centres

    def inertia(self, scaled: float) -> float:
        """Return an inertia in the unit of the user; inf if float64 cannot hold it."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(scaled, -2 * self.exponent))
