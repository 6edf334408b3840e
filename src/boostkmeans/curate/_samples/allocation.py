"""Allocation: how many rows each cluster contributes to a sample."""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def fill_evenly(sizes: Counts, n: int, rng: np.random.RandomState) -> Counts:
    """Return the numbers of rows of each cluster: equal shares, but at most all rows of a cluster.

    The shares add up to n. Rows that small clusters cannot provide come from larger ones in equal parts,
    as water that is poured into vessels. A remainder is given to clusters at random, one row each.

    >>> fill_evenly(np.array([1, 100, 5, 50]), 20, np.random.RandomState(0)).tolist()
    [1, 7, 5, 7]
    """
    level = _water_level(sizes, n)
    shares = np.minimum(sizes, level)
    open_ones = np.flatnonzero(sizes > level)
    shares[rng.permutation(open_ones)[: n - int(shares.sum())]] += 1
    return shares


def _water_level(sizes: Counts, n: int) -> int:
    """Return the largest level such that min(size, level) adds up to at most n."""
    ordered = np.sort(sizes)
    below = np.concatenate([[0], np.cumsum(ordered)[:-1]])
    left = len(sizes) - np.arange(len(sizes))
    # With the i smallest clusters full, all others have the level (n - below) / left.
    levels = (n - below) // left
    fits = np.flatnonzero(levels < ordered)
    return int(levels[fits[0]]) if len(fits) else int(ordered[-1])


def allocate(levels: list[NDArray[np.int32]], n: int, rng: np.random.RandomState) -> Counts:
    """Return the number of rows of each cluster of the last level.

    `levels` has the label of each row at each level, from the coarsest to the finest. Every cluster of a
    level is part of one cluster of the level above. The rows of a sample are divided evenly between the
    clusters of the first level, the rows of each of them between its clusters of the next level, and so
    on (Vo et al. 2024).
    """
    finest = levels[-1]
    members = np.bincount(finest)
    n_clusters = len(members)
    above = [_parents(labels, finest, n_clusters) for labels in levels[:-1]]
    shares = np.zeros(n_clusters, dtype=np.int64)

    def divide(clusters: Counts, n_rows: int, level: int) -> None:
        if level == len(above):
            shares[clusters] = fill_evenly(members[clusters], n_rows, rng)
            return
        names, part = np.unique(above[level][clusters], return_inverse=True)
        sizes = np.bincount(part.ravel(), weights=members[clusters], minlength=len(names))
        for number, share in enumerate(fill_evenly(sizes.astype(np.int64), n_rows, rng)):
            if share:
                divide(clusters[part.ravel() == number], int(share), level + 1)

    divide(np.flatnonzero(members), n, 0)
    return shares


def _parents(labels: NDArray[np.int32], finest: NDArray[np.int32], n_clusters: int) -> Counts:
    """Return the label of each cluster of the finest level at a level above it."""
    parents = np.zeros(n_clusters, dtype=np.int64)
    parents[finest] = labels
    return parents
