"""Clusters that share one centre: a waste that single moves cannot undo, and that costs nothing to end.

Two clusters may hold copies of one point each. No single move improves this, yet joining them is free,
and the cluster that becomes free may serve rows that are far from their centre.
"""

import numpy as np
from numpy.typing import NDArray

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
    first = np.arange(len(centres))
    for a, b in zip(order[near], order[near + 1], strict=True):
        if np.linalg.norm(centres[a] - centres[b]) <= reach[b]:
            group = (first == first[a]) | (first == first[b])
            first[group] = min(first[a], first[b])
    return first
