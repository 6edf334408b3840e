"""Split queue: the order in which a priority queue would split the sets of a tree."""

import heapq

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats

Ints = NDArray[np.int64]


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
