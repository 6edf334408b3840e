"""Criterion tree: repeated bisections, each of which optimises a criterion within one cluster."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._steps.criteria.criterion import ClusterNumbers, improvement, terms, value_of_sums
from boostkmeans._steps.criteria.term_partition import TermPartition, UnitRows
from boostkmeans._steps.partition import Labels

SPLITS = ("largest", "best")

Ints = NDArray[np.int64]
Split = Callable[[UnitRows], tuple[TermPartition, int, int]]
"""Function that splits rows into two clusters, and returns the numbers of moves and evaluations, too."""


@dataclass
class Leaf:
    """A cluster of the tree."""

    members: Ints
    """Numbers of its rows, all of positive weight."""
    weight: float
    within: float
    """Term of the criterion that is maximised."""
    between: float
    """Term of the criterion that is minimised."""
    halves: "tuple[Leaf, Leaf] | None" = None
    """Its split, if it is known."""


class CriterionTree:
    """Leaves, which are the clusters, from left to right.

    A split optimises the criterion of the rows of one leaf. `choice` is "largest" to split the leaf of
    the largest weight next, or "best" to split the leaf whose split most improves the criterion of all
    leaves. For "best", all leaves are split in advance.
    """

    def __init__(self, data: UnitRows, criterion: str, choice: str, split: Split) -> None:
        self._data, self._criterion, self._choice, self._split = data, criterion, choice, split
        whole = TermPartition.from_labels(np.zeros(data.rows.n_rows, dtype=np.int32), 1, data)
        self._total: Floats = whole.by_term[:, 0]
        self.work = (0, 0)
        """Numbers of moves and evaluations of all splits."""
        self.leaves = [self._leaves([data.positive], whole)[0]]

    @property
    def value(self) -> float:
        """Value of the criterion for all leaves."""
        return self._value(*self._sums(), len(self.leaves))

    def grow(self) -> None:
        """Split the next leaf. There must be a leaf with two rows."""
        divisible = [i for i, leaf in enumerate(self.leaves) if len(leaf.members) > 1]
        priority = self._weight if self._choice == "largest" else self._gain
        best = max(divisible, key=priority)
        self.leaves[best : best + 1] = self._halves(self.leaves[best])

    def labels(self) -> Labels:
        """Return the leaf of each row, and 0 for rows without weight."""
        labels = np.zeros(self._data.rows.n_rows, dtype=np.int32)
        for number, leaf in enumerate(self.leaves):
            labels[leaf.members] = number
        return labels

    def _weight(self, number: int) -> float:
        return self.leaves[number].weight

    def _gain(self, number: int) -> float:
        """Return by how much the split of a leaf improves the criterion of all leaves."""
        leaf = self.leaves[number]
        within, between = self._sums()
        after = self._value(
            within + sum(half.within for half in self._halves(leaf)) - leaf.within,
            between + sum(half.between for half in self._halves(leaf)) - leaf.between,
            len(self.leaves) + 1,
        )
        return improvement(self._criterion, self._value(within, between, len(self.leaves)), after)

    def _halves(self, leaf: Leaf) -> tuple[Leaf, Leaf]:
        if leaf.halves is None:
            partition, moves, evaluations = self._split(self._data.sample(leaf.members))
            self.work = (self.work[0] + moves, self.work[1] + evaluations)
            members = [leaf.members[partition.labels == half] for half in (0, 1)]
            left, right = self._leaves(members, partition)
            leaf.halves = (left, right)
        return leaf.halves

    def _leaves(self, members: list[Ints], partition: TermPartition) -> list[Leaf]:
        """Return the clusters of a partition as leaves."""
        numbers: ClusterNumbers = partition.numbers(self._total)
        within, between = terms(self._criterion, numbers)
        return [
            Leaf(rows, float(numbers.weights[i]), float(within[i]), float(between[i]))
            for i, rows in enumerate(members)
        ]

    def _sums(self) -> tuple[float, float]:
        return sum(leaf.within for leaf in self.leaves), sum(leaf.between for leaf in self.leaves)

    def _value(self, within: float, between: float, n_leaves: int) -> float:
        return value_of_sums(self._criterion, within, between, n_leaves)
