"""Packing: an exact search for labels of few weighted rows within limits on the sizes of clusters."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._steps.partition import Labels
from boostkmeans._steps.size_limits.limits import ROUNDING, Limits

# Maximum number of rows of a search. With more, it would hardly ever end.
MAX_ROWS = 64
# Number of assignments of a row after which a search gives up. This takes about a second. Problems of up
# to about ten rows need fewer.
MAX_STEPS = 100_000
# Number of digits to which the weights of clusters are compared: sums in another order are rounded
# differently.
DIGITS = 12


class OutOfStepsError(Exception):
    """The search was given up."""


@dataclass
class Packing:
    """A depth-first search that assigns the heaviest rows first, with bounds and known dead ends."""

    weights: Floats
    """Weight of each row, positive."""
    limits: Limits
    preferred: Labels
    """The cluster of each row that is tried first."""
    _loads: Floats = field(init=False)
    _kinds: NDArray[np.int64] = field(init=False)
    """Clusters of the same kind have the same limits."""
    _steps: int = 0
    _dead_ends: set[tuple[int, bytes]] = field(default_factory=set)

    def __post_init__(self) -> None:
        limits = self.limits
        pairs = np.stack([limits.min_weights, limits.max_weights], axis=1)
        self._kinds = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
        self._loads = np.zeros(len(self._kinds))
        self._order = np.argsort(-self.weights, kind="stable")
        sums = np.cumsum(self.weights[self._order][::-1])[::-1]
        self._left = np.append(sums, 0.0)

    def find(self) -> tuple[Labels | None, bool]:
        """Return labels within the limits or None, and True if None means that there are none."""
        if len(self.weights) > MAX_ROWS:
            return None, False
        labels = np.zeros(len(self.weights), dtype=np.int32)
        try:
            return (labels, True) if self._place(0, labels) else (None, True)
        except OutOfStepsError:
            return None, False

    def _place(self, position: int, labels: Labels) -> bool:
        """Assign the rows from this position on. Return False if the clusters cannot take them."""
        if position == len(labels):
            return bool(self.limits.allow(self._loads).all())
        state = (position, self._state())
        if state in self._dead_ends or not self._may_succeed(position):
            return False
        row = self._order[position]
        for cluster in self._clusters_to_try(row):
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise OutOfStepsError
            before = self._loads[cluster]
            self._loads[cluster] += self.weights[row]
            labels[row] = cluster
            if self._place(position + 1, labels):
                return True
            self._loads[cluster] = before
        self._dead_ends.add(state)
        return False

    def _state(self) -> bytes:
        """Return the loads of the clusters of each kind, which are interchangeable, as a key."""
        loads = np.round(self._loads / self._left[0], DIGITS)
        order = np.lexsort((loads, self._kinds))
        return bytes(loads[order].tobytes())

    def _may_succeed(self, position: int) -> bool:
        """Return False if the weight that is left is too much or too little for the clusters."""
        left, scale = self._left[position], ROUNDING * self._left[0]
        needed = np.maximum(self.limits.min_weights - self._loads, 0.0).sum()
        room = np.maximum(self.limits.max_weights - self._loads, 0.0).sum()
        return bool(needed <= left + scale and room >= left - scale)

    def _clusters_to_try(self, row: np.int64) -> list[int]:
        """Return one cluster of each kind and load that has room, the preferred one first."""
        fits = self.limits.at_most_max(self._loads + self.weights[row])
        room = np.minimum(self.limits.max_weights, self._left[0]) - self._loads
        order = np.argsort(-room, kind="stable")
        order = np.concatenate([[self.preferred[row]], order[order != self.preferred[row]]])
        seen: set[tuple[int, float]] = set()
        found = []
        for cluster in order[fits[order]].tolist():
            kind = (int(self._kinds[cluster]), float(self._loads[cluster]))
            if kind not in seen:
                seen.add(kind)
                found.append(cluster)
        return found
