"""Iterations of Lloyd's algorithm on the core."""

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.projection import Projection
from boostkmeans._steps.nearest import nearest, nearest_with_bounds
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

    def __init__(
        self,
        data: FitData,
        centres: Floats,
        projection: Projection | None = None,
        guesses: Labels | None = None,
    ) -> None:
        """Assign all rows to the first centres, which are in the frame of the rows.

        A projection saves time: its bounds exclude most centres. The result is the same. The first
        assignment uses it if there are guesses of the labels.
        """
        self._data = data
        self._in_frame = centres
        self._projection = projection
        self.labels, self._distances = self._assigned(guesses)

    @property
    def inertia(self) -> float:
        """Inertia in the units of X."""
        data = self._data
        return data.rows.frame.inertia(data.weights.total_of(self._distances))

    def iterate(self) -> tuple[int, float]:
        """Perform an iteration. Return the number of moves and the squared movement of the centres.

        The movement is in the unit of the frame.
        """
        before, labels, frame = self._in_frame, self.labels, self._data.rows.frame
        # Rows are assigned to the centres that users get: `leave` and `enter` may round.
        self.centres = frame.leave(self._means())
        self._in_frame = frame.enter(self.centres)
        self.labels, self._distances = self._assigned(labels)
        movement = self._in_frame - before
        return int(np.count_nonzero(self.labels != labels)), float(np.vdot(movement, movement))

    def _assigned(self, guesses: Labels | None) -> tuple[Labels, Floats]:
        """Return the nearest centre of each row, and its squared distance in the frame."""
        rows, n_threads = self._data.rows, self._data.n_threads
        if self._projection is None or guesses is None:
            return nearest(rows, self._in_frame, n_threads)
        return nearest_with_bounds(rows, self._projection, self._in_frame, guesses, n_threads)

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
