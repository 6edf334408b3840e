"""Rounding: distances that are only rounding errors are 0."""

from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats

# Distance, relative to the length of a centre, up to which a row lies on it. The mean of equal rows
# differs from them by a few units in the last place.
RELATIVE = 64 * float(np.finfo(np.float64).eps)


def squared_lengths(centres: Floats) -> Floats:
    """Return the squared length of each centre."""
    found: Floats = np.einsum("ij,ij->i", centres, centres)
    return found


def without_rounding(squared: Any, lengths: Any) -> Floats:
    """Replace squared distances by 0 that are rounding errors of centres with these squared lengths.

    >>> without_rounding(np.array([1e-34, 1e-3]), 1.0).tolist()
    [0.0, 0.001]
    """
    return np.where(squared <= RELATIVE**2 * lengths, 0.0, squared)
