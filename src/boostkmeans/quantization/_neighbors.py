"""`Neighbors`: the result of a nearest-neighbour search."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Neighbors(NamedTuple):
    """Nearest neighbours of each query, nearest first; ties are ordered by row number.

    Parameters
    ----------
    distances : ndarray of shape (n_queries, k)
        Squared distances.
    indices : ndarray of shape (n_queries, k), int64
        Row numbers.
    """

    distances: NDArray[Any]
    indices: NDArray[np.int64]
