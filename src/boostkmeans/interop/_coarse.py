"""Coarse quantizers: the centres that assign each row to a list of an IVF index."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from boostkmeans._data.rows import Rows
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import nearest
from boostkmeans.interop._float_rows import CheckedRows, FloatRows, to_float32
from boostkmeans.quantization import ProductQuantizer


class CoarseQuantizer(NamedTuple):
    """Centres in float32, with the metric that assigns rows to them."""

    centres: FloatRows
    metric: str
    """For "cosine", rows are scaled to unit length before they are compared with the centres."""
    n_threads: int

    @classmethod
    def of(cls, coarse: Any) -> "CoarseQuantizer":
        """Return the centres of a fitted estimator, or of an array."""
        if isinstance(coarse, ProductQuantizer | type):
            raise TypeError(
                "coarse must be a fitted estimator with cluster_centers_, such as BoostKMeans, or an "
                f"array of centres. Got {coarse!r}."
            )
        if isinstance(coarse, BaseEstimator) or hasattr(coarse, "cluster_centers_"):
            check_is_fitted(coarse, "cluster_centers_")
            centres = coarse.cluster_centers_
        else:
            centres = coarse
        # Use the metric of the fit, because the parameter may have changed since.
        metric = getattr(getattr(coarse, "_frame", None), "metric", "euclidean")
        centres = check_array(centres, dtype=np.float64, input_name="coarse")
        threads = resolve_threads(getattr(coarse, "n_threads", None))
        return cls(to_float32(centres, "coarse"), metric, threads)

    @property
    def n_features(self) -> int:
        """Number of features of a centre."""
        return int(self.centres.shape[1])


def residuals(coarse: Any, X: ArrayLike) -> FloatRows:
    """Subtract the nearest centre from each row.

    A `ProductQuantizer` for `to_faiss_ivf_pq` is fitted to the residuals. This function does not need
    faiss.

    Parameters
    ----------
    coarse : estimator or array-like of shape (n_clusters, n_features)
        Fitted estimator with `cluster_centers_`, or an array of centres. If it was fitted with
        ``metric="cosine"``, rows are scaled to unit length first.
    X : array-like or sparse matrix of shape (n_samples, n_features), or Vectors
        Rows. Rows opened with `boostkmeans.io.open_vectors` are read in batches.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float32
        Residuals ``X - centres[labels]``, in memory as a whole.

    Examples
    --------
    >>> from boostkmeans.interop import residuals
    >>> residuals([[0.0], [10.0]], [[1.0], [9.0], [12.0]]).tolist()
    [[1.0], [-1.0], [2.0]]
    """
    quantizer = CoarseQuantizer.of(coarse)
    n_threads = quantizer.n_threads
    rows = CheckedRows(X, quantizer.n_features, "coarse")
    centres = quantizer.centres.astype(np.float64)
    own_frame = Rows.in_own_frame(centres, "euclidean", n_threads).frame
    frame = replace(own_frame, metric=quantizer.metric)
    result = np.empty(rows.shape, dtype=np.float32)
    for begin, batch in rows.batches():
        framed = Rows.in_frame(batch, frame, n_threads, first_row=begin)
        labels, _ = nearest(framed, frame.enter(centres), n_threads)
        result[begin : begin + len(batch)] = to_float32(framed.scaled() - centres[labels], "X", begin)
    return result
