"""Spread: the root mean squared distance of the rows of each cluster, for outlier scores."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Floats, Frame
from boostkmeans._data.weights import RowWeights
from boostkmeans._steps.nearest import nearest
from boostkmeans._steps.partition import Labels

# A spread below this share of that of all rows is considered 0: centres are rounded, so that the only
# row of a cluster does not always lie exactly on its centre.
MIN_SPREAD = 1e-7


def spreads_for(model: Any, X: Any) -> Floats:
    """Return the spread of each cluster by which distances of rows of X are divided.

    It is never 0, unless all rows of the fit lie on their centres.
    """
    check_is_fitted(model, "_frame")
    if getattr(model, "cluster_spread_", None) is not None:
        return _without_zeros(model.cluster_spread_, np.sqrt(model.distortion_))
    warnings.warn(
        "The model has no cluster_spread_: it was saved by version 0.12 or earlier, or its fit was "
        "interrupted. The spread of the rows of X is used instead.",
        stacklevel=3,
    )
    totals, counts = np.zeros((2, len(model.cluster_centers_)))
    # A file is read twice. Other rows are a single batch.
    for rows, centres, n_threads in model._batches(X):
        labels, gaps = nearest(rows, centres, n_threads)
        totals += np.bincount(labels, weights=gaps, minlength=len(totals))
        counts += np.bincount(labels, minlength=len(totals))
    means = np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)
    spreads = model._distances(np.append(means, totals.sum() / counts.sum()))
    return _without_zeros(spreads[:-1], spreads[-1])


def relative_distances(distances: Floats, labels: Labels, spreads: Floats) -> Floats:
    """Return distances divided by the spreads of their clusters; 0 for a distance of 0."""
    own = spreads[labels]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distances == 0, 0.0, distances / own)


def measured_spread(inertias: Floats, frame: Frame, weights: RowWeights, labels: Labels) -> Floats:
    """Return the root mean squared distance of the rows of each cluster; 0 for empty clusters.

    `inertias` are those of the clusters in the frame, with the user's weights.
    """
    totals = weights.totals_by(labels, np.broadcast_to(1.0, len(labels)), len(inertias))
    with np.errstate(over="ignore"):
        return np.ldexp(root_means(inertias, totals), -frame.exponent)


def root_means(inertias: Floats, weights: Floats) -> Floats:
    """Return the roots of inertias divided by weights; 0 where the weight is 0."""
    means = np.divide(inertias, weights, out=np.zeros_like(inertias), where=weights > 0)
    return np.asarray(np.sqrt(means))


def _without_zeros(spreads: Floats, overall: float) -> Floats:
    return np.where(spreads > MIN_SPREAD * overall, spreads, overall)


def spread_with_batch(model: Any, result: dict[str, Any], weights: RowWeights) -> Floats | None:
    """Return the spread of the clusters of all batches, given the attributes of the last one.

    The rows of earlier batches are known by their centres and spreads. By Steiner's theorem, their mean
    squared distance to the new centre is larger by the squared distance of the centres.
    """
    before, own = getattr(model, "cluster_spread_", None), result["cluster_spread_"]
    if before is None or own is None:
        return None
    step = np.linalg.norm(result["cluster_centers_"] - model.cluster_centers_, axis=1)
    ones = np.broadcast_to(1.0, len(result["labels_"]))
    new = weights.totals_by(result["labels_"], ones, len(own))
    shares = np.divide(new, model._cluster_weights + new, out=np.zeros_like(new), where=new > 0)
    spread: Floats = np.hypot(np.sqrt(1 - shares) * np.hypot(before, step), np.sqrt(shares) * own)
    return spread
