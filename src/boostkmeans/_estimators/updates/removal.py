"""Removal: the sums of clusters without some rows, and the numbers of rows to remove."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.cluster_sums import ClusterSums
from boostkmeans._data.frame import Floats
from boostkmeans._data.row_matching import MISSING, matching_rows
from boostkmeans._data.rows import Rows
from boostkmeans._data.stacking import same_kind
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import InvalidValuesError, Message, Parameter, ParameterError
from boostkmeans._steps.nearest import nearest_labels

Ints = NDArray[np.int64]

# Relative rounding of sums of weights.
ROUNDING = 1e-9
# Removed rows may have this share more inertia than all rows: some were in another cluster than the
# nearest one.
INERTIA_EXCESS = 0.01


@dataclass(frozen=True)
class Remainder:
    """The sums of clusters in the user's space, after rows were removed."""

    centres: Floats
    weights: Floats
    sizes: Ints
    inertia: float
    """Inertia of all rows."""
    touched: NDArray[np.bool_]
    """Clusters that lost rows."""
    inertias: Floats | None = None
    """Inertia of the rows of each cluster, if it is known."""


def remaining(whole: Remainder, removed: Rows, row_weights: RowWeights, n_threads: int) -> Remainder:
    """Subtract rows from the sums of their nearest clusters."""
    frame = removed.frame
    centres, k = frame.enter(whole.centres), len(whole.centres)
    labels = nearest_labels(removed, centres, n_threads)
    lost = ClusterSums.of(removed, row_weights.values, labels, k, n_threads)
    counts = np.bincount(labels, minlength=k)
    lost_weights = lost.weights * row_weights.unit
    is_weighted = row_weights.values is not None or row_weights.unit != 1
    _check_amounts(whole, counts, lost_weights, is_weighted=is_weighted)
    left = whole.weights - lost_weights
    left[(left <= ROUNDING * whole.weights) | (whole.sizes == counts)] = 0.0
    partly = (left > 0) & (lost_weights > 0)
    means = lost.composites[partly] / lost.weights[partly, None]
    # C W = C_left W_left + m w: the mean of the other rows lies opposite to that of the removed rows.
    shares = (lost_weights[partly] / left[partly])[:, None]
    moved = centres[partly] + (centres[partly] - means) * shares
    gaps = moved - means
    spread = np.einsum("ij,ij->i", gaps, gaps)
    spread *= left[partly] * lost_weights[partly] / (left[partly] + lost_weights[partly])
    lost_inertias = lost.inertias * row_weights.unit
    lost_inertias[partly] += spread
    lost_inertia = frame.inertia(float(lost_inertias.sum()))
    _check_inertia(whole, lost_inertia)
    new_centres = whole.centres.copy()
    new_centres[partly] = frame.leave(moved)
    return Remainder(
        new_centres,
        left,
        whole.sizes - counts,
        max(0.0, whole.inertia - lost_inertia),
        counts > 0,
        _left_of(whole.inertias, np.ldexp(lost_inertias, -2 * frame.exponent), left),
    )


def _left_of(inertias: Floats | None, lost: Floats, left: Floats) -> Floats | None:
    """Return the inertia of the rows that are left in each cluster, if that of all is known."""
    if inertias is None:
        return None
    return np.where(left > 0, np.maximum(inertias - lost, 0.0), 0.0)


def _check_amounts(whole: Remainder, counts: Ints, lost_weights: Floats, *, is_weighted: bool) -> None:
    """Raise an error if a cluster would lose more than it has."""
    too_heavy = lost_weights > whole.weights * (1 + ROUNDING)
    if not is_weighted:
        # A fit may end with the assignment of rows to their nearest centres, after the last sums. A
        # cluster can still lose all of its rows.
        too_heavy &= counts < whole.sizes
    for c in np.flatnonzero((counts > whole.sizes) | too_heavy)[:1]:
        raise InvalidValuesError(
            Message(
                "{removed} has {lost} rows of weight {lost_weight:g} near cluster {cluster}, but "
                "it contains only {size} rows of weight {weight:g}. They are not all rows of the "
                "model, or they were in other clusters: pass all rows of the model, too ({rows}).",
                removed=Parameter("X_removed"),
                rows=Parameter("X"),
                lost=int(counts[c]),
                lost_weight=float(lost_weights[c]),
                cluster=int(c),
                size=int(whole.sizes[c]),
                weight=float(whole.weights[c]),
            )
        )


def _check_inertia(whole: Remainder, lost: float) -> None:
    """Raise an error if rows so far from the centres cannot have been in the clusters."""
    if whole.inertias is None:
        return
    squares = float(whole.weights @ np.square(whole.centres).sum(axis=1))
    if lost > whole.inertia * (1 + INERTIA_EXCESS) + ROUNDING * squares:
        raise InvalidValuesError(
            Message(
                "{removed} has an inertia of {lost:g}, but that of all rows of the model is only "
                "{inertia:g}. They are not all rows of the model, or they were in other clusters: pass "
                "all rows of the model, too ({rows}).",
                removed=Parameter("X_removed"),
                rows=Parameter("X"),
                lost=lost,
                inertia=whole.inertia,
            )
        )


def is_row_numbers(removed: Any) -> bool:
    """Return True if rows to remove are given by their numbers and not by their values."""
    return not hasattr(removed, "is_sparse") and np.ndim(removed) == 1


def check_row_numbers(removed: Any, n_rows: int) -> Ints:
    """Return row numbers. Raise an error unless they are distinct integers in range."""
    numbers = np.asarray(removed)
    if len(numbers) and numbers.dtype.kind not in "iu":
        raise ParameterError("X_removed", "a 1D array of row numbers, or a 2D array of rows", removed)
    numbers = numbers.astype(np.int64)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= n_rows):
        raise ParameterError("X_removed", f"row numbers from 0 to {n_rows - 1}", removed)
    if len(np.unique(numbers)) < len(numbers):
        raise ParameterError("X_removed", "distinct row numbers", removed)
    return numbers


def find_rows(rows: Any, removed: Any) -> Ints:
    """Return the numbers of the rows that equal those to remove. Raise an error if one is missing."""
    numbers = matching_rows(*same_kind(rows, removed))
    for missing in np.flatnonzero(numbers == MISSING)[:1]:
        raise InvalidValuesError(
            Message(
                "Row {row} of {removed} is not among the rows of {rows}, or is listed more often than "
                "there.",
                row=int(missing),
                removed=Parameter("X_removed"),
                rows=Parameter("X"),
            )
        )
    return numbers
