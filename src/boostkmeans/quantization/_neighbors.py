"""`Neighbors`: the result of a nearest-neighbour search."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Neighbors(NamedTuple):
    """Nearest neighbours of each query, nearest first; ties are ordered by row number."""

    distances: NDArray[Any]
    """Squared distances, of shape (n_queries, k)."""
    indices: NDArray[np.int64]
    """Row numbers, of shape (n_queries, k)."""
