"""Exact nearest centres, and distances to assigned centres."""

import numpy as np

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.projection import Projection
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.partition import Labels

# Rows without weight that are copied and assigned at a time.
ZERO_WEIGHT_ROWS_AT_ONCE = 65_536


def nearest(
    rows: Rows, centres: Floats, n_threads: int, *, exclude: Labels | None = None
) -> tuple[Labels, Floats]:
    """Return the nearest centre of each row and its squared distance in the frame.

    `exclude` has one centre per row to skip, for example the nearest one to find the second nearest.
    """
    labels = np.empty(rows.n_rows, dtype=np.int32)
    distances = np.empty(rows.n_rows)
    _core.nearest(rows.core, centres, labels, distances=distances, exclude=exclude, n_threads=n_threads)
    return labels, distances


def nearest_many(rows: Rows, centres: Floats, m: int, n_threads: int) -> tuple[Labels, Floats]:
    """Return the m nearest centres of each row, nearest first, and their squared distances.

    The distances are in the frame. Ties go to the centre with the lower index.
    """
    labels = np.empty((rows.n_rows, m), dtype=np.int32)
    distances = np.empty((rows.n_rows, m))
    _core.nearest_many(rows.core, centres, labels, distances, n_threads)
    return labels, distances


def nearest_labels(rows: RowSet, centres: Floats, n_threads: int) -> Labels:
    """Return the nearest centre of each row. This is faster than `nearest`, which reads rows twice."""
    labels = np.empty(rows.n_rows, dtype=np.int32)
    for block in rows.blocks():
        _core.nearest(
            block.rows.core,
            centres,
            labels[block.where],
            distances=None,
            exclude=None,
            n_threads=n_threads,
        )
    return labels


def nearest_with_bounds(
    rows: Rows, projection: Projection, centres: Floats, guesses: Labels, n_threads: int
) -> tuple[Labels, Floats]:
    """Return the same as `nearest`, in less time if most guesses are right."""
    labels, distances = guesses.copy(), np.empty(rows.n_rows)
    _core.bounded_nearest(rows.core, projection.core, centres, labels, distances, n_threads=n_threads)
    return labels, distances


def assign_nearest(
    rows: RowSet,
    row_weights: RowWeights,
    centres: Floats,
    n_threads: int,
    *,
    projection: Projection | None = None,
    guesses: Labels | None = None,
    inertias: Floats | None = None,
) -> tuple[Labels, float]:
    """Return the nearest centre of each row, and the inertia in the frame with the user's weights.

    A projection of all rows, together with guesses of the labels, saves time. `inertias` is filled with
    the inertia of each cluster.
    """
    if inertias is not None:
        inertias[:] = 0.0
    labels = np.empty(rows.n_rows, dtype=np.int32)
    total = 0.0
    for block in rows.blocks():
        if projection is not None and guesses is not None and rows.in_memory:
            found, distances = nearest_with_bounds(block.rows, projection, centres, guesses, n_threads)
        else:
            found, distances = nearest(block.rows, centres, n_threads)
        labels[block.where] = found
        total += row_weights.total_of(distances, block.where)
        if inertias is not None:
            inertias += row_weights.totals_by(found, distances, len(centres), block.where)
    return labels, total


def inertia_of_clusters(
    rows: RowSet, row_weights: RowWeights, centres: Floats, labels: Labels, n_threads: int
) -> Floats:
    """Return the inertia of each cluster in the frame, with the user's weights."""
    inertias = np.zeros(len(centres))
    for block in rows.blocks():
        own = labels[block.where]
        distances, _ = distances_to_assigned(block.rows, centres, own, n_threads)
        inertias += row_weights.totals_by(own, distances, len(centres), block.where)
    return inertias


def distances_to_assigned(
    rows: Rows, centres: Floats, labels: Labels, n_threads: int
) -> tuple[Floats, Floats]:
    """Return the squared distance of each row to its assigned centre, and |x|^2, in the frame."""
    distances, norms = np.empty(rows.n_rows), np.empty(rows.n_rows)
    _core.distances_to_assigned(rows.core, centres, labels, distances, norms, n_threads=n_threads)
    return distances, norms


def assign_zero_weight_rows(
    labels: Labels, rows: RowSet, row_weights: Floats, centres: Floats, n_threads: int
) -> None:
    """Assign rows without weight, which sweeps never move, to their nearest centres, in place."""
    weightless = np.flatnonzero(row_weights <= 0)
    for block in rows.blocks(rows.blocks_containing(weightless)):
        members = np.flatnonzero(row_weights[block.where] <= 0)
        in_block = labels[block.where]
        for begin in range(0, len(members), ZERO_WEIGHT_ROWS_AT_ONCE):
            some = members[begin : begin + ZERO_WEIGHT_ROWS_AT_ONCE]
            in_block[some] = nearest(block.rows.sample(some), centres, n_threads)[0]
