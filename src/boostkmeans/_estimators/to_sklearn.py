"""Conversion of fitted estimators to scikit-learn's, for tools such as ONNX, PMML and SHAP."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn import cluster
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.validation import check_is_fitted

from boostkmeans._data.frame import Floats, Frame

PRECISIONS = (np.float64, np.float32)


class FittedCentres(Protocol):
    """A fitted estimator with centres."""

    cluster_centers_: Floats
    labels_: NDArray[np.int32]
    inertia_: float
    n_iter_: int
    _frame: Frame


def as_scikit_learn(model: FittedCentres, dtype: DTypeLike) -> Any:
    """Convert a fitted estimator. See `CentreModel.to_sklearn`."""
    check_is_fitted(model, "_frame")
    if np.dtype(dtype) not in PRECISIONS:
        raise ValueError(
            f"dtype must be float64 or float32, the types of scikit-learn's KMeans. Got {dtype}."
        )
    centres = np.array(model.cluster_centers_, dtype=dtype, order="C")
    # A fit of one row sets all private attributes that this version of scikit-learn needs.
    kmeans = cluster.KMeans(1, n_init=1, max_iter=1).fit(centres[:1])
    kmeans.set_params(**cluster.KMeans(len(centres), n_init=1).get_params())
    kmeans.cluster_centers_ = centres
    kmeans._n_features_out = len(centres)
    kmeans.inertia_, kmeans.n_iter_ = model.inertia_, model.n_iter_
    if hasattr(model, "labels_"):
        kmeans.labels_ = model.labels_.copy()
    else:
        del kmeans.labels_
    if model._frame.metric != "cosine":
        return _with_names(kmeans, model)
    # Feature names belong to the step that receives the user's table.
    return make_pipeline(_with_names(Normalizer().fit(centres[:1]), model), kmeans)


def _with_names(step: Any, model: FittedCentres) -> Any:
    """Copy the feature names, if the model has them."""
    if hasattr(model, "feature_names_in_"):
        step.feature_names_in_ = model.feature_names_in_.copy()
    return step
