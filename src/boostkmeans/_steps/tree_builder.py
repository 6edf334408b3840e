"""Tree builder: splits sets of rows by priority (the paper's Algorithm 2)."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._steps.nearest import assign_zero_weight_rows
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._storage.state import SavedState, State

logger = logging.getLogger("boostkmeans")

STARTS = ("random-partition", "random", "k-means++")
SPLITS = ("largest", "inertia", "average")

# With max_passes="auto": the maximum number of passes of a split. See "Tree" in docs/benchmarks.md.
MAX_PASSES = 10
# With max_passes="auto": a split stops after a pass that gains less than this share of the set's inertia.
TOL = 1e-4
# Sets whose priority is at least this share of the highest one are split in one batch.
BATCH_PRIORITY_RATIO = 1 / 2
# Near the end, a batch has at most this share of the splits that are still needed.
FINAL_BATCH_SHARE = 0.6

# Arrays that describe the progress of a builder.
STATE_ARRAYS = ("members", "begins", "ends", "priorities", "first_child", "n_children", "closed")

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SplitRules:
    """Rules for splitting a set, and for choosing the next set."""

    n_sections: int = 2
    init: str = "random-partition"
    split: str = "largest"
    """Priority: the weight, the inertia, or the average squared distance between two rows."""
    sample: str | None = "auto"
    """"auto" to split a large set by a sample of its rows, None to use all rows."""
    max_passes: str | int | None = "auto"
    """Maximum number of passes of a split, or None to go on until no row moves. "auto" also ends a split
    that gains little."""
    rule: str = "boost"
    """"boost" or "lloyd"."""

    @property
    def core_rule(self) -> str:
        """Name of the rule in the core: "auto" for both parameters is a faster version of boost."""
        fast = self.rule == "boost" and self.sample == "auto" and self.max_passes == "auto"
        return "fast" if fast else self.rule

    def options(self, n_sections: int, seed: int) -> _core.SplitOptions:
        """Return the options of a split into this number of sections."""
        auto = self.max_passes == "auto"
        return _core.SplitOptions(
            n_sections=n_sections,
            init=self.init,
            max_passes=MAX_PASSES if auto else self.max_passes,
            tol=TOL if auto else 0.0,
            seed=seed,
            with_inertias=self.split != "largest",
            rule=self.core_rule,
            sample=self.sample is not None,
        )


@dataclass
class TreeBuilder:
    """Sets of rows, as ranges of `members`, and their splits.

    The set with the highest priority (weight or inertia) is split first. A child never has a higher
    priority than its parent, and the result of a split does not depend on when it is made. Sets are
    therefore split in batches, and the splits are sorted afterwards into the order of a priority queue.
    Some splits turn out not to be needed.
    """

    rows: Rows
    row_weights: Floats | None
    rules: SplitRules
    members: Ints
    """Row numbers. Each split reorders its range."""
    seed: int
    n_threads: int
    begins: Ints = field(init=False)
    ends: Ints = field(init=False)
    priorities: Floats = field(init=False)
    first_child: Ints = field(init=False)
    """Index of the first child of each set, or -1. The children of a set have consecutive numbers."""
    n_children: Ints = field(init=False)
    closed: NDArray[np.bool_] = field(init=False)
    """True for sets that were split or cannot be split."""

    @classmethod
    def for_rows(
        cls, rows: Rows, row_weights: Floats | None, rules: SplitRules, seed: int, n_threads: int
    ) -> "TreeBuilder":
        """Return a builder whose root contains all rows of positive weight."""
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
        """Return the progress as plain values for a checkpoint."""
        return {name: getattr(self, name) for name in STATE_ARRAYS}

    def restore(self, saved: SavedState) -> None:
        """Restore the result of `state`. Raise DataFormatError if it is inconsistent."""
        n, every = len(self.members), self.members
        self.members = saved.array("members", np.int64, (n,), 0, self.rows.n_rows - 1)
        self.begins = saved.array("begins", np.int64, (None,), 0, n)
        n_sets = len(self.begins)
        self.ends = saved.array("ends", np.int64, (n_sets,), 0, n)
        self.priorities = saved.array("priorities", np.float64, (n_sets,), 0)
        self.first_child = saved.array("first_child", np.int64, (n_sets,), -1, n_sets - 1)
        self.n_children = saved.array("n_children", np.int64, (n_sets,), 0, n_sets)
        self.closed = saved.array("closed", np.bool_, (n_sets,))
        if not np.array_equal(np.sort(self.members), every) or not self._is_consistent():
            saved.fail("members", "the rows of a tree of splits", "inconsistent sets")

    def _is_consistent(self) -> bool:
        """Return True if the children of every split set cover the range of the set, in order."""
        split = np.flatnonzero(self.first_child >= 0)
        counts, first = self.n_children[split], self.first_child[split]
        if (counts < 2).any() or (first <= split).any() or (first + counts > len(self.begins)).any():
            return False
        children = self.children(split)
        is_last = np.zeros(len(children), dtype=bool)
        is_last[np.cumsum(counts) - 1] = True
        # A child begins where the child before it ends. The first child begins with its set.
        is_first = np.append(True, is_last[:-1])[: len(children)]
        begins = np.append(0, self.ends[children][:-1])[: len(children)]
        begins[is_first] = self.begins[split]
        return bool(
            len(self.begins)
            and self.begins[0] == 0
            and self.ends[0] == len(self.members)
            and np.array_equal(np.sort(children), np.arange(1, len(self.begins)))
            and np.array_equal(self.begins[children], begins)
            and np.array_equal(self.ends[children[is_last]], self.ends[split])
            and (self.ends[children] > self.begins[children]).all()
            and self.closed[split].all()
        )

    def grow(self, n_leaves: int, after_round: Callable[[], None] | None = None) -> Ints:
        """Split until there are `n_leaves` leaves or no set can be split. Return the splits in order.

        `after_round` is called after each batch of splits.
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
            wanted = open_sets[self.priorities[open_sets] >= BATCH_PRIORITY_RATIO * top]
            ranked = wanted[np.argsort(-self.priorities[wanted], kind="stable")]
            # Near the end, children of the first sets may precede the last sets of the batch.
            needed = n_leaves - leaves
            self._split(
                ranked if len(ranked) <= needed / 2 else ranked[: math.ceil(needed * FINAL_BATCH_SHARE)]
            )
            logger.debug("tree: %d of %d leaves are final", leaves, n_leaves)
            if after_round is not None:
                after_round()
        n_splits = int(np.searchsorted(made, n_leaves - 1)) + 1
        order = order[:n_splits]
        if len(order) and made[len(order) - 1] > n_leaves - 1:
            self._split_into_fewer(int(order[-1]), int(made[len(order) - 1]) - (n_leaves - 1))
        return order

    def labels(self, order: Ints) -> Labels:
        """Return the leaf of each row. Rows without weight belong to the nearest leaf."""
        leaves = self.leaves(order)
        sizes = self.ends[leaves] - self.begins[leaves]
        labels = np.zeros(self.rows.n_rows, dtype=np.int32)
        labels[self.members] = np.repeat(np.arange(len(leaves), dtype=np.int32), sizes)
        if self.row_weights is not None and len(self.members) < len(labels):
            partition, _ = Partition.from_labels(
                labels, len(leaves), self.rows, self.row_weights, self.n_threads
            )
            assign_zero_weight_rows(
                labels, self.rows, self.row_weights, partition.centres, self.n_threads
            )
        return labels

    def leaves(self, order: Ints) -> Ints:
        """Return the sets that remain after these splits, sorted by their position in `members`."""
        left = np.setdiff1d(np.append(self.children(order), 0), order)
        return left[np.argsort(self.begins[left])]

    def children(self, order: Ints) -> Ints:
        """Return the sets that these splits make, one split after the other."""
        counts = self.n_children[order]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        found: Ints = np.repeat(self.first_child[order], counts) + within
        return found

    def _order(self) -> Ints:
        """Return the split sets in the order of a priority queue."""
        done = np.flatnonzero(self.first_child >= 0)
        # Among equal priorities, older sets come first. A child has a higher number than its parent.
        return done[np.argsort(-self.priorities[done], kind="stable")]

    def _split(self, sets: Ints) -> None:
        sizes = np.minimum(self.ends[sets] - self.begins[sets], self.rules.n_sections)
        self.closed[sets] = True
        for n_sections in np.unique(sizes):
            self._split_into(sets[sizes == n_sections], int(n_sections))

    def _split_into(self, sets: Ints, n_sections: int) -> None:
        """Split each set into the same number of sections."""
        by_inertia = self.rules.split == "inertia"
        found, weights, inertias, _ = _core.split(
            self.rows.core,
            self.row_weights,
            self.members,
            self.begins[sets],
            self.ends[sets],
            self.rules.options(n_sections, self.seed),
            self.n_threads,
        )
        ends = found.reshape(-1, n_sections)
        good = ends[:, 0] >= 0
        split, ends = sets[good], ends[good]
        priorities = (inertias if by_inertia else weights).reshape(-1, n_sections)[good]
        self.first_child[split] = len(self.begins) + n_sections * np.arange(len(split))
        self.n_children[split] = n_sections
        begins = np.column_stack([self.begins[split], ends[:, :-1]])
        # Despite rounding, a child must not have a higher priority than its parent.
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
        """Repeat the last split with fewer sections, by `surplus`. Its children are not in use yet."""
        self._split_into(np.array([last]), int(self.n_children[last]) - surplus)
