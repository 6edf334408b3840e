"""Which centres are near to which, and to rows, without comparing all with all where k is large."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import _core
from boostkmeans._data.rows import Floats, Frame, Rows
from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans._steps.partition import Labels, Partition, nearest
from boostkmeans._steps.tree_builder import Growth, SplitRules

Lists = NDArray[np.int32]

# Up to here all pairs are compared: that is as fast.
LARGEST_EXACT = 2048
# Beyond, centres look into the nearest groups of centres, of this size on average, until they have seen
# so many times as many as asked for, and no fewer than that: see docs/paper/top_k0.md.
GROUP_SIZE, SEEN_PER_NEIGHBOUR, FEWEST_SEEN = 32, 16, 1024
LARGEST_GROUP = 8 * GROUP_SIZE
# Centres with more features than that, and more values altogether, are compared by a sketch of them.
SKETCH_FEATURES, MOST_VALUES = 1024, 2**24
LEAST_FEATURES_TO_SKETCH = 4 * SKETCH_FEATURES
# Clusters that are sketched at a time: some are copied on the way.
SKETCHED_AT_ONCE = 64
# A row that looks at so many of the centres may as well look at all, and be certain.
EXACT_FROM_SHARE = 1 / 2


@dataclass(frozen=True)
class Groups:
    """Centres in groups of neighbours."""

    order: Lists
    """Centres, group by group."""
    starts: NDArray[np.int64]
    """Where each group begins in `order`, and the end of the last."""
    means: Floats

    @classmethod
    def of(cls, centres: Floats, n_threads: int) -> "Groups":
        """The leaves of a tree over the centres."""
        rows = Rows(centres, Frame(np.zeros(centres.shape[1]), 0), None)
        growth = Growth.over(rows, None, SplitRules(), 0, n_threads)
        leaves = growth.leaves(growth.grow(max(1, len(centres) // GROUP_SIZE)))
        # Equal centres cannot be split by a tree, but must not make up a group that is all too large.
        begins = [
            np.arange(begin, end, LARGEST_GROUP)
            for begin, end in zip(growth.begins[leaves], growth.ends[leaves], strict=True)
        ]
        starts = np.append(np.concatenate(begins), len(centres))
        sums = np.add.reduceat(centres[growth.members], starts[:-1], axis=0)
        return cls(growth.members.astype(np.int32), starts, sums / np.diff(starts)[:, None])

    def near(self, n_seen: int, n_threads: int) -> Lists:
        """For each group, itself and the nearest other ones, about `n_seen` centres altogether."""
        n_others = min(len(self.means) - 1, max(0, math.ceil(n_seen / GROUP_SIZE) - 1))
        own = np.arange(len(self.means), dtype=np.int32)[:, None]
        if n_others == 0:
            return own
        return np.hstack([own, neighbour_lists(self.means, n_others, n_threads)])


def points_to_compare(partition: Partition) -> Floats:
    """The centres, or where these are very large a sketch of each: distances are about the same.

    A feature adds to one of the values of the sketch, or subtracts from it (Charikar et al. 2002), so
    that squared distances are right to some percent.
    """
    k, d = partition.composites.shape
    if d < LEAST_FEATURES_TO_SKETCH or k * d <= MOST_VALUES:
        return partition.centres
    rng = np.random.default_rng(0)
    place, sign = rng.integers(SKETCH_FEATURES, size=d), rng.choice([-1.0, 1.0], size=d)
    adds = sparse.csr_array((sign, (np.arange(d), place)), shape=(d, SKETCH_FEATURES))
    sketch = np.empty((k, SKETCH_FEATURES))
    for begin in range(0, k, SKETCHED_AT_ONCE):
        some = slice(begin, begin + SKETCHED_AT_ONCE)
        sketch[some] = partition.composites[some] @ adds
    sketch /= np.where(partition.weights > 0, partition.weights, 1.0)[:, None]
    return sketch


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
    groups = Groups.of(centres, n_threads)
    near = groups.near(n_seen, n_threads)
    return _search(centres, groups.order, groups.starts, near, n_neighbours, n_threads)


class CandidateSearch:
    """The nearest of about `n_candidates` centres: those around the nearest group of centres."""

    def __init__(self, centres: Floats, n_candidates: int, n_threads: int) -> None:
        """What takes long is done here, once for all rows."""
        self._centres = centres
        self._n_threads = n_threads
        self._groups: Groups | None = None
        if n_candidates < EXACT_FROM_SHARE * len(centres):
            self._groups = Groups.of(centres, n_threads)
            self._near = self._groups.near(n_candidates, n_threads)

    def nearest(self, rows: Rows) -> Labels:
        """For each row."""
        groups, threads = self._groups, self._n_threads
        if groups is None:
            return nearest(rows, self._centres, threads)[0]
        labels = np.empty(rows.n_rows, dtype=np.int32)
        _core.nearest_in_groups(
            rows.core,
            self._centres,
            nearest(rows, groups.means, threads)[0],
            _core.Groups(order=groups.order, starts=groups.starts, lists=self._near),
            labels,
            threads,
        )
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
    groups = _core.Groups(order=order, starts=starts, lists=np.ascontiguousarray(lists))
    _core.neighbours(centres, groups, found, instruction_set(), n_threads)
    return found
