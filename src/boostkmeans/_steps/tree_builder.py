"""Growing a bisecting tree: which sets of rows are split, in which order (the paper's Alg. 2)."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import Floats, Rows
from boostkmeans._steps.partition import Partition, put_weightless
from boostkmeans._storage.state import SavedState, State

logger = logging.getLogger("boostkmeans")

STARTS = ("random-partition", "random", "k-means++")
SPLITS = ("largest", "inertia")

# Passes of a split: at most so many, and no more once one gains less than this share of the set's
# inertia. See "Tree" in docs/benchmarks.md.
MAX_PASSES, TOL = 10, 1e-4
# Leaves at least this large, relative to the largest, are split in one go.
TOGETHER = 1 / 2
# Where fewer are still needed than that makes, this share of those that are needed.
AT_THE_END = 0.6

# What says how far a growth is.
KEPT = ("members", "begins", "ends", "priorities", "first_child", "n_children", "closed")

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SplitRules:
    """How a set is split, and which one is next."""

    n_sections: int = 2
    init: str = "random-partition"
    split: str = "largest"
    max_passes: int = MAX_PASSES
    tol: float = TOL


@dataclass
class Growth:
    """Sets of rows, as ranges of `members`, and their splits.

    Sets with the highest priority (weight or inertia) are split first. No part has a higher priority
    than its set, and what becomes of a set does not depend on when it is split. So sets are split many
    at a time, some perhaps in vain, and then put into the order in which a priority queue would have
    split them.
    """

    rows: Rows
    row_weights: Floats | None
    rules: SplitRules
    members: Ints
    seed: int
    n_threads: int
    begins: Ints = field(init=False)
    ends: Ints = field(init=False)
    priorities: Floats = field(init=False)
    first_child: Ints = field(init=False)
    """Number of the first part, or -1. The parts of a set are numbered one after the other."""
    n_children: Ints = field(init=False)
    closed: NDArray[np.bool_] = field(init=False)
    """Sets that were split, or cannot be."""

    @classmethod
    def over(
        cls, rows: Rows, row_weights: Floats | None, rules: SplitRules, seed: int, n_threads: int
    ) -> "Growth":
        """A growth that begins with all rows that have a weight."""
        members = np.arange(rows.n_rows) if row_weights is None else np.flatnonzero(row_weights > 0)
        return cls(rows, row_weights, rules, members, seed, n_threads)

    def __post_init__(self) -> None:
        self.begins = np.zeros(1, dtype=np.int64)
        self.ends = np.array([len(self.members)])
        self.priorities = np.full(1, np.inf)
        self.first_child = np.full(1, -1)
        self.n_children = np.zeros(1, dtype=np.int64)
        self.closed = self.ends - self.begins < 2

    def state(self) -> State:
        """All that the rest of it depends on, but for rows, weights and rules."""
        return {name: getattr(self, name) for name in KEPT}

    def restore(self, saved: SavedState) -> None:
        """Goes on from what `state` gave."""
        n, every = len(self.members), self.members
        self.members = saved.array("members", np.int64, (n,), 0, self.rows.n_rows - 1)
        self.begins = saved.array("begins", np.int64, (None,), 0, n)
        n_sets = len(self.begins)
        self.ends = saved.array("ends", np.int64, (n_sets,), 0, n)
        self.priorities = saved.array("priorities", np.float64, (n_sets,), 0)
        self.first_child = saved.array("first_child", np.int64, (n_sets,), -1, n_sets - 1)
        self.n_children = saved.array("n_children", np.int64, (n_sets,), 0, n_sets)
        self.closed = saved.array("closed", np.bool_, (n_sets,))
        if not np.array_equal(np.sort(self.members), every) or not self._hangs_together():
            saved.fail("members", "those of sets that splits made of all rows", "others")

    def _hangs_together(self) -> bool:
        """Whether the sets are all rows, and the parts of those that were split, in their order."""
        split = np.flatnonzero(self.first_child >= 0)
        counts, first = self.n_children[split], self.first_child[split]
        if (counts < 2).any() or (first <= split).any() or (first + counts > len(self.begins)).any():
            return False
        parts = self.parts(split)
        is_last = np.zeros(len(parts), dtype=bool)
        is_last[np.cumsum(counts) - 1] = True
        # A part begins where the one before it ends, the first one where its set begins.
        is_first = np.append(True, is_last[:-1])[: len(parts)]
        begins = np.append(0, self.ends[parts][:-1])[: len(parts)]
        begins[is_first] = self.begins[split]
        return bool(
            len(self.begins)
            and self.begins[0] == 0
            and self.ends[0] == len(self.members)
            and np.array_equal(np.sort(parts), np.arange(1, len(self.begins)))
            and np.array_equal(self.begins[parts], begins)
            and np.array_equal(self.ends[parts[is_last]], self.ends[split])
            and (self.ends[parts] > self.begins[parts]).all()
            and self.closed[split].all()
        )

    def grow(self, n_leaves: int, after_round: Callable[[], None] | None = None) -> Ints:
        """Splits until `n_leaves` parts are left, or none can be split; the splits in their order.

        `after_round` is called after each round of splits.
        """
        while True:
            order = self._order()
            made = np.cumsum(self.n_children[order] - 1)
            open_sets = np.flatnonzero(~self.closed)
            if len(open_sets) == 0:
                break
            top = self.priorities[open_sets].max()
            certain = int(np.searchsorted(-self.priorities[order], -top, side="right"))
            leaves = 1 + (int(made[certain - 1]) if certain else 0)
            if leaves >= n_leaves:
                break
            wanted = open_sets[self.priorities[open_sets] >= TOGETHER * top]
            ranked = wanted[np.argsort(-self.priorities[wanted], kind="stable")]
            # Near the end, parts of the first may come before the last of these: not all at once then.
            needed = n_leaves - leaves
            self._split(
                ranked if len(ranked) <= needed / 2 else ranked[: math.ceil(needed * AT_THE_END)]
            )
            logger.debug("tree: %d of %d leaves are certain", leaves, n_leaves)
            if after_round is not None:
                after_round()
        n_splits = int(np.searchsorted(made, n_leaves - 1)) + 1
        order = order[:n_splits]
        if len(order) and made[len(order) - 1] > n_leaves - 1:
            self._split_into_fewer(int(order[-1]), int(made[len(order) - 1]) - (n_leaves - 1))
        return order

    def labels(self, order: Ints) -> NDArray[np.int32]:
        """Number of the leaf of each row; rows without weight go to the nearest centre of a leaf."""
        leaves = self.leaves(order)
        sizes = self.ends[leaves] - self.begins[leaves]
        labels = np.zeros(self.rows.n_rows, dtype=np.int32)
        labels[self.members] = np.repeat(np.arange(len(leaves), dtype=np.int32), sizes)
        if self.row_weights is not None and len(self.members) < len(labels):
            partition = Partition.of(labels, len(leaves), self.rows.n_features)
            partition.recompute(self.rows, self.row_weights, self.n_threads)
            put_weightless(labels, self.rows, self.row_weights, partition.centres, self.n_threads)
        return labels

    def leaves(self, order: Ints) -> Ints:
        """Sets that are left after these splits, by their place in `members`."""
        left = np.setdiff1d(np.append(self.parts(order), 0), order)
        return left[np.argsort(self.begins[left])]

    def parts(self, order: Ints) -> Ints:
        """The parts that these splits make, one split after the other."""
        counts = self.n_children[order]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        parts: Ints = np.repeat(self.first_child[order], counts) + within
        return parts

    def _order(self) -> Ints:
        """Sets that were split, as a priority queue would have split them."""
        done = np.flatnonzero(self.first_child >= 0)
        # Of equal sets the one that arose first; a part after its set, which has a smaller number.
        return done[np.argsort(-self.priorities[done], kind="stable")]

    def _split(self, sets: Ints) -> None:
        sizes = np.minimum(self.ends[sets] - self.begins[sets], self.rules.n_sections)
        self.closed[sets] = True
        for n_sections in np.unique(sizes):
            self._split_alike(sets[sizes == n_sections], int(n_sections))

    def _split_alike(self, sets: Ints, n_sections: int) -> None:
        by_inertia = self.rules.split == "inertia"
        found, weights, inertias = _core.split(
            self.rows.core,
            self.row_weights,
            self.members,
            self.begins[sets],
            self.ends[sets],
            _core.SplitOptions(
                n_sections=n_sections,
                init=self.rules.init,
                max_passes=self.rules.max_passes,
                tol=self.rules.tol,
                seed=self.seed,
                with_inertias=by_inertia,
            ),
            self.n_threads,
        )
        ends = found.reshape(-1, n_sections)
        good = ends[:, 0] >= 0
        split, ends = sets[good], ends[good]
        priorities = (inertias if by_inertia else weights).reshape(-1, n_sections)[good]
        self.first_child[split] = len(self.begins) + n_sections * np.arange(len(split))
        self.n_children[split] = n_sections
        begins = np.column_stack([self.begins[split], ends[:, :-1]])
        # Rounding must not lift a part above its set: the order of the splits relies on it.
        priorities = np.minimum(priorities, self.priorities[split][:, None])
        self._append(begins.ravel(), ends.ravel(), priorities.ravel())

    def _append(self, begins: Ints, ends: Ints, priorities: Floats) -> None:
        n = len(begins)
        self.begins = np.concatenate([self.begins, begins])
        self.ends = np.concatenate([self.ends, ends])
        self.priorities = np.concatenate([self.priorities, priorities])
        self.first_child = np.concatenate([self.first_child, np.full(n, -1)])
        self.n_children = np.concatenate([self.n_children, np.zeros(n, dtype=np.int64)])
        self.closed = np.concatenate([self.closed, ends - begins < 2])

    def _split_into_fewer(self, last: int, surplus: int) -> None:
        """The last split, once more, into so many sections less. Its parts are not used elsewhere."""
        self._split_alike(np.array([last]), int(self.n_children[last]) - surplus)
