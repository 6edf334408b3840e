"""A fitted estimator as scikit-learn's, for whatever reads those: ONNX, PMML, explanations."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn import cluster
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from boostkmeans._estimators.centre_model import CentreModel

PRECISIONS = (np.float64, np.float32)


def as_scikit_learn(model: "CentreModel", dtype: DTypeLike) -> Any:
    """See `CentreModel.to_sklearn`."""
    check_is_fitted(model, "_frame")
    if np.dtype(dtype) not in PRECISIONS:
        raise ValueError(f"dtype must be float64 or float32: k-means of scikit-learn has no {dtype}.")
    centres = np.array(model.cluster_centers_, dtype=dtype, order="C")
    # Fitted to one row, it has whatever private attributes this version of scikit-learn wants.
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
    # The names belong to the step that sees the user's table.
    return make_pipeline(_with_names(Normalizer().fit(centres[:1]), model), kmeans)


def _with_names(step: Any, model: "CentreModel") -> Any:
    if hasattr(model, "feature_names_in_"):
        step.feature_names_in_ = model.feature_names_in_.copy()
    return step
