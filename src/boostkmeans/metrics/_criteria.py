"""CLUTO's criteria of document clustering, for any labels."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.preprocessing import normalize

from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import one_of
from boostkmeans._steps.criteria.criterion import CRITERIA, DEGREES, ClusterNumbers, criterion_value
from boostkmeans.metrics._inputs import check_rows, number_labels
from boostkmeans.metrics._labelled_rows import cluster_sums


def document_criterion(
    X: ArrayLike, labels: ArrayLike, criterion: str = "i2", *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute one of CLUTO's criteria, which `boostkmeans.documents.CriterionKMeans` optimises.

    Rows are scaled to unit length. `CriterionKMeans` has the formulas. "i1" equals `i1` of unit rows.
    "i2" is CLUTO's criterion, and not the objective of `boostkmeans.metrics.i2`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type.
    criterion : {"i1", "i2", "e1", "g1", "h1", "h2"}, default="i2"
        Criterion.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. None means equal weights.

    Returns
    -------
    float
        Value of the criterion: lower is better for "e1" and "g1", higher for the others.

    Examples
    --------
    >>> from boostkmeans.metrics import document_criterion
    >>> document_criterion([[1.0, 0], [2, 0], [0, 1]], [0, 0, 1])
    3.0
    >>> document_criterion([[1.0, 0], [2, 0], [0, 1]], [0, 0, 1], "g1")
    0.0
    """
    if criterion not in CRITERIA:
        raise ParameterError("criterion", one_of(CRITERIA), criterion, owner="document_criterion")
    rows = normalize(check_rows(X))
    # Rows of zeros have no direction and do not count.
    weights = RowWeights.of(sample_weight, rows.shape[0])
    has_direction = np.asarray(abs(rows).sum(axis=1)).ravel() > 0
    values = np.where(has_direction, 1.0 if weights.values is None else weights.values, 0.0)
    numbers, n_clusters = number_labels(labels, rows.shape[0])
    sums, totals = cluster_sums(rows, numbers, n_clusters, values)
    value = criterion_value(criterion, ClusterNumbers.of(sums, totals))
    return value * weights.unit ** DEGREES[criterion]
