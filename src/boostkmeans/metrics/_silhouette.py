"""Silhouettes: how much nearer rows are to their own cluster than to the next one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array

from boostkmeans import _core
from boostkmeans._data.frame import METRICS, Array, Floats
from boostkmeans._data.row_source import RowSource
from boostkmeans._data.rows import DTYPES, SPARSE_DTYPES, Rows, canonical
from boostkmeans._data.user_input import converting
from boostkmeans._data.weights import RowWeights
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.vector_columns import user_rows
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import any_of, choice, integer
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import distances_to_assigned, nearest, nearest_many
from boostkmeans.metrics._inputs import check_centres, check_cluster_numbers, number_labels

# Number of multiplications between two reports of progress, about a second of work.
OPERATIONS_PER_REPORT = 2e10
# Minimum number of rows between two reports, per thread. Each report passes over all rows once more.
MIN_ROWS_PER_REPORT = 512


@dataclass(frozen=True)
class Silhouette:
    """Silhouettes of rows, between -1 and 1: higher is better."""

    mean: float
    """Mean over all rows, weighted if there are weights."""
    samples: Floats
    """Silhouette of each row."""

    def __repr__(self) -> str:
        """Return the mean and the number of rows."""
        return f"Silhouette(mean={self.mean:.6g}, n_samples={len(self.samples)})"


def silhouette(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    metric: str = "euclidean",
    sample_weight: ArrayLike | None = None,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Silhouette:
    """Compute the exact silhouette of each row, from the distances of all pairs of rows.

    The silhouette of a row is ``(b - a) / max(a, b)``, where a is its mean distance to the other rows of
    its cluster, and b is the smallest mean distance to the rows of another cluster. It is 0 if the row
    is alone in its cluster. The values are those of `sklearn.metrics.silhouette_samples`.

    The time is proportional to n^2 times the number of features; the memory to n. For many rows,
    `simplified_silhouette` takes n times k instead.

    Parameters
    ----------
    X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type. There must be at least two clusters.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance of two rows. The cosine distance is 1 minus the cosine of the angle between them, and 1
        for rows of zeros.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. A weight of 2 counts as two equal rows. A row leaves itself out with a weight
        of at most 1, so weights below 1 may have any scale.
    n_threads : int, default=None
        Number of threads. By default, all processors available to this process.
    progress : callable, default=None
        Called as `progress(what, done, total)` about every second.

    Returns
    -------
    Silhouette
        Silhouette of each row, and the mean.

    Examples
    --------
    >>> from boostkmeans.metrics import silhouette
    >>> silhouette([[0.0], [1], [8], [9]], [0, 0, 1, 1]).samples.round(3).tolist()
    [0.882, 0.867, 0.867, 0.882]
    """
    _check_options("silhouette", metric, n_threads)
    array, threads = _core_array(X), resolve_threads(n_threads)
    n = array.shape[0]
    numbers, k = number_labels(labels, n)
    weights = _user_weights(sample_weight, n)
    totals = np.bincount(numbers, weights=weights, minlength=k)
    if np.count_nonzero(totals > 0) < 2:
        n_found = np.count_nonzero(totals > 0)
        raise ValueError(f"A silhouette needs at least 2 clusters that have weight. Got {n_found}.")
    rows = Rows.in_own_frame(array, metric, threads)
    report = progress or ignore_progress
    samples = np.empty(n)
    own = np.ascontiguousarray(numbers, dtype=np.int32)
    report("silhouette", 0, n)
    for begin, end in _ranges(array, threads):
        _core.silhouette(
            rows.core, weights, own, k, metric == "cosine", _additions(rows), begin,
            samples[begin:end], threads,
        )  # fmt: skip
        report("silhouette", end, n)
    return Silhouette(float(np.average(samples, weights=weights)), samples)


def simplified_silhouette(
    X: ArrayLike,
    model: ArrayLike | CentreModel,
    labels: ArrayLike | None = None,
    *,
    metric: str | None = None,
    sample_weight: ArrayLike | None = None,
    n_threads: int | None = None,
) -> Silhouette:
    """Compute the simplified silhouette of each row, from its distances to the centres.

    It is ``(b - a) / max(a, b)``, where a is the distance to the centre of the row's own cluster, and b
    the distance to the nearest other centre (Hruschka et al. 2004). It takes as long as `predict`, and
    ranks clusterings much like the exact `silhouette`.

    Parameters
    ----------
    X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
        Rows. With a model, vectors of `boostkmeans.io.open_vectors` are read in batches.
    model : fitted estimator, or array-like of shape (n_clusters, n_features)
        A model with centres, or the centres. At least two are needed.
    labels : array-like of shape (n_samples,), default=None
        Number of the cluster of each row. By default, it is the nearest one.
    metric : {"euclidean", "cosine"}, default=None
        With "cosine", rows are scaled to unit length before distances to centres are computed, as in the
        fit. The metric of a model is used by default, and "euclidean" with an array of centres.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row in the mean.
    n_threads : int, default=None
        Number of threads. By default, that of the model, or all processors available to this process.

    Returns
    -------
    Silhouette
        Simplified silhouette of each row, and the mean.

    Examples
    --------
    >>> from boostkmeans.metrics import simplified_silhouette
    >>> simplified_silhouette([[0.0], [1], [8], [9]], [[0.5], [8.5]]).samples.round(3).tolist()
    [0.941, 0.933, 0.933, 0.941]
    """
    _check_options("simplified_silhouette", metric, n_threads)
    found, begin = [], 0
    own: Array | None = None if labels is None else np.asarray(labels)
    for rows, centres, threads in _batches(X, model, metric, n_threads):
        if len(centres) < 2:
            raise ValueError("A silhouette needs at least 2 centres. Got 1.")
        some = None if own is None else own[begin : begin + rows.n_rows]
        if some is not None:
            some = check_cluster_numbers(some, rows.n_rows, len(centres)).astype(np.int32)
        found.append(_simplified(rows, centres, some, threads))
        begin += rows.n_rows
    if own is not None and len(own) != begin:
        raise ValueError(f"labels has {len(own)} entries, but X has {begin} rows.")
    samples = np.concatenate(found)
    weights = _user_weights(sample_weight, begin)
    return Silhouette(float(np.average(samples, weights=weights)), samples)


def silhouette_values(own: Array, other: Array) -> Floats:
    """Return (b - a) / max(a, b), given a and b; 0 where both are 0."""
    larger = np.maximum(own, other)
    values: Floats = np.divide(other - own, larger, out=np.zeros(len(own)), where=larger > 0)
    return values


def _simplified(rows: Rows, centres: Floats, labels: Any, n_threads: int) -> Floats:
    """Return the values of a batch. Distances in the frame will do: the unit cancels out."""
    if labels is None:
        gaps = np.sqrt(nearest_many(rows, centres, 2, n_threads)[1])
        return silhouette_values(gaps[:, 0], gaps[:, 1])
    a, _ = distances_to_assigned(rows, centres, labels, n_threads)
    _, b = nearest(rows, centres, n_threads, exclude=labels)
    return silhouette_values(np.sqrt(a), np.sqrt(b))


def _batches(
    X: Any, model: Any, metric: str | None, n_threads: int | None
) -> Iterator[tuple[Rows, Floats, int]]:
    """Yield rows and centres in a frame, and the number of threads."""
    if not isinstance(model, CentreModel):
        threads = resolve_threads(n_threads)
        array = _core_array(X)
        centres = check_centres(model, array.shape[1])
        rows = Rows.in_own_frame(array, metric or "euclidean", threads)
        yield rows, rows.frame.enter(centres), threads
        return
    for rows, centres, threads in model._batches(X):
        if metric is not None and metric != rows.frame.metric:
            raise ParameterError(
                "metric", f"None or {rows.frame.metric!r}, the metric of the model", metric
            )
        yield rows, centres, threads if n_threads is None else n_threads


def _check_options(owner: str, metric: Any, n_threads: Any) -> None:
    metrics = choice(METRICS) if owner == "silhouette" else any_of(None, choice(METRICS))
    for name, value, allowed in (
        ("metric", metric, metrics),
        ("n_threads", n_threads, any_of(None, integer(1))),
    ):
        if not allowed.accepts(value):
            raise ParameterError(name, allowed.expected, value, owner=owner)


def _core_array(X: Any) -> Any:
    """Return X as an array or CSR matrix that the core reads."""
    X = X.load() if isinstance(X, RowSource) else user_rows(X)
    dtypes = list(SPARSE_DTYPES if sparse.issparse(X) else DTYPES)
    with converting("X"):
        array = check_array(X, accept_sparse="csr", dtype=dtypes)
    return canonical(array) if sparse.issparse(array) else array


def _user_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    if sample_weight is None:
        return None
    weights = RowWeights.of(sample_weight, n_rows)
    if weights.values is None:
        return np.full(n_rows, weights.unit)
    return weights.values * weights.unit


def _additions(rows: Rows) -> Floats | None:
    """Return what is added to the cosine distances of rows of zeros, in the frame; None for nothing.

    Half of the squared distance between zero and a unit vector is 1 / 2, but the cosine distance is 1.
    """
    zero = rows.zero_rows()
    if zero is None or not zero.any():
        return None
    return np.where(zero, np.ldexp(0.5, 2 * rows.frame.exponent), 0.0)


def _ranges(array: Any, n_threads: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows that are measured between two reports of progress."""
    n = array.shape[0]
    values = array.nnz if sparse.issparse(array) else array.shape[0] * array.shape[1]
    step = max(MIN_ROWS_PER_REPORT * n_threads, int(OPERATIONS_PER_REPORT / max(1, values)))
    for begin in range(0, n, step):
        yield begin, min(n, begin + step)
