"""Split rules: how a set of rows is split, and which set is split next."""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats

Ints = NDArray[np.int64]

STARTS = ("random-partition", "random", "k-means++")
SPLITS = ("largest", "inertia", "average")

# Maximum number of passes of a split with max_passes="auto". See "Tree" in docs/benchmarks.md.
MAX_PASSES = 10
# With max_passes="auto", a split ends after a pass that gains less than this share of the set's inertia.
TOL = 1e-4


def _within_int64(number: int | None) -> int | None:
    """Return a number that the core can represent. No split makes so many passes."""
    return None if number is None else min(number, 2**63 - 1)


@dataclass(frozen=True)
class SplitRules:
    """Rules for splitting a set, and for choosing the next set."""

    n_sections: int = 2
    init: str = "random-partition"
    split: str = "largest"
    """Priority of a set: its weight, its inertia, or the average squared distance between two rows."""
    sample: str | None = "auto"
    """"auto" to split a large set by a sample of its rows, None to use all rows."""
    max_passes: str | int | None = "auto"
    """Maximum number of passes of a split, None to go on until no row moves, or "auto" (not for Lloyd's
    iterations)."""
    rule: str = "boost"
    """"boost", or "lloyd" for Lloyd's iterations."""
    tol: float = 0.0
    """A split ends after a pass that gains less than this share of the set's inertia. Not used with
    max_passes="auto"."""

    @property
    def is_exact(self) -> bool:
        """True if rows are visited one by one in random order, False for the fast version."""
        return self.rule != "boost" or self.sample is None or self.max_passes != "auto"

    @property
    def is_monotone(self) -> bool:
        """True if a child never has a higher priority than its parent."""
        return self.split != "average"

    def options(self, n_sections: int, seed: int) -> _core.SplitOptions:
        """Return the options of a split into this number of sections."""
        auto = isinstance(self.max_passes, str)
        return _core.SplitOptions(
            n_sections=n_sections,
            init=self.init,
            max_passes=MAX_PASSES
            if isinstance(self.max_passes, str)
            else _within_int64(self.max_passes),
            tol=TOL if auto else self.tol,
            seed=seed,
            with_inertias=self.split != "largest",
            rule=self.rule if self.is_exact else "fast",
            sample=self.sample is not None,
        )

    def priorities(
        self, weights: Floats, inertias: Floats, sizes: NDArray[np.int64], squares: Floats | None
    ) -> Floats:
        """Return the priorities of sets.

        `squares` has the sums of the squared weights of their rows, or is None if all weights are 1.
        """
        if self.split == "largest":
            return weights
        if self.split == "inertia":
            return inertias
        # Sum of w_i w_j |x_i - x_j|^2 over all pairs, divided by that of w_i w_j. Without weights, this
        # is 2 SSE / (n - 1).
        pairs = weights**2 - (sizes if squares is None else squares)
        found = 2.0 * weights * inertias / np.where((sizes > 1) & (pairs > 0), pairs, np.inf)
        return np.asarray(found)


class SplitQueue:
    """A priority queue that follows the splits of a tree builder.

    The builder splits sets ahead of the queue. Among equal priorities, the set that entered the queue
    first comes first.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, int]] = [(-np.inf, 0, 0)]  # Priority, time of entry, set.
        self._n_entered = 1
        self.order: list[int] = []
        """Sets that were split, in order."""
        self.n_leaves = 1

    def advance(
        self,
        n_leaves: int,
        priorities: Floats,
        closed: NDArray[np.bool_],
        first_child: Ints,
        n_children: Ints,
    ) -> None:
        """Take sets until there are `n_leaves` leaves, or the next set is not split yet."""
        while self._heap and self.n_leaves < n_leaves and closed[self._heap[0][2]]:
            _, _, taken = heapq.heappop(self._heap)
            first, count = int(first_child[taken]), int(n_children[taken])
            if first < 0:  # The set cannot be split.
                continue
            self.order.append(taken)
            self.n_leaves += count - 1
            for child in range(first, first + count):
                heapq.heappush(self._heap, (-float(priorities[child]), self._n_entered, child))
                self._n_entered += 1

    def open_sets(self, closed: NDArray[np.bool_]) -> Ints:
        """Return the sets in the queue that are not split yet."""
        waiting = np.array([entry[2] for entry in self._heap], dtype=np.int64)
        return np.sort(waiting[~closed[waiting]])
