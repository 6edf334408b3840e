"""Iterations of Lloyd's algorithm on the core."""

import numpy as np

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans.baselines._baseline import FitData


class Lloyd:
    """Centres, and the nearest centre of each row.

    An iteration computes the means of the clusters and assigns each row to the nearest mean. The
    assignment also provides the distances, so that the exact inertia costs nothing.
    """

    centres: Floats
    """Centres in the user's space, after an iteration."""
    labels: Labels
    """Nearest centre of each row."""

    def __init__(self, data: FitData, centres: Floats) -> None:
        """Assign all rows to the first centres, which are in the frame of the rows."""
        self._data = data
        self._in_frame = centres
        self.labels = np.empty(data.rows.n_rows, dtype=np.int32)
        self._distances: Floats = np.empty(data.rows.n_rows)
        self._assign()

    @property
    def inertia(self) -> float:
        """Inertia in the units of X."""
        data = self._data
        return data.rows.frame.inertia(data.weights.total_of(self._distances))

    def iterate(self) -> tuple[int, float]:
        """Perform an iteration. Return the number of moves and the squared movement of the centres.

        The movement is in the unit of the frame.
        """
        before, labels, frame = self._in_frame, self.labels.copy(), self._data.rows.frame
        # Rows are assigned to the centres that users get: `leave` and `enter` may round.
        self.centres = frame.leave(self._means())
        self._in_frame = frame.enter(self.centres)
        self._assign()
        movement = self._in_frame - before
        return int(np.count_nonzero(self.labels != labels)), float(np.vdot(movement, movement))

    def _assign(self) -> None:
        data = self._data
        _core.nearest(
            data.rows.core,
            self._in_frame,
            self.labels,
            distances=self._distances,
            exclude=None,
            n_threads=data.n_threads,
        )

    def _means(self) -> Floats:
        """Return the means of the clusters, after a row was moved into each empty cluster."""
        data = self._data
        partition, _ = Partition.from_labels(
            self._labels_with_filled_clusters(),
            len(self._in_frame),
            data.rows,
            data.weights.values,
            data.n_threads,
        )
        means = partition.centres
        empty = partition.weights <= 0
        means[empty] = self._in_frame[empty]
        return means

    def _labels_with_filled_clusters(self) -> Labels:
        """Return the labels, or a copy with the rows that are farthest from their centres moved.

        As in scikit-learn, these rows are the new centres of the empty clusters. Rows that lie on their
        centre and the last row of a cluster do not move, so that a cluster may stay empty.
        """
        weights = self._data.weights.values
        counted = self.labels if weights is None else self.labels[weights > 0]
        sizes = np.bincount(counted, minlength=len(self._in_frame))
        empty = np.flatnonzero(sizes == 0).tolist()
        if not empty:
            return self.labels
        labels = self.labels.copy()
        gaps = self._distances if weights is None else np.where(weights > 0, self._distances, 0.0)
        for row in np.argsort(-gaps, kind="stable"):
            if not empty or gaps[row] <= 0:
                break
            if sizes[labels[row]] > 1:
                sizes[labels[row]] -= 1
                labels[row] = empty.pop(0)
        return labels


def mean_variance(data: FitData) -> float:
    """Return the mean variance of the features in the frame, without weights, as scikit-learn does."""
    rows = data.rows
    one_cluster = np.zeros(rows.n_rows, dtype=np.int32)
    _, inertia = Partition.from_labels(one_cluster, 1, rows, None, data.n_threads)
    return float(inertia / (rows.n_rows * rows.n_features))
