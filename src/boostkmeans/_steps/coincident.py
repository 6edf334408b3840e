"""Clusters that share one centre: a waste that single moves cannot undo, and that costs nothing to end.

Two clusters may hold copies of one point each. No single move improves this, yet joining them is free,
and the cluster that becomes free may serve rows that are far from their centre.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from boostkmeans._steps.partition import Partition

# Relative to the distance from the origin of the frame: well above the rounding of a mean.
SAME_PLACE = 1e-9


def first_at_same_place(partition: Partition) -> NDArray[np.int64]:
    """For each cluster the first one whose centre is at the same place: itself, as a rule.

    Neighbours are sought along one direction only: those at the same place follow each other there.
    """
    composites = partition.composites
    inverse = 1 / np.where(partition.weights > 0, partition.weights, 1.0)
    direction = np.random.default_rng(0).normal(size=composites.shape[1])
    shadow = (composites @ (direction / np.linalg.norm(direction))) * inverse
    reach = SAME_PLACE * np.sqrt(np.einsum("ij,ij->i", composites, composites)) * inverse
    order = np.argsort(shadow, kind="stable")
    near = np.flatnonzero(np.diff(shadow[order]) <= reach[order[1:]])
    a, b = order[near], order[near + 1]
    gaps = [
        np.linalg.norm(composites[i] * inverse[i] - composites[j] * inverse[j])
        for i, j in zip(a, b, strict=True)
    ]
    same = np.array(gaps) <= reach[b]
    k = partition.n_clusters
    if not same.any():
        return np.arange(k)
    links = coo_array((np.ones(same.sum()), (a[same], b[same])), shape=(k, k))
    _, group = connected_components(links, directed=False)
    firsts = np.full(k, k)
    np.minimum.at(firsts, group, np.arange(k))
    first: NDArray[np.int64] = firsts[group]
    return first
