"""Conversion of fitted models to scikit-learn and ONNX."""

from typing import Any

import numpy as np
import pytest
from model_files import FITS, X, very_sparse
from numpy.typing import NDArray

from boostkmeans import BoostKMeans


@pytest.mark.parametrize("name", FITS)
def test_predicts_the_same_labels(name: str) -> None:
    model = FITS[name]()
    rows = very_sparse() if name == "stays sparse" else X
    if name == "far away":
        rows = 1e-9 * X + 1e3
    theirs = model.to_sklearn()
    distances = np.sort(model.transform(rows), axis=1)
    clear = np.ones(len(distances), dtype=bool)
    if distances.shape[1] > 1 and name != "far away":
        clear = distances[:, 1] > (1 + 1e-6) * distances[:, 0]
        assert clear.mean() > 0.95
    elif name == "far away":  # scikit-learn cannot distinguish these rows
        clear[:] = False
    np.testing.assert_array_equal(theirs.predict(rows)[clear], model.predict(rows)[clear])
    if clear.any():
        np.testing.assert_allclose(theirs.transform(rows), model.transform(rows), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(theirs.score(rows), model.score(rows), rtol=1e-9)
    assert list(theirs.get_feature_names_out())[-1].startswith("kmeans")


def test_fitted_attributes_match() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcd"))
    for metric in ("euclidean", "cosine"):
        model = BoostKMeans(5, metric=metric, random_state=0).fit(table)
        theirs = model.to_sklearn()
        assert theirs.n_features_in_ == 4
        assert list(theirs.feature_names_in_) == list("abcd")
        np.testing.assert_array_equal(theirs.predict(table), model.predict(table))
        kmeans = theirs if metric == "euclidean" else theirs[-1]
        assert (kmeans.n_clusters, kmeans.n_iter_) == (5, model.n_iter_)
        assert kmeans.inertia_ == model.inertia_
        np.testing.assert_array_equal(kmeans.labels_, model.labels_)
        kmeans.cluster_centers_[:] = 0
        assert model.cluster_centers_.any()
        theirs.fit(X)  # it can be fitted again


def test_float32_centres() -> None:
    rows = X.astype(np.float32)
    model = BoostKMeans(5, random_state=0).fit(rows)
    theirs = model.to_sklearn(dtype=np.float32)
    np.testing.assert_array_equal(theirs.predict(rows), model.predict(rows))
    with pytest.raises(ValueError, match="float64 or float32"):
        model.to_sklearn(dtype=np.int32)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_onnx_conversion_predicts_the_same_labels(metric: str) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    rows = X.astype(np.float32)
    model = BoostKMeans(5, metric=metric, random_state=0).fit(rows)
    onnx = skl2onnx.to_onnx(model.to_sklearn(dtype=np.float32), rows[:1])
    session = onnxruntime.InferenceSession(onnx.SerializeToString(), providers=["CPUExecutionProvider"])
    labels: NDArray[Any] = session.run(None, {session.get_inputs()[0].name: rows})[0]
    np.testing.assert_array_equal(labels, model.predict(rows))
