"""Measures of a clustering, for dense arrays and SciPy's sparse matrices alike.

Without classes to compare with: `average_distortion`, and the two objectives `i1` and `i2`. With
classes: `entropy` and `purity`; normalized mutual information and the adjusted Rand index are in
`sklearn.metrics` (`normalized_mutual_info_score`, `adjusted_rand_score`). Of a search by clusters:
`recall_at`, with `exact_neighbors` for its ground truth; and `size_imbalance`, which tells how much
longer it takes where sizes differ.

>>> import numpy as np
>>> from boostkmeans import metrics
>>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
>>> round(metrics.average_distortion(X, [0, 0, 0, 1, 1, 1]), 4)
2.6667
"""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_array

from boostkmeans._data.rows import Array, Floats, canonical
from boostkmeans._data.weights import RowWeights
from boostkmeans.metrics._labelled_rows import Numbers, cluster_sums, squared_gaps
from boostkmeans.quantization import Neighbors, exact_neighbors

__all__ = [
    "Neighbors",
    "average_distortion",
    "entropy",
    "exact_neighbors",
    "i1",
    "i2",
    "purity",
    "recall_at",
    "size_imbalance",
]


def average_distortion(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    centers: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean squared distance of the rows to the means of their clusters: the lower, the better.

    With `centers`, to these instead; labels are then their numbers. Squares and sums are float64.

    >>> average_distortion([[0.0], [2], [9]], ["a", "a", "b"])
    0.6666666666666666
    >>> average_distortion([[0.0], [2], [9]], [0, 0, 1], centers=[[0], [8]])
    1.6666666666666667
    """
    rows = _rows(X)
    weights = RowWeights.of(sample_weight, rows.shape[0])
    if centers is None:
        numbers, n_clusters = _numbered(labels, rows.shape[0])
        sums, totals = cluster_sums(rows, numbers, n_clusters, weights.values)
        points = sums / np.where(totals > 0, totals, 1.0)[:, None]
    else:
        points = _centres(centers, rows.shape[1])
        numbers = _numbers(labels, rows.shape[0], len(points))
    return weights.total_of(squared_gaps(rows, numbers, points)) / weights.total


def i1(X: ArrayLike, labels: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """The objective that boost k-means raises (the paper's I1*): the higher, the better.

    It is the sum of |D|^2 / n over the clusters, where D is the sum of a cluster's n rows. The sum of
    |x|^2 over all rows, minus this, is the sum of squared distances to the means.

    >>> i1([[0.0], [2], [9]], [0, 0, 1])
    83.0
    """
    rows = _rows(X)
    weights = RowWeights.of(sample_weight, rows.shape[0])
    numbers, n_clusters = _numbered(labels, rows.shape[0])
    sums, totals = cluster_sums(rows, numbers, n_clusters, weights.values)
    squares = np.einsum("ij,ij->i", sums, sums)
    return float((squares / np.where(totals > 0, totals, 1.0)).sum()) * weights.unit


def i2(X: ArrayLike, labels: ArrayLike) -> float:
    """Mean squared distance of pairs in a cluster, times its size, over all clusters: lower is better.

    It equals 2 n / (n - 1) times the squared distances to the mean. A cluster of one row has no pairs,
    and counts 0.

    >>> i2([[0.0], [2], [9]], [0, 0, 1])
    8.0
    """
    rows = _rows(X)
    numbers, n_clusters = _numbered(labels, rows.shape[0])
    sums, sizes = cluster_sums(rows, numbers, n_clusters, None)
    gaps = squared_gaps(rows, numbers, sums / sizes[:, None])
    within = np.bincount(numbers, weights=gaps, minlength=n_clusters)
    several = sizes > 1
    return float((2 * sizes[several] / (sizes[several] - 1) * within[several]).sum())


def entropy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """How mixed the classes are in the clusters: 0 if each has one class alone, 1 if they tell nothing.

    It is -sum_r n_r/n / log(c) * sum_i p log(p), where p is the share of class i among the n_r members
    of cluster r, and c the number of classes; 0 if there is one class alone.

    >>> entropy(["tea", "tea", "rum", "rum"], [0, 0, 1, 1])
    0.0
    >>> entropy(["tea", "tea", "rum", "rum"], [0, 1, 0, 1])
    1.0
    """
    table = _contingency(labels_true, labels_pred)
    n_classes = table.shape[0]
    if n_classes == 1:
        return 0.0
    sizes = np.asarray(table.sum(axis=0)).ravel()
    counts = table.data  # without zeros, so that 0 log 0 does not come up
    surprise = -np.log(counts / sizes[table.indices])
    return float(counts @ surprise / (sizes.sum() * np.log(n_classes)))


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the rows that are of the class that most rows of their cluster are of.

    >>> purity(["tea", "tea", "rum", "rum"], [0, 0, 0, 1])
    0.75
    """
    table = _contingency(labels_true, labels_pred)
    return float(table.max(axis=0).sum() / table.sum())


@overload
def recall_at(r: int, found: ArrayLike, truth: ArrayLike) -> float: ...
@overload
def recall_at(r: Sequence[int], found: ArrayLike, truth: ArrayLike) -> Floats: ...
def recall_at(r: int | Sequence[int], found: ArrayLike, truth: ArrayLike) -> float | Floats:
    """Share of the queries whose true nearest neighbour is among the first r that were found.

    `found` has a row for each query, best first; `truth` the true neighbour of each query, or a row of
    them, of which the first counts. With several r, an array.

    >>> recall_at(1, [[3, 7], [5, 4]], [3, 4])
    0.5
    >>> recall_at([1, 2], [[3, 7], [5, 4]], [3, 4]).tolist()
    [0.5, 1.0]
    """
    rows, targets = _searched(found, truth)
    depths = np.asarray(
        [_depth(depth, rows.shape[1]) for depth in np.atleast_1d(np.asarray(r)).tolist()]
    )
    hits = rows == targets[:, None]
    ranks = np.where(hits.any(axis=1), hits.argmax(axis=1), rows.shape[1])
    shares: Floats = (ranks < depths[:, None]).mean(axis=1)
    return float(shares[0]) if np.ndim(r) == 0 else shares


def size_imbalance(labels: ArrayLike, n_clusters: int | None = None) -> float:
    """How uneven the sizes are: k sum n_r^2 / n^2, which is 1 for clusters of equal sizes.

    A search that scans the cluster of its query takes so many times as long as with equal sizes. With
    `n_clusters`, labels are numbers below it, and clusters without rows count too.

    >>> size_imbalance([0, 0, 1, 1]), size_imbalance([0, 0, 1, 1], n_clusters=3)
    (1.0, 1.5)
    """
    length = len(_one_dimensional(labels))
    if n_clusters is None:
        numbers, n_clusters = _numbered(labels, length)
    else:
        numbers = _numbers(labels, length, n_clusters)
    sizes = np.bincount(numbers, minlength=n_clusters).astype(np.float64)
    return float(n_clusters * (sizes @ sizes) / sizes.sum() ** 2)


def _rows(X: ArrayLike) -> Any:
    """X as an array or as CSR without repeated entries; not copied if it is one."""
    rows = check_array(X, accept_sparse="csr")
    return canonical(rows) if sparse.issparse(rows) else rows


def _centres(centers: ArrayLike, n_features: int) -> Floats:
    points: Floats = check_array(centers, dtype=np.float64, input_name="centers")
    if points.shape[1] != n_features:
        raise ValueError(f"centers have {points.shape[1]} columns, but X has {n_features}.")
    return points


def _one_dimensional(labels: ArrayLike) -> Array:
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"labels must be a 1D array with at least one entry. Got shape {array.shape}.")
    return array


def _labels_of(labels: ArrayLike, n_rows: int) -> Array:
    array = _one_dimensional(labels)
    if len(array) != n_rows:
        raise ValueError(f"labels has {len(array)} entries, but X has {n_rows} rows.")
    return array


def _numbered(labels: ArrayLike, n_rows: int) -> tuple[Numbers, int]:
    """Any labels as numbers from 0 on, and how many different ones there are."""
    names, numbers = np.unique(_labels_of(labels, n_rows), return_inverse=True)
    return numbers, len(names)


def _numbers(labels: ArrayLike, n_rows: int, n_clusters: int) -> Numbers:
    """Labels that are numbers of clusters already."""
    array = _labels_of(labels, n_rows)
    if array.dtype.kind not in "iu":
        raise ValueError(f"labels must be numbers of clusters, integers. Got type {array.dtype}.")
    if array.min() < 0 or array.max() >= n_clusters:
        raise ValueError(f"labels must lie in [0, {n_clusters}). Got {array.min()} to {array.max()}.")
    return array.astype(np.int64)


def _contingency(labels_true: ArrayLike, labels_pred: ArrayLike) -> Any:
    """Rows of each class (down) in each cluster (across), sparse."""
    classes, clusters = _one_dimensional(labels_true), _one_dimensional(labels_pred)
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} entries, but labels_pred has {len(clusters)}: "
            "one of each is needed for each row."
        )
    return contingency_matrix(classes, clusters, sparse=True)


def _searched(found: ArrayLike, truth: ArrayLike) -> tuple[Array, Array]:
    rows, targets = np.asarray(found), np.asarray(truth)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(
            f"found must be a 2D array with a row for each query, best first. Got shape {rows.shape}."
        )
    if targets.ndim not in (1, 2) or len(targets) != len(rows) or targets.size == 0:
        raise ValueError(
            f"truth must have an entry, or a row of them, for each of {len(rows)} queries. "
            f"Got shape {targets.shape}."
        )
    return rows, targets if targets.ndim == 1 else targets[:, 0]


def _depth(r: Any, n_found: int) -> int:
    if not isinstance(r, Integral) or not 1 <= int(r) <= n_found:
        raise ValueError(
            f"r must be an int in the range [1, {n_found}], as found has {n_found} columns. Got {r!r}."
        )
    return int(r)
