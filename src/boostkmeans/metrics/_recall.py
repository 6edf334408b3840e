"""Recall of an approximate nearest-neighbour search."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._data.frame import Array, Floats
from boostkmeans._runtime.errors import ParameterError


@overload
def recall_at(r: int, found: ArrayLike, truth: ArrayLike) -> float: ...
@overload
def recall_at(r: Sequence[int], found: ArrayLike, truth: ArrayLike) -> Floats: ...
def recall_at(r: int | Sequence[int], found: ArrayLike, truth: ArrayLike) -> float | Floats:
    """Compute the share of queries whose nearest neighbour is among the first r results.

    Parameters
    ----------
    r : int or sequence of int
        Number of results to consider, or several such numbers.
    found : array-like of shape (n_queries, n_results)
        Row numbers that the search returned, best first.
    truth : array-like of shape (n_queries,) or (n_queries, n_neighbors)
        Row number of the true nearest neighbour of each query. With several columns, the first is used.

    Returns
    -------
    float or ndarray of shape (len(r),)
        Recall between 0 and 1; one value per r if `r` is a sequence.

    Examples
    --------
    >>> from boostkmeans.metrics import recall_at
    >>> recall_at(1, [[3, 7], [5, 4]], [3, 4])
    0.5
    >>> recall_at([1, 2], [[3, 7], [5, 4]], [3, 4]).tolist()
    [0.5, 1.0]
    """
    rows, targets = _check_results(found, truth)
    n_results = rows.shape[1]
    depths = [_check_depth(depth, n_results) for depth in np.atleast_1d(np.asarray(r)).tolist()]
    hits = rows == targets[:, None]
    ranks = np.where(hits.any(axis=1), hits.argmax(axis=1), n_results)
    shares: Floats = (ranks < np.asarray(depths)[:, None]).mean(axis=1)
    return float(shares[0]) if np.ndim(r) == 0 else shares


def _check_results(found: ArrayLike, truth: ArrayLike) -> tuple[Array, Array]:
    rows, targets = np.asarray(found), np.asarray(truth)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(
            "found must be a 2D array with one row per query, best result first. Got shape "
            f"{rows.shape}."
        )
    if targets.ndim not in (1, 2) or len(targets) != len(rows) or targets.size == 0:
        raise ValueError(
            f"truth must have one entry or one row for each of the {len(rows)} queries. Got shape "
            f"{targets.shape}."
        )
    return rows, targets if targets.ndim == 1 else targets[:, 0]


def _check_depth(r: Any, n_results: int) -> int:
    if not isinstance(r, Integral) or not 1 <= int(r) <= n_results:
        expected = f"an int in the range [1, {n_results}] (found has {n_results} columns)"
        raise ParameterError("r", expected, r, owner="recall_at")
    return int(r)
