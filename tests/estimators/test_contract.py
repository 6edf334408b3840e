"""The estimators follow the conventions of scikit-learn."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer
from boostkmeans.documents import CriterionKMeans
from conftest import blobs
from sklearn_checks import expected_failures


@parametrize_with_checks(
    [
        BoostKMeans(n_clusters=3),
        BoostKMeans(n_clusters=3, init="random-partition", moves="first", n_init=2),
        BoostKMeans(n_clusters=2, metric="cosine", tol=0.0),
        BoostKMeans(n_clusters=3, init="bisecting", n_candidates=1),
        BisectingBoostKMeans(n_clusters=3),
        BisectingBoostKMeans(n_clusters=4, n_sections=3, init="k-means++", split="inertia", refine=True),
        CriterionKMeans(n_clusters=3),
        CriterionKMeans(n_clusters=2, criterion="h2", method="k-way"),
        ProductQuantizer(n_subspaces=1, n_centroids=3),
        ProductQuantizer(n_subspaces=1, n_centroids=2, rotation=2, clusterer=BisectingBoostKMeans()),
    ],
    expected_failed_checks=expected_failures,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")  # The checks cause warnings on purpose.
@pytest.mark.filterwarnings("default:Estimator:pytest.PytestUnraisableExceptionWarning")
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_works_in_a_pipeline_and_can_be_cloned() -> None:
    X, _ = blobs(300, 4, 3)
    model = make_pipeline(StandardScaler(), BoostKMeans(3, random_state=0))
    labels = clone(model).fit_predict(X)
    assert len(np.unique(labels)) == 3
    assert model.fit(X).transform(X).shape == (300, 3)


def test_supports_set_output_and_feature_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs(60, 2, 3)[0], columns=["a", "b"])
    model = BoostKMeans(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert list(model.transform(frame).columns) == ["boostkmeans0", "boostkmeans1", "boostkmeans2"]
    assert list(model.get_feature_names_out()) == ["boostkmeans0", "boostkmeans1", "boostkmeans2"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "c"}))


def test_transform_returns_distances_to_centres() -> None:
    X, _ = blobs(5000, 3, 4)
    model = BoostKMeans(4, random_state=0).fit(X)
    expected = np.linalg.norm(X[:, None, :] - model.cluster_centers_[None], axis=2)
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-9)
    np.testing.assert_array_equal(model.transform(X).argmin(axis=1), model.labels_)
    assert model.transform(X.astype(np.float32)).dtype == np.float32


def test_score_is_the_negative_inertia() -> None:
    X, _ = blobs(200, 3, 4)
    w = np.random.default_rng(0).uniform(0, 2, 200)
    model = BoostKMeans(4, random_state=0).fit(X, sample_weight=w)
    assert model.score(X, sample_weight=w) == pytest.approx(-model.inertia_, rel=1e-12)
    gaps = (model.transform(X).min(axis=1) ** 2).sum()
    assert model.score(X) == pytest.approx(-gaps, rel=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, r"'n_clusters' parameter of BoostKMeans must be an int .* Got 0 instead"),
        ({"n_clusters": 2.0}, "n_clusters"),
        ({"n_clusters": True}, "n_clusters"),
        ({"init": "kmeans++"}, "'init' parameter .* Got 'kmeans\\+\\+' instead"),
        ({"moves": "fast"}, "'moves' parameter"),
        ({"metric": "manhattan"}, "'metric' parameter"),
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1e-3}, "tol"),
        ({"tol": float("nan")}, "tol"),
        ({"max_time": 0.0}, "max_time"),
        ({"callback": 3}, "callback"),
        ({"n_threads": 0}, "n_threads"),
        ({"verbose": "yes"}, "verbose"),
        ({"init": np.zeros((3, 5))}, r"Centres given as init have shape \(3, 5\)"),
        ({"init": np.full((3, 2), np.nan)}, "NaN"),
        ({"init": np.zeros(7, dtype=int)}, "init must be"),
        ({"init": np.zeros(30)}, "init must be"),
        ({"init": np.full(30, 3)}, r"must lie in \[0, 3\)"),
        ({"init": np.full(30, -1)}, r"must lie in \[0, 3\)"),
        ({"n_clusters": 31}, "n_samples=30 should be >= n_clusters=31"),
    ],
)
def test_error_names_the_invalid_parameter(parameters: dict[str, Any], message: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=message):
        BoostKMeans(**{"n_clusters": 3, **parameters}).fit(X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(29), r"expected \(30,\)"),
        (np.ones((30, 1)), "1D"),
        (np.full(30, -1.0), "Negative"),
        (np.full(30, np.nan), "NaN"),
        (np.zeros(30), "non-zero"),
        (np.r_[1.0, 1.0, np.zeros(28)], r"positive weight in sample_weight \(2\)"),
    ],
)
def test_rejects_invalid_weights(weights: Any, message: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=message):
        BoostKMeans(3).fit(X, sample_weight=weights)
