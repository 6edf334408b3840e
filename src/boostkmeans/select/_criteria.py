"""Criteria for the number of clusters: silhouette, Calinski-Harabasz index and gap statistic."""

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.preprocessing import normalize

from boostkmeans._data.frame import Array, Floats
from boostkmeans._data.rows import Rows
from boostkmeans._runtime.progress import logger, stage
from boostkmeans._steps.partition import Labels
from boostkmeans.select._tree_cuts import TreeCuts

# Number of sampled rows for the silhouette, which compares all pairs of rows.
SILHOUETTE_ROWS = 2000
# Minimum mean number of sampled rows per cluster. With fewer, the silhouette is not meaningful.
MIN_ROWS_PER_CLUSTER = 4
# Number of sampled rows for the gap, which clusters as many random rows several times.
GAP_ROWS = 5000
# Minimum number of sampled rows per cluster for the gap.
GAP_ROWS_PER_CLUSTER = 4


class Gaps(NamedTuple):
    """Gap statistic for each number of clusters."""

    values: Floats
    errors: Floats
    """Standard errors."""


class SilhouetteSample:
    """Sample of the rows, with all pairwise distances, for silhouettes of several clusterings."""

    def __init__(self, array: Array, metric: str, rng: np.random.RandomState) -> None:
        n = len(array)
        self._sample = np.sort(rng.choice(n, min(n, SILHOUETTE_ROWS), replace=False))
        distances = pairwise_distances(standardize(array[self._sample], metric))
        # For unit rows, half of the squared Euclidean distance is the cosine distance.
        self._distances = distances**2 / 2 if metric == "cosine" else distances

    def silhouette(self, labels: Labels) -> float:
        """Return the mean silhouette, or NaN if it is not defined for these labels of all rows."""
        own = labels[self._sample]
        if not 1 < len(np.unique(own)) <= len(own) / MIN_ROWS_PER_CLUSTER:
            return math.nan
        return float(silhouette_score(self._distances, own, metric="precomputed"))


def calinski_harabasz(total: float, within: float, k: int, n_rows: int) -> float:
    """Return the Calinski-Harabasz index from the total and the within-cluster sum of squares."""
    if not 1 < k < n_rows or within <= 0:
        return math.nan
    return (total - within) / (k - 1) / (within / (n_rows - k))


def gap_statistic(
    array: Array,
    ks: list[int],
    rng: np.random.RandomState,
    options: dict[str, Any],
    n_references: int,
) -> Gaps:
    """Return the gap statistic (Tibshirani, Walther, Hastie 2001).

    Reference rows are uniform in a box along the principal axes of the data. Both the data and the
    references are sampled if there are many rows.
    """
    n = min(len(array), max(GAP_ROWS, GAP_ROWS_PER_CLUSTER * ks[-1]))
    rows = standardize(array[np.sort(rng.choice(len(array), n, replace=False))], options["metric"])
    own = _log_distortions(rows, ks, rng, options)
    centre = rows.mean(axis=0)
    axes = np.linalg.svd(rows - centre, full_matrices=False)[2]
    coordinates = (rows - centre) @ axes.T
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    references = []
    for i in range(n_references):
        reference = rng.uniform(low, high, size=coordinates.shape) @ axes + centre
        with stage(f"gap, reference {i + 1} of {n_references}"):
            references.append(_log_distortions(reference, ks, rng, options))
        logger.info("gap: reference %d of %d", i + 1, n_references)
    errors = np.std(references, axis=0) * math.sqrt(1 + 1 / n_references)
    return Gaps(np.mean(references, axis=0) - own, errors)


def _log_distortions(
    rows: Floats, ks: list[int], rng: np.random.RandomState, options: dict[str, Any]
) -> Floats:
    tiny = np.finfo(np.float64).tiny
    cuts = TreeCuts.grow(rows, ks[-1], rng, options)
    return np.array([math.log(max(cuts.refine(k).distortion_, tiny)) for k in ks])


def standardize(rows: Array, metric: str) -> Floats:
    """Return the rows in a form that does not depend on unit and offset.

    For "euclidean", the rows are shifted and scaled to their own frame. For "cosine", they are scaled to
    unit length.
    """
    if metric == "cosine":
        # Scaled by the largest value first, so that squares do not overflow or underflow.
        largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
        return np.asarray(normalize(rows / np.where(largest > 0, largest, 1.0)))
    framed = Rows.in_own_frame(np.ascontiguousarray(rows), metric, 1)
    return framed.take(np.arange(framed.n_rows))
