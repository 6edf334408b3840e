"""Ledger of an update: what became of the clusters of the model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Labels = NDArray[np.int32]
Mask = NDArray[np.bool_]

# Entry of a cluster that does not exist.
NONE = -1


@dataclass
class ClusterLedger:
    """The origin of each cluster, and the successor of each cluster of the model."""

    origins: Ints
    """For each current cluster, its number in the model; NONE if the update created it."""
    successors: Ints
    """For each cluster of the model, the current cluster that continues it or that received its rows;
    NONE if it was removed without a successor."""
    is_split: Mask
    """Current clusters that gave rows to a new cluster."""
    is_merged: Mask
    """Current clusters that received all rows of another cluster."""

    @classmethod
    def begin(cls, n_clusters: int) -> "ClusterLedger":
        """Return the ledger of an update that has changed nothing."""
        numbers = np.arange(n_clusters)
        return cls(
            numbers, numbers.copy(), np.zeros(n_clusters, dtype=bool), np.zeros(n_clusters, dtype=bool)
        )

    def merge(self, merged: Ints, freed: Ints) -> None:
        """Record that clusters `merged` received all rows of `freed`, which are now empty."""
        becomes = np.arange(len(self.origins))
        becomes[freed] = merged
        alive = self.successors != NONE
        self.successors[alive] = becomes[self.successors[alive]]
        self.is_merged[merged] = True
        self.origins[freed] = NONE

    def split(self, split: Ints, created: Ints) -> None:
        """Record that rows of clusters `split` form `created`, which were empty or did not exist."""
        n_more = max(0, int(created.max()) + 1 - len(self.origins))
        self.origins = np.append(self.origins, np.full(n_more, NONE))
        self.is_split = np.append(self.is_split, np.zeros(n_more, dtype=bool))
        self.is_merged = np.append(self.is_merged, np.zeros(n_more, dtype=bool))
        self.successors[np.isin(self.successors, created)] = NONE
        self.origins[created] = NONE
        self.is_split[split] = True
        self.is_split[created] = self.is_merged[created] = False

    def renumber(self, kept: Ints) -> None:
        """Record that current cluster `kept[i]` becomes cluster i. The others were empty."""
        becomes = np.full(len(self.origins), NONE)
        becomes[kept] = np.arange(len(kept))
        alive = self.successors != NONE
        self.successors[alive] = becomes[self.successors[alive]]
        self.origins = self.origins[kept]
        self.is_split, self.is_merged = self.is_split[kept], self.is_merged[kept]

    def desert(self, before: Labels, after: Labels) -> None:
        """Record clusters that all of their old rows have left, so that nothing of them remains.

        `before` and `after` are the clusters of the old rows in the model and now. The successor of a
        deserted cluster is the cluster that most of its rows entered, and its number belongs to a
        created cluster.
        """
        numbers, k = self.numbers, len(self.origins)
        stay = after == numbers[before]
        n_rows = np.bincount(before, minlength=len(numbers))
        n_staying = np.bincount(before[stay], minlength=len(numbers))
        deserted = (numbers != NONE) & (n_rows > 0) & (n_staying == 0)
        leaving = deserted[before]
        routes, n_taken = np.unique(before[leaving] * np.int64(k) + after[leaving], return_counts=True)
        self.origins[numbers[deserted]] = NONE
        # The last assignment to a cluster is that of its most frequent route.
        for route in routes[np.argsort(n_taken, kind="stable")]:
            self.successors[route // k] = route % k

    @property
    def created(self) -> Ints:
        """Current clusters that did not exist in the model, ascending."""
        return np.flatnonzero(self.origins == NONE)

    @property
    def survives(self) -> Mask:
        """Mask of the clusters of the model that still exist."""
        alive = np.zeros(len(self.successors), dtype=bool)
        alive[self.origins[self.origins != NONE]] = True
        return alive

    @property
    def numbers(self) -> Ints:
        """Current number of each cluster of the model; NONE if it does not exist any more."""
        return np.where(self.survives, self.successors, NONE)
