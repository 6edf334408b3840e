"""Labels of a shard by the nearest of given centres: at the start and at the end of a fit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._sharded.shard.projecting import ShardProjection
from boostkmeans._sharded.shard.sampling import SampleFit
from boostkmeans._sharded.shard.sums import ShardSums, Snapshot, sum_labels
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.nearest import distances_to_assigned, nearest, nearest_with_bounds
from boostkmeans._steps.neighbours import assign_by_candidates
from boostkmeans._steps.partition import Labels


def place_shard(
    block: Any, view: ShardView, start: SampleFit, n_candidates: int | None
) -> tuple[Labels, ShardSums]:
    """Assign the rows of a shard to the nearest centres of a fitted sample, or nearly so."""
    rows, centres = view.rows(block), start.centres
    labels = np.empty(0, dtype=np.int32)
    if rows.n_rows:
        labels = assign_by_candidates(rows, centres, n_candidates, 1)
    return labels, sum_labels(view, rows, labels, len(centres))


def place_sampled_shard(
    block: Any, view: ShardView, start: SampleFit, n_candidates: int | None, first: int
) -> tuple[Labels, ShardSums]:
    """Assign the rows of a shard if the sample has all rows of positive weight: they keep their labels.

    `first` counts those of the shards before.
    """
    rows, weights = view.rows(block), view.weights
    if weights is None:
        labels = start.labels[first : first + rows.n_rows].copy()
    else:
        labels, _ = place_shard(block, view, start, n_candidates)
        weighted = np.flatnonzero(weights > 0)
        labels[weighted] = start.labels[first : first + len(weighted)]
    return labels, sum_labels(view, rows, labels, len(start.centres))


def label_shard(
    block: Any, view: ShardView, labels: Labels, n_clusters: int
) -> tuple[Labels, ShardSums]:
    """Use given labels, such as those of the user or of a checkpoint."""
    labels = np.ascontiguousarray(labels, dtype=np.int32)
    return labels, sum_labels(view, view.rows(block), labels, n_clusters)


def nearest_in_shard(
    block: Any,
    view: ShardView,
    labels: Labels,
    snapshot: Snapshot,
    projection: ShardProjection | None,
) -> tuple[Labels, tuple[float, NDArray[np.int64]]]:
    """Return the nearest centre of each row, and the inertia and the sizes that follow.

    Centres are rounded as in `predict`, which gets them in the user's space. A `projection` saves time
    if most labels are right.
    """
    rows, k = view.rows(block), snapshot.n_clusters
    centres: Floats = view.frame.enter(view.frame.leave(snapshot.view().centres))
    if rows.n_rows == 0:
        return np.empty(0, dtype=np.int32), (0.0, np.zeros(k, dtype=np.int64))
    if projection is None:
        labels, gaps = nearest(rows, centres, 1)
    else:
        labels, gaps = nearest_with_bounds(rows, projection.whole(), centres, labels, 1)
    total = float((gaps if view.weights is None else gaps * view.weights).sum())
    return labels, (total, np.bincount(labels, minlength=k))


def count_labels(labels: Labels, n_clusters: int) -> NDArray[np.int64]:
    """Return the number of rows of each cluster, including rows without weight."""
    return np.bincount(labels, minlength=n_clusters)


def inertias_in_shard(
    block: Any, view: ShardView, labels: Labels, snapshot: Snapshot
) -> tuple[Floats, Floats]:
    """Return the inertia and the weight of the rows of each cluster, in the frame."""
    rows, k = view.rows(block), snapshot.n_clusters
    if rows.n_rows == 0:
        return np.zeros(k), np.zeros(k)
    gaps, _ = distances_to_assigned(rows, snapshot.view().centres, labels, 1)
    weights = np.ones(rows.n_rows) if view.weights is None else view.weights
    inertias = np.bincount(labels, weights=gaps * weights, minlength=k).astype(np.float64)
    return inertias, np.bincount(labels, weights=weights, minlength=k).astype(np.float64)
