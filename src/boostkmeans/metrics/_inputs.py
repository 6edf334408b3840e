"""Validation of the rows, centres and labels that measures take."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array

from boostkmeans._data.frame import Array, Floats
from boostkmeans._data.rows import canonical
from boostkmeans._data.user_input import converting, without_objects
from boostkmeans._estimators.vector_columns import user_rows
from boostkmeans.metrics._labelled_rows import Numbers


def check_rows(X: ArrayLike) -> Any:
    """Return X as an array, or as CSR without duplicate entries. It is copied only if necessary."""
    with converting("X"):
        rows = check_array(user_rows(X), accept_sparse="csr")
        if rows.dtype == object:  # Not all invalid values are found among objects.
            rows = check_array(without_objects(rows, "X"))
    return canonical(rows) if sparse.issparse(rows) else rows


def check_centres(centers: ArrayLike, n_features: int) -> Floats:
    """Return the centres as a float64 array with `n_features` columns."""
    with converting("centers"):
        points: Floats = check_array(centers, dtype=np.float64, input_name="centers")
    if points.shape[1] != n_features:
        raise ValueError(f"centers have {points.shape[1]} columns, but X has {n_features}.")
    return points


def check_labels(labels: ArrayLike, name: str = "labels") -> Array:
    """Return the labels as a 1D array with at least one entry."""
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"{name} must be a 1D array with at least one entry. Got shape {array.shape}.")
    return array


def number_labels(labels: ArrayLike, n_rows: int) -> tuple[Numbers, int]:
    """Replace labels of any type by numbers from 0. Return them and the number of distinct labels."""
    names, numbers = np.unique(_labels_of_rows(labels, n_rows), return_inverse=True)
    return numbers, len(names)


def check_cluster_numbers(labels: ArrayLike, n_rows: int, n_clusters: int) -> Numbers:
    """Return labels that already are cluster numbers in [0, n_clusters)."""
    array = _labels_of_rows(labels, n_rows)
    if array.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers (cluster numbers). Got type {array.dtype}.")
    if array.min() < 0 or array.max() >= n_clusters:
        raise ValueError(f"labels must lie in [0, {n_clusters}). Got {array.min()} to {array.max()}.")
    return array.astype(np.int64)


def _labels_of_rows(labels: ArrayLike, n_rows: int) -> Array:
    array = check_labels(labels)
    if len(array) != n_rows:
        raise ValueError(f"labels has {len(array)} entries, but X has {n_rows} rows.")
    return array
