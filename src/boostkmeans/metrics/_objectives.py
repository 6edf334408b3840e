"""Measures that need no classes: distortion, the objectives I1 and I2, and uneven cluster sizes."""

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._data.weights import RowWeights
from boostkmeans.metrics._inputs import (
    check_centres,
    check_cluster_numbers,
    check_labels,
    check_rows,
    number_labels,
)
from boostkmeans.metrics._labelled_rows import cluster_sums, squared_gaps


def average_distortion(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    centers: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean squared distance of the rows to the centres of their clusters.

    Squares and sums are float64.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Cluster of each row. Labels may be of any type, unless `centers` is given.
    centers : array-like of shape (n_clusters, n_features), default=None
        Centres of the clusters; labels must then be row indices of `centers`. None uses the means of the
        clusters.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. None means equal weights.

    Returns
    -------
    float
        Mean squared distance: lower is better.

    Examples
    --------
    >>> from boostkmeans.metrics import average_distortion
    >>> average_distortion([[0.0], [2], [9]], ["a", "a", "b"])
    0.6666666666666666
    >>> average_distortion([[0.0], [2], [9]], [0, 0, 1], centers=[[0], [8]])
    1.6666666666666667
    """
    rows = check_rows(X)
    weights = RowWeights.of(sample_weight, rows.shape[0])
    if centers is None:
        numbers, n_clusters = number_labels(labels, rows.shape[0])
        sums, totals = cluster_sums(rows, numbers, n_clusters, weights.values)
        points = sums / np.where(totals > 0, totals, 1.0)[:, None]
    else:
        points = check_centres(centers, rows.shape[1])
        numbers = check_cluster_numbers(labels, rows.shape[0], len(points))
    return weights.total_of(squared_gaps(rows, numbers, points)) / weights.total


def i1(X: ArrayLike, labels: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the objective that boost k-means maximises (I1* in the paper).

    I1* is the sum of ``|D|^2 / n`` over the clusters, where D is the sum of the n rows of a cluster. The
    sum of ``|x|^2`` over all rows minus I1* is the inertia.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. None means equal weights.

    Returns
    -------
    float
        Objective: higher is better.

    Examples
    --------
    >>> from boostkmeans.metrics import i1
    >>> i1([[0.0], [2], [9]], [0, 0, 1])
    83.0
    """
    rows = check_rows(X)
    weights = RowWeights.of(sample_weight, rows.shape[0])
    numbers, n_clusters = number_labels(labels, rows.shape[0])
    sums, totals = cluster_sums(rows, numbers, n_clusters, weights.values)
    squares = np.einsum("ij,ij->i", sums, sums)
    return float((squares / np.where(totals > 0, totals, 1.0)).sum()) * weights.unit


def i2(X: ArrayLike, labels: ArrayLike) -> float:
    """Compute the objective I2: the mean squared distance between the rows of a cluster, times its size.

    The values of all clusters are added. For a cluster of n rows, the value equals ``2 n / (n - 1)``
    times the sum of squared distances to the mean. A cluster of one row has no pairs and counts as 0.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type.

    Returns
    -------
    float
        Objective: lower is better.

    Examples
    --------
    >>> from boostkmeans.metrics import i2
    >>> i2([[0.0], [2], [9]], [0, 0, 1])
    8.0
    """
    rows = check_rows(X)
    numbers, n_clusters = number_labels(labels, rows.shape[0])
    sums, sizes = cluster_sums(rows, numbers, n_clusters, None)
    gaps = squared_gaps(rows, numbers, sums / sizes[:, None])
    within = np.bincount(numbers, weights=gaps, minlength=n_clusters)
    several = sizes > 1
    return float((2 * sizes[several] / (sizes[several] - 1) * within[several]).sum())


def size_imbalance(labels: ArrayLike, n_clusters: int | None = None) -> float:
    """Compute how uneven the cluster sizes are: ``k * sum(n_r^2) / n^2``.

    The value is 1 for clusters of equal size. It is the factor by which uneven sizes slow down a search
    that scans the cluster of each query.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Cluster of each row. Labels may be of any type, unless `n_clusters` is given.
    n_clusters : int, default=None
        Number of clusters, including empty ones; labels must then be integers below it. None counts the
        distinct labels.

    Returns
    -------
    float
        Imbalance, at least 1: lower is better.

    Examples
    --------
    >>> from boostkmeans.metrics import size_imbalance
    >>> size_imbalance([0, 0, 1, 1]), size_imbalance([0, 0, 1, 1], n_clusters=3)
    (1.0, 1.5)
    """
    n_rows = len(check_labels(labels))
    if n_clusters is None:
        numbers, n_clusters = number_labels(labels, n_rows)
    else:
        numbers = check_cluster_numbers(labels, n_rows, n_clusters)
    sizes = np.bincount(numbers, minlength=n_clusters).astype(np.float64)
    return float(n_clusters * (sizes @ sizes) / sizes.sum() ** 2)
