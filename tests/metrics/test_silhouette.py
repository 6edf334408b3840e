"""The exact silhouette is that of scikit-learn; the simplified one follows from the centres."""

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import silhouette_samples

from boostkmeans import BoostKMeans, metrics
from boostkmeans._data.row_source import ArraySource
from boostkmeans._data.rows import stays_sparse
from boostkmeans.metrics import _silhouette
from conftest import blobs


def random_labels(n: int, k: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, k, n)


class TestExact:
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
    def test_equals_scikit_learn(self, metric: str, dtype: Any) -> None:
        X = (30 * np.random.default_rng(0).normal(size=(333, 19)) + 120).clip(0, 255).astype(dtype)
        labels = random_labels(333, 7)
        expected = silhouette_samples(X.astype(np.float64), labels, metric=metric)
        found = metrics.silhouette(X, labels, metric=metric)
        np.testing.assert_allclose(found.samples, expected, rtol=1e-10, atol=1e-13)
        assert found.mean == pytest.approx(expected.mean(), rel=1e-10)

    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_sparse_rows(self, metric: str) -> None:
        dense = sparse.random_array(
            (900, 5_000), density=0.004, random_state=np.random.default_rng(0)
        ).toarray()
        dense[5] = dense[3]  # equal rows, and a row of zeros
        dense[7] = 0.0
        X = sparse.csr_array(dense)
        assert stays_sparse(X)
        labels = random_labels(900, 5)
        expected = silhouette_samples(dense, labels, metric=metric)
        for rows in (X, dense):
            found = metrics.silhouette(rows, labels, metric=metric).samples
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)

    @settings(max_examples=30)
    @given(st.integers(0, 2**20))
    def test_properties(self, seed: int) -> None:
        """Weights count as repeated rows; threads, the order of rows and labels do not matter."""
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(6, 70)), int(rng.integers(2, 5))
        X = rng.integers(-4, 5, (n, 2)).astype(float)  # many equal rows
        labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
        counts = rng.integers(1, 4, n)
        found = metrics.silhouette(X, labels, sample_weight=counts, n_threads=3)
        repeated = np.repeat(np.arange(n), counts)
        expected = metrics.silhouette(X[repeated], labels[repeated], n_threads=1)
        np.testing.assert_allclose(found.samples[repeated], expected.samples, atol=1e-12)
        assert found.mean == pytest.approx(expected.mean, abs=1e-12)
        assert (np.abs(found.samples) <= 1).all()
        if len(np.unique(labels[repeated])) < len(repeated):
            theirs = silhouette_samples(X[repeated], labels[repeated])
            np.testing.assert_allclose(expected.samples, theirs, atol=1e-7)

    def test_small_weights_have_no_scale(self) -> None:
        X, labels = blobs(60, 2, 3)
        w = np.random.default_rng(0).uniform(0.1, 1, 60)
        one, other = (metrics.silhouette(X, labels, sample_weight=w * f).samples for f in (1, 0.01))
        np.testing.assert_allclose(one, other)

    def test_rows_without_weight_do_not_count(self) -> None:
        X, labels = blobs(60, 2, 3)
        w = np.ones(60)
        w[::4] = 0
        found = metrics.silhouette(X, labels, sample_weight=w)
        np.testing.assert_allclose(
            found.samples[w > 0], metrics.silhouette(X[w > 0], labels[w > 0]).samples
        )
        assert found.mean == pytest.approx(found.samples[w > 0].mean())

    def test_near_rows_far_from_zero(self) -> None:
        """scikit-learn's distances lose all digits here."""
        X = 1e8 + np.array([[0.0], [1e-6], [1e-3], [1.1e-3]])
        gaps = np.abs(X - X.T)
        a, b = gaps[0, 1], gaps[0, 2:].mean()
        assert metrics.silhouette(X, [0, 0, 1, 1]).samples[0] == pytest.approx((b - a) / b, rel=1e-9)

    def test_labels_of_any_type_and_singletons(self) -> None:
        X, labels = np.array([[0.0], [1], [9]]), ["a", "a", "b"]
        found = metrics.silhouette(X, labels).samples
        np.testing.assert_allclose(found, [8 / 9, 7 / 8, 0])

    def test_reports_progress(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_silhouette, "OPERATIONS_PER_REPORT", 1)
        monkeypatch.setattr(_silhouette, "MIN_ROWS_PER_REPORT", 50)
        X, labels = blobs(120, 2, 3)
        seen: list[tuple[int, int | None]] = []
        found = metrics.silhouette(
            cast(Any, ArraySource(X)),
            labels,
            n_threads=1,
            progress=lambda _, done, total: seen.append((done, total)),
        )
        assert seen == [(0, 120), (50, 120), (100, 120), (120, 120)]
        np.testing.assert_allclose(found.samples, silhouette_samples(X, labels), rtol=1e-9)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"labels": [0, 0, 0]}, "at least 2 clusters"),
            ({"labels": [0, 1]}, "2 entries, but X has 3 rows"),
            ({"labels": [0, 0, 1], "sample_weight": [1, 1, 0]}, "Got 1"),
            ({"labels": [0, 0, 1], "metric": "manhattan"}, "metric"),
            ({"labels": [0, 0, 1], "n_threads": 0}, "n_threads"),
        ],
    )
    def test_rejects(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            metrics.silhouette(np.arange(3.0)[:, None], **arguments)


class TestSimplified:
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_from_two_distances(self, metric: str) -> None:
        X = np.random.default_rng(0).normal(size=(200, 4)) + 1
        model = BoostKMeans(9, metric=metric, random_state=0).fit(X)
        two = np.sort(model.transform(X), axis=1)[:, :2]
        expected = 1 - two[:, 0] / two[:, 1]
        found = metrics.simplified_silhouette(X, model)
        np.testing.assert_allclose(found.samples, expected, rtol=1e-9, atol=1e-12)
        assert found.mean == pytest.approx(expected.mean())
        by_centres = metrics.simplified_silhouette(
            sparse.csr_array(X), model.cluster_centers_, metric=metric, n_threads=1
        )
        np.testing.assert_allclose(by_centres.samples, expected, rtol=1e-9, atol=1e-12)

    def test_other_labels_are_negative(self) -> None:
        X, centres = np.array([[0.0], [1], [10]]), [[0.0], [10.0], [30.0]]
        found = metrics.simplified_silhouette(X, centres, [0, 1, 2], sample_weight=[1, 1, 2])
        np.testing.assert_allclose(found.samples, [1, (1 - 9) / 9, -1])
        assert found.mean == pytest.approx((1 - 8 / 9 - 2) / 4)

    def test_row_on_two_equal_centres(self) -> None:
        assert metrics.simplified_silhouette([[1.0]], [[1.0], [1.0]]).samples.tolist() == [0.0]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"model": [[0.0]]}, "at least 2 centres"),
            ({"model": [[0.0], [1.0]], "labels": [0, 2]}, "must lie in"),
            ({"model": [[0.0], [1.0]], "labels": [0]}, "1 entries"),
            ({"model": [[0.0], [1.0]], "labels": [0, 1, 1]}, "3 entries"),
            ({"model": [[0.0, 1], [1.0, 2]]}, "columns"),
        ],
    )
    def test_rejects(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            metrics.simplified_silhouette(np.arange(2.0)[:, None], **arguments)

    def test_rejects_another_metric_than_that_of_the_model(self) -> None:
        X, _ = blobs(30, 2, 3)
        model = BoostKMeans(3, random_state=0).fit(X)
        with pytest.raises(ValueError, match="the metric of the model"):
            metrics.simplified_silhouette(X, model, metric="cosine")
