"""Limits: the similarity or distance from which two rows form a pair."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from boostkmeans._data.frame import METRICS, Floats, Frame
from boostkmeans._runtime.errors import Message, ParameterError
from boostkmeans._runtime.parameter_checks import NON_NEGATIVE_FLOAT, choice

# Rounding error that is allowed in favour of a pair, absolute for cosines and relative for distances.
# Distances are computed in float64. Copies of a row that differ by a factor have the similarity 1.
ROUNDING = 1e-12
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
        value = float(threshold) if is_number else math.nan
        if not (0 < value <= 1 if metric == "cosine" else 0 <= value < math.inf):
            raise ParameterError("threshold", expected, threshold, owner=owner)
        return cls(metric, value)

    @property
    def square(self) -> float:
        """Largest squared distance of a pair. Rows have unit length for metric "cosine"."""
        if self.metric == "cosine":
            return 2 * (1 - self.threshold + ROUNDING)
        return self.threshold**2 * (1 + ROUNDING)

    def square_in(self, frame: Frame) -> float:
        """Return the largest squared distance of a pair in a frame."""
        return math.ldexp(self.square, 2 * frame.exponent)

    def similarities(self, squares: Floats) -> Floats:
        """Return the cosines or the distances that belong to squared distances."""
        if self.metric == "cosine":
            return np.clip(1 - squares / 2, -1.0, 1.0)
        found: Floats = np.sqrt(squares)
        return found
