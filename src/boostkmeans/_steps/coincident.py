"""Coincident clusters: clusters with the same centre.

Two clusters may each hold copies of the same point. No single move changes this. Merging such clusters
costs nothing and frees a cluster for rows that are far from their centre.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans._steps.partition import Partition

# Centres closer than this, relative to their distance from the origin of the frame, are considered
# equal. The value is well above the rounding error of a mean.
SAME_PLACE = 1e-9
# Up to this number of clusters, comparing all pairs is faster than sorting.
MAX_CLUSTERS_FOR_PAIRS = 64
# Values of a centre in the frame below this number are lost in float64 arithmetic: the squares of their
# differences are below the smallest float64, or below the rounding error of a difference.
MIN_VALUE = 1e-134
# Number of values of centres that are compared at a time.
VALUES_AT_ONCE = 2**20


def are_distinguishable(centres: Floats) -> bool:
    """Return False if two different centres are so close that their squared distance is rounded to 0.

    This happens if the values of the data differ by more than 150 orders of magnitude.
    """
    if not any(_is_tiny(some).any() for some in np.array_split(centres, _n_parts(centres))):
        return True
    n_different = len(np.unique(centres, axis=0))
    return len(np.unique(np.where(_is_tiny(centres), 0.0, centres), axis=0)) == n_different


def _n_parts(centres: Floats) -> int:
    """Return the number of parts in which to look at the centres, which may fill most of the memory."""
    return 1 + centres.size // VALUES_AT_ONCE


def _is_tiny(values: Floats) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (values != 0) & (np.abs(values) < MIN_VALUE)
    return found


def first_at_same_place(partition: Partition) -> NDArray[np.int64]:
    """Return, for each cluster, the first cluster with the same centre, which is usually itself.

    Centres are sorted along one random direction, so that equal centres become neighbours.
    """
    composites, k = partition.composites, partition.n_clusters
    if k <= MAX_CLUSTERS_FOR_PAIRS:
        isa = instruction_set()
        if not _core.has_coincident(composites, partition.weights, isa=isa):
            return np.arange(k)
    inverse = 1 / np.where(partition.weights > 0, partition.weights, 1.0)
    direction = np.random.default_rng(0).normal(size=composites.shape[1])
    shadow = (composites @ (direction / np.linalg.norm(direction))) * inverse
    reach = SAME_PLACE * np.sqrt(np.einsum("ij,ij->i", composites, composites)) * inverse
    order = np.argsort(shadow, kind="stable")
    near = np.flatnonzero(np.diff(shadow[order]) <= reach[order[1:]])
    a, b = order[near], order[near + 1]
    same = np.zeros(len(near), dtype=bool)
    for at, (i, j) in enumerate(zip(a, b, strict=True)):
        gap = np.linalg.norm(composites[i] * inverse[i] - composites[j] * inverse[j])
        same[at] = gap <= reach[j]
    if not same.any():
        return np.arange(k)
    links = coo_array((np.ones(same.sum()), (a[same], b[same])), shape=(k, k))
    _, group = connected_components(links, directed=False)
    firsts = np.full(k, k)
    np.minimum.at(firsts, group, np.arange(k))
    first: NDArray[np.int64] = firsts[group]
    return first
