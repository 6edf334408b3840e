"""Limits: the similarity or distance from which two rows form a pair."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from boostkmeans._data.frame import METRICS, Floats, Frame
from boostkmeans._runtime.errors import Message, ParameterError
from boostkmeans._runtime.parameter_checks import NON_NEGATIVE_FLOAT, choice, is_finite

# Rounding error that is allowed in favour of a pair, absolute for cosines and relative for distances.
# Distances are computed in float64. Copies of a row that differ by a factor have the similarity 1.
ROUNDING = 1e-12
# Thresholds beyond this power of two exceed all distances in a frame, where values are at most 1.
MAX_EXPONENT = 60
COSINE_RANGE = Message("a float in the range (0, 1]", shell="a number above 0 and at most 1")


@dataclass(frozen=True)
class PairLimit:
    """The metric, and the threshold: a cosine similarity or a Euclidean distance."""

    metric: str
    threshold: float

    @classmethod
    def checked(cls, metric: Any, threshold: Any, owner: str) -> "PairLimit":
        """Return the limit, or raise ParameterError."""
        allowed = choice(METRICS)
        if not allowed.accepts(metric):
            raise ParameterError("metric", allowed.expected, metric, owner=owner)
        expected = COSINE_RANGE if metric == "cosine" else NON_NEGATIVE_FLOAT
        is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
        value = float(threshold) if is_number and is_finite(threshold) else math.nan
        if not (0 < value <= 1 if metric == "cosine" else 0 <= value < math.inf):
            raise ParameterError("threshold", expected, threshold, owner=owner)
        return cls(metric, value)

    def square_in(self, frame: Frame) -> float:
        """Return the largest squared distance of a pair in a frame."""
        if self.metric == "cosine":  # Rows have unit length.
            return math.ldexp(2 * (1 - self.threshold + ROUNDING), 2 * frame.exponent)
        mantissa, exponent = math.frexp(self.threshold)
        in_frame = math.ldexp(mantissa, min(exponent + frame.exponent, MAX_EXPONENT))
        return in_frame**2 * (1 + ROUNDING)

    def similarities(self, squares: Floats, frame: Frame) -> Floats:
        """Return the cosines or the distances that belong to squared distances in a frame."""
        if self.metric == "cosine":
            return np.clip(1 - np.ldexp(squares, -2 * frame.exponent) / 2, -1.0, 1.0)
        # The square root comes first: the square may be beyond float64 in the unit of the user.
        with np.errstate(over="ignore"):  # Distances beyond float64 are infinite.
            found: Floats = np.ldexp(np.sqrt(squares), -frame.exponent)
        return found
