"""Clusters that share one centre: a waste that single moves cannot undo, and that costs nothing to end.

Two clusters may hold copies of one point each. No single move improves this, yet joining them is free,
and the cluster that becomes free may serve rows that are far from their centre.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from boostkmeans._rows import Floats

# Relative to the distance from the origin of the frame: well above the rounding of a mean.
SAME_PLACE = 1e-9


def first_at_same_place(centres: Floats) -> NDArray[np.int64]:
    """For each centre the first one at the same place: itself, as a rule.

    Neighbours are sought along one direction only: those at the same place follow each other there.
    """
    direction = np.random.default_rng(0).normal(size=centres.shape[1])
    shadow = centres @ (direction / np.linalg.norm(direction))
    reach = SAME_PLACE * np.linalg.norm(centres, axis=1)
    order = np.argsort(shadow, kind="stable")
    near = np.flatnonzero(np.diff(shadow[order]) <= reach[order[1:]])
    a, b = order[near], order[near + 1]
    same = np.linalg.norm(centres[a] - centres[b], axis=1) <= reach[b]
    if not same.any():
        return np.arange(len(centres))
    links = coo_array((np.ones(same.sum()), (a[same], b[same])), shape=(len(centres),) * 2)
    _, group = connected_components(links, directed=False)
    firsts = np.full(len(centres), len(centres))
    np.minimum.at(firsts, group, np.arange(len(centres)))
    first: NDArray[np.int64] = firsts[group]
    return first
