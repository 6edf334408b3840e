"""Snapshot: a copy of a partition to return to."""

from dataclasses import dataclass

import numpy as np

from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._storage.state import SavedState, State

# Composites with more values are not copied. They are recomputed from the labels if necessary.
MAX_COPIED_VALUES = 2**24


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
        """Return the snapshot that `state` described."""
        inertia, partition = saved.non_negative("inertia"), saved.optional_child("partition")
        if partition is None:
            return cls(inertia, saved.array("labels", np.int32, (n_rows,), 0, n_clusters - 1), None)
        found = Partition.restore(partition, n_rows, n_clusters, n_features)
        return cls(inertia, found.labels, found)
