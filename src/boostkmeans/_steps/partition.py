"""Partition: the representation of a clustering, and snapshots to which a run can return."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans import _core
from boostkmeans._data.cluster_sums import ClusterSums
from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import RowSet
from boostkmeans._storage.state import SavedState, State

Labels = NDArray[np.int32]

# Composites with more values are not copied. They are recomputed from the labels if necessary.
MAX_COPIED_VALUES = 2**24


@dataclass
class Partition:
    """Labels, and the composites (sums of members), weights and counts that follow from them.

    The composite of an empty cluster is a position instead of a sum.
    """

    labels: Labels
    composites: Floats
    weights: Floats
    counts: NDArray[np.int64]
    stale: bool = False
    """True while the composites may not match the labels, because they are being overwritten."""

    @classmethod
    def from_labels(
        cls,
        labels: NDArray[np.integer[Any]],
        n_clusters: int,
        rows: RowSet,
        row_weights: Floats | None,
        n_threads: int,
        *,
        positions: Floats | None = None,
        inertias: Floats | None = None,
    ) -> tuple["Partition", float]:
        """Return the partition with these labels, and its inertia in the frame.

        `positions` are those of empty clusters. `inertias` is filled with the inertia of each cluster.
        """
        shape = (n_clusters, rows.n_features)
        partition = cls(
            labels=np.ascontiguousarray(labels, dtype=np.int32),
            composites=np.zeros(shape) if positions is None else positions.copy(),
            weights=np.zeros(n_clusters),
            counts=np.zeros(n_clusters, dtype=np.int64),
        )
        inertia, _ = partition.recompute(rows, row_weights, n_threads, inertias=inertias)
        return partition, inertia

    def state(self) -> State:
        """Return the partition as plain values for a checkpoint."""
        return {
            "labels": self.labels,
            "composites": self.composites,
            "weights": self.weights,
            "counts": self.counts,
            "stale": self.stale,
        }

    @classmethod
    def restore(cls, saved: SavedState, n_rows: int, n_clusters: int, n_features: int) -> "Partition":
        """Restore the partition from the result of `state`."""
        return cls(
            labels=saved.array("labels", np.int32, (n_rows,), 0, n_clusters - 1),
            composites=saved.array("composites", np.float64, (n_clusters, n_features)),
            weights=saved.array("weights", np.float64, (n_clusters,)),
            counts=saved.array("counts", np.int64, (n_clusters,), 0, n_rows),
            stale=saved.boolean("stale"),
        )

    def view(self, where: slice = slice(None)) -> _core.PartitionView:
        """Return the partition as the core reads and changes it, with the labels of some rows."""
        return _core.PartitionView(
            labels=self.labels[where],
            composites=self.composites,
            weights=self.weights,
            counts=self.counts,
        )

    def copy(self) -> "Partition":
        """Return a copy that shares no memory with this partition."""
        return Partition(
            self.labels.copy(), self.composites.copy(), self.weights.copy(), self.counts.copy()
        )

    def joined(self, becomes: Labels, n_clusters: int) -> "Partition":
        """Return a partition in which cluster c is a part of cluster `becomes[c]`.

        A cluster to which no rows belong has a composite of 0.
        """
        # The composite of an empty cluster is not a sum.
        filled = np.flatnonzero(self.weights > 0)
        shape = (n_clusters, self.n_clusters)
        joins = csr_array((np.ones(len(filled)), (becomes[filled], filled)), shape=shape)
        new = Partition(
            labels=becomes[self.labels],
            composites=np.ascontiguousarray(joins @ self.composites),
            weights=np.zeros(n_clusters),
            counts=np.zeros(n_clusters, dtype=np.int64),
        )
        np.add.at(new.weights, becomes, self.weights)
        np.add.at(new.counts, becomes, self.counts)
        return new

    def renumbered(self, numbers: Labels) -> "Partition":
        """Return a partition in which cluster c has the number numbers[c]."""
        order = np.argsort(numbers)
        return Partition(
            numbers[self.labels], self.composites[order], self.weights[order], self.counts[order]
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters, including empty ones."""
        return len(self.weights)

    @property
    def centres(self) -> Floats:
        """Means of the clusters, or the positions of empty clusters."""
        return self.composites / np.where(self.weights > 0, self.weights, 1.0)[:, None]

    @property
    def objective(self) -> float:
        """Sum of |D|^2 / W over all clusters, the paper's I1*, which a fit maximises."""
        squares = np.einsum("ij,ij->i", self.composites, self.composites)
        per_cluster = np.divide(
            squares, self.weights, out=np.zeros_like(squares), where=self.weights > 0
        )
        return float(per_cluster.sum())

    @property
    def objective_of_one_cluster(self) -> float:
        """|D|^2 / W of all rows as one cluster."""
        whole = np.where(self.weights > 0, 1.0, 0.0) @ self.composites
        return float(whole @ whole) / float(self.weights.sum())

    def recompute(
        self,
        rows: RowSet,
        row_weights: Floats | None,
        n_threads: int,
        *,
        inertias: Floats | None = None,
    ) -> tuple[float, float]:
        """Recompute everything from the labels. Return the inertia and the drift of the composites.

        The drift is the largest change of a composite, relative to the largest value. `inertias` is
        filled with the inertia of each cluster.
        """
        total: ClusterSums | None = None
        for block in rows.blocks():
            weights = None if row_weights is None else row_weights[block.where]
            if rows.in_memory:  # The core writes into the existing arrays, which avoids another copy.
                found = _core.recompute(
                    block.rows.core, weights, self.view(), inertias=inertias, n_threads=n_threads
                )
                self.stale = False
                return found
            found_in_block = ClusterSums.of(
                block.rows, weights, self.labels[block.where], self.n_clusters, n_threads
            )
            if total is None:
                total = found_in_block
            else:
                total.add(found_in_block)
        assert total is not None, "rows have at least one block"
        self.stale = False
        return self._take_sums(total, inertias)

    def _take_sums(self, total: ClusterSums, inertias: Floats | None) -> tuple[float, float]:
        """Take over the sums of all rows. Return the inertia and the drift."""
        filled = total.counts > 0
        change = np.abs(total.composites[filled] - self.composites[filled]).max(initial=0.0)
        self.composites[filled] = total.composites[filled]
        self.weights[:], self.counts[:] = total.weights, total.counts
        if inertias is not None:
            inertias[:] = total.inertias
        scale = np.abs(self.composites).max(initial=1e-300)
        return float(total.inertias.sum()), float(change / scale)


