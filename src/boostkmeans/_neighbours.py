"""Lists of the nearest other clusters of each cluster, without comparing all with all where k is large."""

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._growth import Growth, SplitRules
from boostkmeans._instruction_set import instruction_set
from boostkmeans._rows import Floats, Frame, Rows

Lists = NDArray[np.int32]

# Up to here all pairs are compared: that is as fast.
LARGEST_EXACT = 2048
# Beyond, centres look into the nearest groups of centres, of this size on average, until they have seen
# so many times as many as asked for: see "Neighbours" in docs/benchmarks.md.
GROUP_SIZE, SEEN_PER_NEIGHBOUR = 32, 16


def neighbour_lists(centres: Floats, n_neighbours: int, n_threads: int) -> Lists:
    """The nearest other centres of each one, nearest first; -1 where there are no more of them."""
    k = len(centres)
    if k <= max(LARGEST_EXACT, n_neighbours * SEEN_PER_NEIGHBOUR):
        n_groups = -(-k // GROUP_SIZE)
        starts = np.linspace(0, k, n_groups + 1).astype(np.int64)
        everywhere = np.tile(np.arange(n_groups, dtype=np.int32), (n_groups, 1))
        return _search(centres, np.arange(k, dtype=np.int32), starts, everywhere, n_neighbours, n_threads)
    order, starts = _groups(centres, k // GROUP_SIZE, n_threads)
    sums = np.add.reduceat(centres[order], starts[:-1], axis=0)
    means = sums / np.diff(starts)[:, None]
    n_near = min(len(means) - 1, -(-n_neighbours * SEEN_PER_NEIGHBOUR // GROUP_SIZE))
    near = neighbour_lists(means, n_near, n_threads)
    own = np.arange(len(means), dtype=np.int32)[:, None]
    return _search(centres, order, starts, np.hstack([own, near]), n_neighbours, n_threads)


def _groups(centres: Floats, n_groups: int, n_threads: int) -> tuple[Lists, NDArray[np.int64]]:
    """Centres group by group, and where each group begins: the leaves of a tree over the centres."""
    rows = Rows(centres, Frame(np.zeros(centres.shape[1]), 0), None)
    growth = Growth(rows, None, SplitRules(), np.arange(len(centres)), 0, n_threads)
    leaves = growth.leaves(growth.grow(n_groups))
    starts = np.append(growth.begins[leaves], len(centres))
    return growth.members.astype(np.int32), starts


def _search(
    centres: Floats, order: Lists, starts: NDArray[np.int64], lists: Lists, n_neighbours: int, n_threads: int
) -> Lists:
    found = np.empty((len(centres), n_neighbours), dtype=np.int32)
    _core.neighbours(
        centres, order, starts, np.ascontiguousarray(lists), found, instruction_set(), n_threads
    )
    return found
