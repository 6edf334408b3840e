"""Cluster sums: composites, weights, counts and inertias of the clusters among some rows.

Sums of several parts of the data add up. Differences of large sums would lose precision, so the inertias
of two parts of a cluster add up together with the cost of merging the parts (Chan et al. 1979).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._runtime.object_size import SizedByFields

# Clusters whose merge costs are computed at a time, to bound the memory.
MERGED_AT_ONCE = 1024


@dataclass(frozen=True)
class ClusterSums(SizedByFields):
    """Sums of the members of each cluster. The composite of an empty cluster is 0."""

    composites: Floats
    weights: Floats
    counts: NDArray[np.int64]
    inertias: Floats
    """Inertia of each cluster."""

    @classmethod
    def of(
        cls,
        rows: Rows,
        row_weights: Floats | None,
        labels: NDArray[np.int32],
        n_clusters: int,
        n_threads: int,
    ) -> "ClusterSums":
        """Return the sums of rows with these labels."""
        sums = cls(
            composites=np.zeros((n_clusters, rows.n_features)),
            weights=np.zeros(n_clusters),
            counts=np.zeros(n_clusters, dtype=np.int64),
            inertias=np.zeros(n_clusters),
        )
        view = _core.PartitionView(
            labels=np.require(labels, requirements="W"),  # Arrays of Ray are read-only.
            composites=sums.composites,
            weights=sums.weights,
            counts=sums.counts,
        )
        _core.recompute(rows.core, row_weights, view, inertias=sums.inertias, n_threads=n_threads)
        return sums

    @property
    def n_clusters(self) -> int:
        """Number of clusters, including empty ones."""
        return len(self.weights)

    def copy(self) -> "ClusterSums":
        """Return a copy that shares no memory with these sums."""
        return ClusterSums(
            self.composites.copy(), self.weights.copy(), self.counts.copy(), self.inertias.copy()
        )

    def add(self, other: "ClusterSums") -> None:
        """Add the sums of other rows, in place."""
        np.add(self.inertias, other.inertias + _merge_costs(self, other), out=self.inertias)
        np.add(self.composites, other.composites, out=self.composites)
        np.add(self.weights, other.weights, out=self.weights)
        np.add(self.counts, other.counts, out=self.counts)

    def plus(self, other: "ClusterSums") -> "ClusterSums":
        """Return the sums of these and of other rows, with the same bits as `add`."""
        return ClusterSums(
            self.composites + other.composites,
            self.weights + other.weights,
            self.counts + other.counts,
            self.inertias + (other.inertias + _merge_costs(self, other)),
        )


def _merge_costs(a: ClusterSums, b: ClusterSums) -> Floats:
    """Return the increase of the inertia if each cluster of `a` is merged with that of `b`."""
    costs = np.zeros(a.n_clusters)
    both = np.flatnonzero((a.weights > 0) & (b.weights > 0))
    own, other = a.weights[both], b.weights[both]
    for begin in range(0, len(both), MERGED_AT_ONCE):
        some: NDArray[np.int64] | slice = both[begin : begin + MERGED_AT_ONCE]
        if len(both) == a.n_clusters:  # A slice needs no copies.
            some = slice(begin, begin + MERGED_AT_ONCE)
        gaps = a.composites[some] / a.weights[some, None]
        gaps -= b.composites[some] / b.weights[some, None]
        costs[some] = np.einsum("ij,ij->i", gaps, gaps)
    costs[both] *= own * other / (own + other)
    return costs
