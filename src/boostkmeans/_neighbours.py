"""Which centres are near to which, and to rows, without comparing all with all where k is large."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._growth import Growth, SplitRules
from boostkmeans._instruction_set import instruction_set
from boostkmeans._partition import Labels, nearest
from boostkmeans._rows import Floats, Frame, Rows

Lists = NDArray[np.int32]

# Up to here all pairs are compared: that is as fast.
LARGEST_EXACT = 2048
# Beyond, centres look into the nearest groups of centres, of this size on average, until they have seen
# so many times as many as asked for, and no fewer than that: see "Candidates" in docs/benchmarks.md.
GROUP_SIZE, SEEN_PER_NEIGHBOUR, FEWEST_SEEN = 32, 16, 1024


@dataclass(frozen=True)
class Groups:
    """Centres in groups of neighbours."""

    order: Lists
    """Centres, group by group."""
    starts: NDArray[np.int64]
    """Where each group begins in `order`, and the end of the last."""
    means: Floats

    @classmethod
    def of(cls, centres: Floats, n_groups: int, n_threads: int) -> "Groups":
        """The leaves of a tree over the centres."""
        rows = Rows(centres, Frame(np.zeros(centres.shape[1]), 0), None)
        growth = Growth.over(rows, None, SplitRules(), 0, n_threads)
        leaves = growth.leaves(growth.grow(n_groups))
        starts = np.append(growth.begins[leaves], len(centres))
        sums = np.add.reduceat(centres[growth.members], starts[:-1], axis=0)
        return cls(growth.members.astype(np.int32), starts, sums / np.diff(starts)[:, None])

    def near(self, n_seen: int, n_threads: int) -> Lists:
        """For each group, itself and the nearest other ones, about `n_seen` centres altogether."""
        n_others = min(len(self.means) - 1, max(0, math.ceil(n_seen / GROUP_SIZE) - 1))
        own = np.arange(len(self.means), dtype=np.int32)[:, None]
        if n_others == 0:
            return own
        return np.hstack([own, neighbour_lists(self.means, n_others, n_threads)])


def neighbour_lists(centres: Floats, n_neighbours: int, n_threads: int) -> Lists:
    """The nearest other centres of each one, nearest first; -1 where there are no more of them."""
    k = len(centres)
    n_seen = max(n_neighbours * SEEN_PER_NEIGHBOUR, FEWEST_SEEN)
    if k <= max(LARGEST_EXACT, n_seen):
        n_groups = math.ceil(k / GROUP_SIZE)
        starts = np.linspace(0, k, n_groups + 1).astype(np.int64)
        everywhere = np.tile(np.arange(n_groups, dtype=np.int32), (n_groups, 1))
        return _search(
            centres, np.arange(k, dtype=np.int32), starts, everywhere, n_neighbours, n_threads
        )
    groups = Groups.of(centres, k // GROUP_SIZE, n_threads)
    near = groups.near(n_seen, n_threads)
    return _search(centres, groups.order, groups.starts, near, n_neighbours, n_threads)


def nearest_candidate(rows: Rows, centres: Floats, n_candidates: int, n_threads: int) -> Labels:
    """The nearest of about `n_candidates` centres: those around the nearest group of centres."""
    if n_candidates >= len(centres):
        return nearest(rows, centres, n_threads)[0]
    groups = Groups.of(centres, max(1, len(centres) // GROUP_SIZE), n_threads)
    near = groups.near(n_candidates, n_threads)
    lengths = np.diff(groups.starts)
    lists = np.full((len(near), int(lengths[near].sum(axis=1).max())), -1, dtype=np.int32)
    for group, others in enumerate(near):
        listed = np.concatenate([groups.order[groups.starts[g] : groups.starts[g + 1]] for g in others])
        lists[group, : len(listed)] = listed
    labels = np.empty(rows.n_rows, dtype=np.int32)
    nearest_group = nearest(rows, groups.means, n_threads)[0]
    _core.nearest_listed(rows.core, centres, nearest_group, lists, labels, n_threads)
    return labels


def _search(
    centres: Floats,
    order: Lists,
    starts: NDArray[np.int64],
    lists: Lists,
    n_neighbours: int,
    n_threads: int,
) -> Lists:
    found = np.empty((len(centres), n_neighbours), dtype=np.int32)
    _core.neighbours(
        centres, order, starts, np.ascontiguousarray(lists), found, instruction_set(), n_threads
    )
    return found
