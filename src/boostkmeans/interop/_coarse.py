"""Coarse quantizers: the centres whose nearest tells which list of an index a row is in."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from boostkmeans._data.rows import Rows
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import nearest
from boostkmeans.interop._float_rows import CheckedRows, Singles, as_singles
from boostkmeans.quantization._product_quantizer import ProductQuantizer


class Coarse(NamedTuple):
    """Centres as faiss has them."""

    centres: Singles
    metric: str
    """With "cosine", rows are scaled to unit length before they are compared with centres."""
    n_threads: int

    @classmethod
    def of(cls, coarse: Any) -> "Coarse":
        """The centres of a fitted estimator, or those in an array."""
        if isinstance(coarse, ProductQuantizer | type):
            raise TypeError(
                "coarse should be a fitted estimator with cluster_centers_, as BoostKMeans, or an array "
                f"of centres. Got {coarse!r}."
            )
        if isinstance(coarse, BaseEstimator) or hasattr(coarse, "cluster_centers_"):
            check_is_fitted(coarse, "cluster_centers_")
            centres = coarse.cluster_centers_
        else:
            centres = coarse
        # As it was when the centres were found: the parameter may have been set since.
        metric = getattr(getattr(coarse, "_frame", None), "metric", "euclidean")
        centres = check_array(centres, dtype=np.float64, input_name="the centres")
        threads = resolve_threads(getattr(coarse, "n_threads", None))
        return cls(as_singles(centres, "coarse"), metric, threads)

    @property
    def n_features(self) -> int:
        """Of a centre."""
        return int(self.centres.shape[1])


def residuals(coarse: Any, X: ArrayLike) -> Singles:
    """What is left of rows without their nearest centres: X - centres[labels], in float32.

    A `ProductQuantizer` for `to_faiss_ivf_pq` is fitted to these. `coarse` is a fitted estimator or an
    array of centres. With metric="cosine", rows are scaled to unit length first. faiss is not needed.

    Rows in a file that `boostkmeans.io.open_vectors` gave are read some at a time; the result is in
    memory as a whole.

    >>> residuals([[0.0], [10.0]], [[1.0], [9.0], [12.0]]).tolist()
    [[1.0], [-1.0], [2.0]]
    """
    given = Coarse.of(coarse)
    rows = CheckedRows(X, given.n_features, "coarse")
    centres = given.centres.astype(np.float64)
    frame = replace(Rows.in_own_frame(centres, "euclidean", given.n_threads).frame, metric=given.metric)
    found = np.empty(rows.shape, dtype=np.float32)
    for begin, batch in rows.batches():
        some = Rows.in_frame(batch, frame, given.n_threads, first_row=begin)
        labels, _ = nearest(some, frame.enter(centres), given.n_threads)
        found[begin : begin + len(batch)] = as_singles(some.scaled() - centres[labels], "X", begin)
    return found
