"""Measures that compare clusters with known classes: entropy and purity."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.cluster import contingency_matrix

from boostkmeans.metrics._inputs import check_labels


def entropy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Compute the mean entropy of the classes within the clusters.

    The entropy is ``-sum_r (n_r / n) / log(c) * sum_i p_i log(p_i)``, where ``p_i`` is the share of
    class i among the ``n_r`` rows of cluster r, and c is the number of classes. With one class, it is 0.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Class of each row, of any type.
    labels_pred : array-like of shape (n_samples,)
        Cluster of each row, of any type.

    Returns
    -------
    float
        Entropy between 0 (every cluster has a single class) and 1 (every cluster has equal shares of all
        classes).

    Examples
    --------
    >>> from boostkmeans.metrics import entropy
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
    counts = table.data  # the sparse table stores no zeros, so that 0 log 0 does not occur
    surprise = -np.log(counts / sizes[table.indices])
    return float(counts @ surprise / (sizes.sum() * np.log(n_classes)))


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Compute the share of rows that belong to the most frequent class of their cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Class of each row, of any type.
    labels_pred : array-like of shape (n_samples,)
        Cluster of each row, of any type.

    Returns
    -------
    float
        Purity between 0 and 1: higher is better.

    Examples
    --------
    >>> from boostkmeans.metrics import purity
    >>> purity(["tea", "tea", "rum", "rum"], [0, 0, 0, 1])
    0.75
    """
    table = _contingency(labels_true, labels_pred)
    return float(table.max(axis=0).sum() / table.sum())


def _contingency(labels_true: ArrayLike, labels_pred: ArrayLike) -> Any:
    """Count the rows of each class (rows of the result) in each cluster (columns), as CSR."""
    classes = check_labels(labels_true, "labels_true")
    clusters = check_labels(labels_pred, "labels_pred")
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} entries, but labels_pred has {len(clusters)}. Both need "
            "one entry per row."
        )
    return contingency_matrix(classes, clusters, sparse=True)
