"""Tree builder: splits sets of rows by priority (the paper's Algorithm 2)."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._data.user_input import check_still_finite
from boostkmeans._steps.nearest import assign_zero_weight_rows
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.split_rules import SplitQueue, SplitRules
from boostkmeans._storage.state import SavedState, State

logger = logging.getLogger("boostkmeans")

# Sets whose priority is at least this share of the highest one are split in one batch.
BATCH_PRIORITY_RATIO = 1 / 2
# Near the end, a batch has at most this share of the splits that are still needed.
FINAL_BATCH_SHARE = 0.6
# Maximum number of rows of several sets that one call splits exactly, which takes some seconds.
# Checkpoints are written between calls.
MAX_ROWS_AT_ONCE = 1 << 19
# Number of passes of a split that a checkpoint of version 0.9 or earlier contains: it is unknown.
UNKNOWN_PASSES = -1
# Minimum number of seconds between two messages about a tree that takes long.
LOG_INTERVAL = 2.0

# Arrays that describe the progress of a builder.
STATE_ARRAYS = (
    "members",
    "begins",
    "ends",
    "priorities",
    "first_child",
    "n_children",
    "n_passes",
    "closed",
)

Ints = NDArray[np.int64]


@dataclass
class TreeBuilder:
    """Sets of rows, as ranges of `members`, and their splits.

    The set with the highest priority is split first. The result of a split does not depend on when it is
    made. Sets are therefore split in batches, and the splits are put into the order of a priority queue
    afterwards. Some splits turn out not to be needed.
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
    n_passes: Ints = field(init=False)
    """Number of passes of the split of each set, or `UNKNOWN_PASSES`."""
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
        self.n_passes = np.zeros(1, dtype=np.int64)
        self._next_log = time.monotonic() + LOG_INTERVAL
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
        if "n_passes" in saved.values:
            self.n_passes = saved.array("n_passes", np.int64, (n_sets,), UNKNOWN_PASSES)
        else:  # Version 0.9 did not store them.
            self.n_passes = np.where(self.first_child >= 0, UNKNOWN_PASSES, 0).astype(np.int64)
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

        `after_round` is called after each call of the core.
        """
        queue = SplitQueue()
        while True:
            order, leaves = self._order_so_far(n_leaves, queue)
            if leaves >= n_leaves or self.closed.all():
                break
            open_sets = np.flatnonzero(~self.closed)
            if not self.rules.is_monotone:
                open_sets = queue.open_sets(self.closed)
            self._log("tree: %d of %d leaves are final", leaves, n_leaves)
            for batch in self._batches(self._next_sets(open_sets, n_leaves - leaves)):
                self._split(batch)
                if after_round is not None:
                    after_round()
        made = np.cumsum(self.n_children[order] - 1)
        n_splits = int(np.searchsorted(made, n_leaves - 1)) + 1
        order = order[:n_splits]
        if len(order) and made[len(order) - 1] > n_leaves - 1:
            self._split_into_fewer(int(order[-1]), int(made[len(order) - 1]) - (n_leaves - 1))
        return order

    def _order_so_far(self, n_leaves: int, queue: SplitQueue) -> tuple[Ints, int]:
        """Return the known splits in the order of a priority queue.

        Also return the number of leaves after those splits that no open set can precede.
        """
        if not self.rules.is_monotone:
            queue.advance(n_leaves, self.priorities, self.closed, self.first_child, self.n_children)
            return np.array(queue.order, dtype=np.int64), queue.n_leaves
        # If a child never has a higher priority than its parent, a queue sorts by priority. Among equal
        # priorities, older sets come first. A child has a higher number than its parent.
        done = np.flatnonzero(self.first_child >= 0)
        order = done[np.argsort(-self.priorities[done], kind="stable")]
        top = self.priorities[~self.closed].max(initial=-np.inf)
        certain = int(np.searchsorted(-self.priorities[order], -top, side="right"))
        return order, 1 + int((self.n_children[order[:certain]] - 1).sum())

    def _next_sets(self, open_sets: Ints, needed: int) -> Ints:
        """Return the sets to split next, if `needed` leaves are missing."""
        top = self.priorities[open_sets].max()
        # Negated, so that a priority of NaN cannot leave the batch empty.
        wanted = open_sets[~(self.priorities[open_sets] < BATCH_PRIORITY_RATIO * top)]
        ranked: Ints = wanted[np.argsort(-self.priorities[wanted], kind="stable")]
        # Near the end, children of the first sets may precede the last sets of the batch.
        return ranked if len(ranked) <= needed / 2 else ranked[: math.ceil(needed * FINAL_BATCH_SHARE)]

    def _batches(self, sets: Ints) -> list[Ints]:
        """Divide sets between calls of the core. Exact splits of large sets take long."""
        if not self.rules.is_exact:
            return [sets]
        n_rows = np.cumsum((self.ends - self.begins)[sets])
        starts = np.flatnonzero(np.diff(n_rows // MAX_ROWS_AT_ONCE)) + 1
        return np.split(sets, starts)

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

    def _split(self, sets: Ints) -> None:
        sizes = np.minimum(self.ends[sets] - self.begins[sets], self.rules.n_sections)
        self.closed[sets] = True
        for n_sections in np.unique(sizes):
            self._split_into(sets[sizes == n_sections], int(n_sections))

    def _split_into(self, sets: Ints, n_sections: int) -> None:
        """Split each set into the same number of sections."""
        found, weights, inertias, passes = _core.split(
            self.rows.core,
            self.row_weights,
            self.members,
            self.begins[sets],
            self.ends[sets],
            self.rules.options(n_sections, self.seed),
            self.n_threads,
            self._report_pass if logger.isEnabledFor(logging.INFO) else None,
        )
        ends = found.reshape(-1, n_sections)
        good = ends[:, 0] >= 0
        split, ends = sets[good], ends[good]
        inertias = inertias.reshape(-1, n_sections)[good]
        check_still_finite(float(inertias.max(initial=0.0)))
        self.n_passes[sets] = passes
        self.first_child[split] = len(self.begins) + n_sections * np.arange(len(split))
        self.n_children[split] = n_sections
        begins = np.column_stack([self.begins[split], ends[:, :-1]])
        priorities = self.rules.priorities(
            weights.reshape(-1, n_sections)[good],
            inertias,
            ends - begins,
            self._sums_of_squared_weights(begins, ends),
        )
        if self.rules.is_monotone:  # Despite rounding.
            priorities = np.minimum(priorities, self.priorities[split][:, None])
        self._append(begins.ravel(), ends.ravel(), priorities.ravel())

    def _sums_of_squared_weights(self, begins: Ints, ends: Ints) -> Floats | None:
        if self.row_weights is None or self.rules.is_monotone:
            return None
        squares = np.append(self.row_weights[self.members] ** 2, 0.0)
        bounds = np.stack([begins.ravel(), ends.ravel()], axis=1).ravel()
        sums = np.add.reduceat(squares, bounds)[::2] if len(bounds) else np.zeros(0)
        return np.asarray(sums.reshape(begins.shape))

    def _report_pass(self, n_rows: int, n_passes: int, n_moves: int) -> None:
        """Log the progress of the split of a large set. The core calls it after each pass."""
        self._log("tree: split of %d rows, pass %d: %d moves", n_rows, n_passes, n_moves)

    def _log(self, message: str, *values: int) -> None:
        """Log a message for users if the last one is some seconds old, otherwise for debugging."""
        due = time.monotonic() >= self._next_log
        logger.log(logging.INFO if due else logging.DEBUG, message, *values)
        if due:
            self._next_log = time.monotonic() + LOG_INTERVAL

    def _append(self, begins: Ints, ends: Ints, priorities: Floats) -> None:
        n = len(begins)
        self.begins = np.concatenate([self.begins, begins])
        self.ends = np.concatenate([self.ends, ends])
        self.priorities = np.concatenate([self.priorities, priorities])
        self.first_child = np.concatenate([self.first_child, np.full(n, -1)])
        self.n_children = np.concatenate([self.n_children, np.zeros(n, dtype=np.int64)])
        self.n_passes = np.concatenate([self.n_passes, np.zeros(n, dtype=np.int64)])
        self.closed = np.concatenate([self.closed, ends - begins < 2])

    def _split_into_fewer(self, last: int, surplus: int) -> None:
        """Repeat the last split with fewer sections, by `surplus`. Its children are not in use yet."""
        self._split_into(np.array([last]), int(self.n_children[last]) - surplus)
