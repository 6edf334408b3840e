"""Neighbour search among centres, exact for small k and by groups of centres for large k."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import _core
from boostkmeans._data.frame import Floats, Frame
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans._steps.nearest import nearest_labels, nearest_many
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans._steps.tree_builder import TreeBuilder

Lists = NDArray[np.int32]

# Up to this number of centres, comparing all pairs is as fast as searching groups.
MAX_EXACT = 2048
# Average size of a group of centres. For more centres than MAX_EXACT, only the nearest groups are
# searched.
GROUP_SIZE = 32
# Minimum number of centres that a search visits per requested neighbour. See docs/paper/top_k0.md.
SEEN_PER_NEIGHBOUR = 16
# The same number if earlier lists are known.
SEEN_PER_NEIGHBOUR_AGAIN = 8
# Minimum number of centres that a search visits in total.
MIN_SEEN = 1024
# Maximum size of a group. A tree cannot separate equal centres, so larger groups are divided.
MAX_GROUP = 8 * GROUP_SIZE
# Large sparse centres are compared by sketches of this length.
SKETCH_FEATURES = 1024
# Minimum number of features for which centres are sketched.
MIN_FEATURES_TO_SKETCH = 4 * SKETCH_FEATURES
# Centres are sketched only if they have more than this number of values in total.
MAX_EXACT_VALUES = 2**24
# Clusters that are sketched at a time, because SciPy copies them.
SKETCHED_AT_ONCE = 64
# If a row would be compared with at least this share of the centres, it is compared with all of them.
EXACT_FROM_SHARE = 1 / 2


@dataclass(frozen=True)
class Groups:
    """Groups of centres that lie near each other."""

    order: Lists
    """Indices of the centres, group by group."""
    starts: NDArray[np.int64]
    """Start of each group in `order`, followed by the number of centres."""
    means: Floats
    """Mean of each group."""

    @classmethod
    def build(
        cls, centres: Floats, n_threads: int, seed: int = 0, *, size: int = GROUP_SIZE
    ) -> "Groups":
        """Group centres by the leaves of a bisecting tree. `size` is that of a group, on average."""
        rows = Rows(centres, Frame(np.zeros(centres.shape[1]), 0), None)
        builder = TreeBuilder.for_rows(rows, None, SplitRules(), seed, n_threads)
        leaves = builder.leaves(builder.grow(max(1, len(centres) // size)))
        begins = [
            np.arange(begin, end, MAX_GROUP)
            for begin, end in zip(builder.begins[leaves], builder.ends[leaves], strict=True)
        ]
        starts = np.append(np.concatenate(begins), len(centres))
        sums = np.add.reduceat(centres[builder.members], starts[:-1], axis=0)
        return cls(builder.members.astype(np.int32), starts, sums / np.diff(starts)[:, None])

    def near(self, n_seen: int, n_threads: int, *, at_least: int = 1) -> Lists:
        """Return the nearest groups of each group, starting with itself, with about `n_seen` centres.

        The groups of each list have `at_least` centres together, if there are enough.
        """
        n_others = min(len(self.means) - 1, max(0, math.ceil(n_seen / GROUP_SIZE) - 1))
        own = np.arange(len(self.means), dtype=np.int32)[:, None]
        lists = own
        if n_others > 0:
            lists = np.hstack([own, neighbour_lists(self.means, n_others, n_threads)])
        sizes = np.where(lists >= 0, np.diff(self.starts)[lists], 0).sum(axis=1)
        if sizes.min() >= at_least or n_others == len(self.means) - 1:
            return lists
        return self.near(2 * n_seen, n_threads, at_least=at_least)


def points_to_compare(partition: Partition) -> Floats:
    """Return the centres, or sketches of them if they are very large.

    In a count sketch (Charikar et al. 2002), each feature is added to or subtracted from one value.
    Squared distances of sketches are accurate to a few percent.
    """
    k, d = partition.composites.shape
    if d < MIN_FEATURES_TO_SKETCH or k * d <= MAX_EXACT_VALUES:
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


def is_exact(n_centres: int, n_neighbours: int) -> bool:
    """Return True if a search for neighbours compares all pairs of centres."""
    return n_centres <= max(MAX_EXACT, MIN_SEEN, n_neighbours * SEEN_PER_NEIGHBOUR)


def neighbour_lists(
    centres: Floats,
    n_neighbours: int,
    n_threads: int,
    *,
    previous: Lists | None = None,
    seed: int = 0,
) -> Lists:
    """Return the nearest other centres of each centre, nearest first, padded with -1.

    Among many centres, a search finds most of the neighbours. It finds more of them if it is given
    `previous` lists of the same shape, from a search with another `seed`.
    """
    k = len(centres)
    if is_exact(k, n_neighbours):
        n_groups = math.ceil(k / GROUP_SIZE)
        starts = np.linspace(0, k, n_groups + 1).astype(np.int64)
        all_groups = np.tile(np.arange(n_groups, dtype=np.int32), (n_groups, 1))
        return _search(
            centres, np.arange(k, dtype=np.int32), starts, all_groups, n_neighbours, n_threads
        )
    per_neighbour = SEEN_PER_NEIGHBOUR if previous is None else SEEN_PER_NEIGHBOUR_AGAIN
    n_seen = max(n_neighbours * per_neighbour, MIN_SEEN)
    groups = Groups.build(centres, n_threads, seed)
    near = groups.near(n_seen, n_threads)
    return _search(centres, groups.order, groups.starts, near, n_neighbours, n_threads, previous)


class CandidateSearch:
    """Approximate search: the nearest of about `n_candidates` centres around a row."""

    def __init__(self, centres: Floats, n_candidates: int, n_threads: int, *, m: int = 1) -> None:
        """Group the centres, once for all rows. Rows are compared with at least `m` centres."""
        self._centres = centres
        self._n_threads = n_threads
        self._groups: Groups | None = None
        if n_candidates < EXACT_FROM_SHARE * len(centres):
            self._groups = Groups.build(centres, n_threads)
            self._near = self._groups.near(n_candidates, n_threads, at_least=m)

    def nearest(self, rows: Rows) -> Labels:
        """Return the nearest centre found for each row."""
        groups, threads = self._groups, self._n_threads
        if groups is None:
            return nearest_labels(rows, self._centres, threads)
        labels = np.empty(rows.n_rows, dtype=np.int32)
        group_of_rows = nearest_labels(rows, groups.means, threads)
        _core.nearest_in_groups(
            rows.core, self._centres, group_of_rows, self._core_groups(groups), labels, threads
        )
        return labels

    def nearest_many(self, rows: Rows, m: int) -> tuple[Labels, Floats]:
        """Return the m nearest centres found for each row, and their squared distances in the frame.

        `m` must not exceed that of the constructor.
        """
        groups, threads = self._groups, self._n_threads
        if groups is None:
            return nearest_many(rows, self._centres, m, threads)
        labels = np.empty((rows.n_rows, m), dtype=np.int32)
        distances = np.empty((rows.n_rows, m))
        group_of_rows = nearest_labels(rows, groups.means, threads)
        _core.nearest_many_in_groups(
            rows.core,
            self._centres,
            group_of_rows,
            self._core_groups(groups),
            labels,
            distances,
            threads,
        )
        return labels, distances

    def _core_groups(self, groups: Groups) -> _core.Groups:
        return _core.Groups(order=groups.order, starts=groups.starts, lists=self._near)


def assign_by_candidates(
    rows: RowSet, centres: Floats, n_candidates: int | None, n_threads: int
) -> Labels:
    """Return the nearest of about `n_candidates` centres for each row, or the exact nearest if None."""
    if n_candidates is None:
        return nearest_labels(rows, centres, n_threads)
    labels = np.empty(rows.n_rows, dtype=np.int32)
    search = CandidateSearch(centres, n_candidates, n_threads)
    for block in rows.blocks():
        labels[block.where] = search.nearest(block.rows)
    return labels


def _search(
    centres: Floats,
    order: Lists,
    starts: NDArray[np.int64],
    lists: Lists,
    n_neighbours: int,
    n_threads: int,
    previous: Lists | None = None,
) -> Lists:
    found = np.empty((len(centres), n_neighbours), dtype=np.int32)
    groups = _core.Groups(order=order, starts=starts, lists=np.ascontiguousarray(lists))
    _core.neighbours(centres, groups, found, previous, isa=instruction_set(), n_threads=n_threads)
    return found
