"""Several clusters per row, medoids, and outlier scores."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from boostkmeans import BisectingBoostKMeans, BoostKMeans, baselines, distributed, load_model
from boostkmeans._data import row_source
from boostkmeans._data.row_source import ArraySource
from boostkmeans._data.rows import stays_sparse
from conftest import blobs

Floats = NDArray[np.float64]
STORED = Path(__file__).parents[1] / "stored" / "models"


def sparse_rows() -> Any:
    """Return rows that stay sparse in the core."""
    X = sparse.random_array(
        (2_200, 2_000), density=0.004, format="csr", random_state=np.random.default_rng(0)
    )
    assert stays_sparse(X)
    return X


def dense_rows(dtype: Any = np.float64) -> Any:
    return (10 * np.random.default_rng(0).normal(size=(400, 7)) + 40).clip(0, 255).astype(dtype)


CASES: dict[str, Callable[[], tuple[Any, BoostKMeans]]] = {
    "float64": lambda: (dense_rows(), BoostKMeans(40, random_state=0)),
    "float32": lambda: (dense_rows(np.float32), BoostKMeans(40, random_state=0)),
    "uint8": lambda: (dense_rows(np.uint8), BoostKMeans(40, random_state=0, n_threads=1)),
    "cosine": lambda: (dense_rows(), BoostKMeans(30, metric="cosine", random_state=0)),
    "expanded": lambda: (sparse.csr_array(dense_rows()), BoostKMeans(20, random_state=0)),
    "sparse": lambda: (sparse_rows(), BoostKMeans(50, max_iter=2, random_state=0)),
    "sparse cosine": lambda: (
        sparse_rows(),
        BoostKMeans(40, metric="cosine", max_iter=2, random_state=0),
    ),
}


class TestPredictMany:
    @pytest.mark.parametrize("case", CASES)
    def test_sorts_the_distances_of_transform(self, case: str) -> None:
        X, model = CASES[case]()
        model.fit(X)
        everything = model.transform(X)
        distances, labels = model.predict_many(X, 5)
        assert labels.shape == distances.shape == (X.shape[0], 5)
        assert labels.dtype == np.int32
        assert distances.dtype == everything.dtype
        np.testing.assert_array_equal(labels[:, 0], model.predict(X))
        np.testing.assert_allclose(distances, np.sort(everything, axis=1)[:, :5], rtol=1e-12)
        np.testing.assert_allclose(np.take_along_axis(everything, labels, axis=1), distances, rtol=1e-12)

    @settings(max_examples=30)
    @given(st.integers(0, 2**20))
    def test_orders_ties_by_number(self, seed: int) -> None:
        """Rows and centres on a small grid have many equal distances."""
        rng = np.random.default_rng(seed)
        centres = rng.integers(0, 3, (12, 2)).astype(float)
        X = rng.integers(0, 4, (20, 2)).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # There may be fewer distinct rows.
            model: Any = BoostKMeans(12, init=centres, max_iter=1).fit(X)
        model.cluster_centers_ = centres
        m = int(rng.integers(1, 13))
        gaps = ((X[:, None] - centres) ** 2).sum(axis=2)
        expected = np.argsort(gaps, axis=1, kind="stable")[:, :m]
        distances, labels = model.predict_many(X, m)
        np.testing.assert_array_equal(labels, expected)
        np.testing.assert_allclose(
            distances, np.sqrt(np.take_along_axis(gaps, expected, axis=1)), atol=1e-12
        )
        np.testing.assert_array_equal(labels[:, 0], model.predict(X))

    def test_all_clusters(self) -> None:
        X = dense_rows()
        model: Any = BoostKMeans(25, random_state=0).fit(X)
        distances, labels = model.predict_many(X, 25)
        np.testing.assert_array_equal(np.sort(labels, axis=1), np.tile(np.arange(25), (400, 1)))
        assert (np.diff(distances, axis=1) >= 0).all()

    def test_threads_and_batches_do_not_matter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X = dense_rows(np.float32)
        model: Any = BoostKMeans(60, random_state=0, n_threads=1).fit(X)
        expected = model.predict_many(X, 3)
        monkeypatch.setattr(row_source, "BATCH_BYTES", 1)
        model.n_threads = 3
        assert len(list(model.predict_many_batches(ArraySource(X), 3))) > 3
        for found in (model.predict_many(X, 3), model.predict_many(ArraySource(X), 3)):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)

    def test_rows_far_outside_the_data(self) -> None:
        X, _ = blobs(60, 2, 4)
        model: Any = BoostKMeans(4, random_state=0).fit(X)
        far = np.array([[1e30, -1e30], [1e160, 1e160], [0.0, 0.0]])
        distances, labels = model.predict_many(far, 4)
        np.testing.assert_array_equal(labels[:, 0], model.predict(far))
        assert not np.isnan(distances).any()
        assert set(labels[1]) == {0, 1, 2, 3}

    @pytest.mark.parametrize("sparse_input", [False, True])
    def test_candidates_find_most(self, sparse_input: bool) -> None:
        X: Any = np.random.default_rng(0).normal(size=(3_000, 8))
        model = BisectingBoostKMeans(600, random_state=0).fit(X)
        if sparse_input:
            X = sparse.csr_array(X)
        exact_distances, exact = model.predict_many(X, 4)
        distances, labels = model.predict_many(X, 4, n_candidates=250)
        found = (labels[:, :, None] == exact[:, None]).any(axis=2)
        assert 0.8 < found.mean() < 1
        assert (labels >= 0).all()
        assert (np.diff(distances, axis=1) >= 0).all()
        assert (distances >= exact_distances).all()
        np.testing.assert_array_equal(np.take_along_axis(model.transform(X), labels, axis=1), distances)

    def test_candidates_are_enough_for_m(self) -> None:
        """Groups of neighbouring centres are small, so several are searched."""
        X = np.random.default_rng(0).normal(size=(500, 4))
        model = BisectingBoostKMeans(300, random_state=0).fit(X)
        _, labels = model.predict_many(X, 70, n_candidates=70)
        assert (np.diff(np.sort(labels, axis=1), axis=1) > 0).all()
        assert labels.min() >= 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"m": 0}, "'m' .* in the range \\[1, 5\\]"),
            ({"m": 6}, "'m' .* in the range \\[1, 5\\]"),
            ({"m": 2.0}, "'m'"),
            ({"m": 3, "n_candidates": 2}, "'n_candidates'.*\\[3, inf\\)"),
        ],
    )
    def test_rejects(self, arguments: dict[str, Any], message: str) -> None:
        X, _ = blobs(50, 2, 5)
        with pytest.raises(ValueError, match=message):
            BoostKMeans(5, random_state=0).fit(X).predict_many(X, **arguments)

    def test_baselines_have_it(self) -> None:
        X, _ = blobs(80, 3, 4)
        model = baselines.KMeans(4, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict_many(X, 2)[1][:, 0], model.labels_)


class TestMedoids:
    def test_by_hand(self) -> None:
        X = np.array([[0.0], [1], [2], [10], [12], [14]])
        model: Any = BoostKMeans(2, init=np.array([[1.0], [12.0]])).fit(X)
        assert model.medoids(X).tolist() == [1, 4]
        # 0.5 and 1.5 are equally near: the first of them. No row is near the second cluster.
        assert model.medoids([[3.0], [1.5], [0.5]]).tolist() == [1, -1]

    @pytest.mark.parametrize("case", ["float32", "cosine", "sparse"])
    def test_against_all_distances(self, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
        X, model = CASES[case]()
        model.fit(X)
        distances, labels = model.transform(X), model.predict(X)
        own = np.where(labels[:, None] == np.arange(len(model.cluster_centers_)), distances, np.inf)
        expected = np.where(np.isinf(own).all(axis=0), -1, own.argmin(axis=0))
        np.testing.assert_array_equal(model.medoids(X), expected)
        if not sparse.issparse(X):
            monkeypatch.setattr(row_source, "BATCH_BYTES", 1)
            np.testing.assert_array_equal(model.medoids(cast(Any, ArraySource(X))), expected)


def spread_of(X: Floats, labels: NDArray[Any], centres: Floats, w: Floats) -> Floats:
    gaps = ((X - centres[labels]) ** 2).sum(axis=1) * w
    totals = np.bincount(labels, weights=w, minlength=len(centres))
    return np.asarray(np.sqrt(np.bincount(labels, weights=gaps, minlength=len(centres)) / totals))


class TestOutlierScores:
    def test_by_hand(self) -> None:
        X = np.array([[0.0], [2], [10], [16]])
        model: Any = BoostKMeans(2, init=np.array([[1.0], [13.0]])).fit(X)
        np.testing.assert_allclose(model.cluster_spread_, [1.0, 3.0])
        np.testing.assert_allclose(model.outlier_scores([[1.0], [4], [19], [14.5]]), [0, 3, 2, 0.5])

    def test_cluster_of_one_row_uses_the_spread_of_all(self) -> None:
        X = np.array([[0.0], [2], [50]])
        model: Any = BoostKMeans(2, init=np.array([[1.0], [50.0]])).fit(X)
        assert model.cluster_spread_.tolist() == [1.0, 0.0]
        overall = np.sqrt(2 / 3)
        np.testing.assert_allclose(model.outlier_scores([[50.0], [51]]), [0, 1 / overall])
        model.cluster_spread_[1] = 1e-16  # a rounded centre
        np.testing.assert_allclose(model.outlier_scores([[51.0]]), [1 / overall])

    @pytest.mark.parametrize(
        "parameters",
        [
            {"tol": 0},
            {"n_candidates": 3},
            {"max_size": 30.0},
            {"max_iter": 1, "annealing": 0, "repair": False},
            {"metric": "cosine"},
            {"n_clusters": 40},
            {"callback": lambda record: record.kind != "sweep"},
        ],
        ids=" ".join,
    )
    @pytest.mark.parametrize("weighted", [False, True])
    def test_spread_of_a_fit(self, parameters: dict[str, Any], weighted: bool) -> None:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(300, 3)) + 3
        w = rng.uniform(0.1, 1.5, 300) if weighted else np.ones(300)
        model: Any = BoostKMeans(**{"n_clusters": 15, "random_state": 0, **parameters})
        model.fit(X, sample_weight=w if weighted else None)
        if model.metric == "cosine":
            X = X / np.linalg.norm(X, axis=1, keepdims=True)
        expected = spread_of(X, model.labels_, model.cluster_centers_, w)
        np.testing.assert_allclose(model.cluster_spread_, expected, rtol=1e-9, atol=1e-14)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: BisectingBoostKMeans(20, random_state=0),
            lambda: BisectingBoostKMeans(20, refine=True, random_state=0),
            lambda: BisectingBoostKMeans(20, max_size=30, random_state=0),
            lambda: baselines.KMeans(20, random_state=0),
            lambda: distributed.BoostKMeans(20, random_state=0, tol=0),
            lambda: distributed.BisectingBoostKMeans(20, random_state=0),
        ],
        ids=["tree", "refined tree", "limited tree", "baseline", "shards", "tree of shards"],
    )
    def test_spread_of_other_estimators(self, make: Callable[[], Any]) -> None:
        X = np.random.default_rng(1).normal(size=(400, 3))
        model: Any = make().fit(X)
        expected = spread_of(X, np.asarray(model.labels_), model.cluster_centers_, np.ones(400))
        np.testing.assert_allclose(model.cluster_spread_, expected, rtol=1e-9)

    def test_scores_of_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X = dense_rows(np.float32)
        model: Any = BoostKMeans(12, random_state=0).fit(X)
        expected = model.outlier_scores(X)
        monkeypatch.setattr(row_source, "BATCH_BYTES", 1)
        np.testing.assert_array_equal(model.outlier_scores(ArraySource(X)), expected)

    def test_batches_add_up(self) -> None:
        """After `partial_fit`, the spread is that of all rows, whose labels are known."""
        X, _ = blobs(300, 2, 3)
        model: Any = BoostKMeans(3, random_state=0)
        labels = [model.partial_fit(X[i::3]).labels_ for i in range(3)]
        order = np.concatenate([X[i::3] for i in range(3)])
        expected = spread_of(order, np.concatenate(labels), model.cluster_centers_, np.ones(300))
        np.testing.assert_allclose(model.cluster_spread_, expected, rtol=1e-9)

    def test_saved_models_keep_the_spread(self, tmp_path: Path) -> None:
        X, _ = blobs(100, 2, 5)
        for model in (BoostKMeans(5, random_state=0), baselines.KMeans(5, random_state=0)):
            model.fit(X).save(tmp_path / "m", labels=False)
            loaded = load_model(tmp_path / "m")
            np.testing.assert_array_equal(loaded.outlier_scores(X), model.outlier_scores(X))

    def test_models_of_earlier_versions_use_the_spread_of_the_rows(self) -> None:
        path = next(STORED.glob("*.safetensors"))
        model = load_model(path)
        X = np.random.default_rng(0).normal(size=(50, model.n_features_in_))
        with pytest.warns(UserWarning, match="has no cluster_spread_"):
            scores = model.outlier_scores(X)
        labels, (distances, _) = model.predict(X), model.predict_many(X, 1)
        for cluster in np.unique(labels):
            own = labels == cluster
            np.testing.assert_allclose(np.square(scores[own]).mean(), 1 if own.sum() else 0)
            assert distances[own].max() > 0