@dataclass(frozen=True)
class Snapshot:
    """A partition, or only its labels, and its inertia."""

    inertia: float
    labels: Labels
    partition: Partition | None
    """None if the partition has to be recomputed from the labels."""

    @classmethod
    def copy_of(cls, partition: Partition, inertia: float) -> "Snapshot":
        """Copy a partition, without its composites if they are very large."""
        if partition.composites.size > MAX_COPIED_VALUES:
            return cls(inertia, partition.labels.copy(), None)
        copy = partition.copy()
        return cls(inertia, copy.labels, copy)

    def state(self) -> State:
        """Return the snapshot as plain values for a checkpoint."""
        if self.partition is None:
            return {"inertia": self.inertia, "labels": self.labels}
        return {"inertia": self.inertia, "partition": self.partition.state()}

    @classmethod
    def restore(cls, saved: SavedState, n_rows: int, n_clusters: int, n_features: int) -> "Snapshot":
        """Restore the snapshot from the result of `state`."""
        inertia, partition = saved.non_negative("inertia"), saved.optional_child("partition")
        if partition is None:
            return cls(inertia, saved.array("labels", np.int32, (n_rows,), 0, n_clusters - 1), None)
        found = Partition.restore(partition, n_rows, n_clusters, n_features)
        return cls(inertia, found.labels, found)
