"""Layout: clusters and neighbours stay together, whatever the threads and the type of X."""

from pathlib import Path

import numpy as np
import pytest
from explored import blobs
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from boostkmeans import BoostKMeans
from boostkmeans._data.frame import Floats
from boostkmeans._runtime.progress import ignore_progress
from boostkmeans.explore._layout import arrangement, landmarks, placing, projection
from boostkmeans.explore._layout.placing import place_rows, places_of_clusters, sample_rows, to_square
from boostkmeans.explore._measures import explored_rows
from boostkmeans.explore._measures.explored_rows import ExploredRows
from boostkmeans.io import open_vectors


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrangement, "ITERATIONS", 300)
    monkeypatch.setattr(landmarks, "N_LANDMARKS", 150)


def placed(model: BoostKMeans, X: object, n_threads: int = 2, seed: int = 0) -> Floats:
    rows = ExploredRows(model, X, n_threads)
    return place_rows(rows, model.predict(X), seed, ignore_progress)  # type: ignore[arg-type]


def share_of_neighbours(X: Floats, places: Floats) -> float:
    near, on_map = (
        NearestNeighbors(n_neighbors=11).fit(points).kneighbors(points, return_distance=False)[:, 1:]
        for points in (X, places)
    )
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in zip(near, on_map, strict=True)]) / 10)


def test_neighbours_are_preserved_better_than_by_pca() -> None:
    X = blobs(900, 20, 12)
    model = BoostKMeans(12, random_state=0).fit(X)
    places = placed(model, X)
    assert share_of_neighbours(X, places) > 1.5 * share_of_neighbours(X, PCA(2).fit_transform(X))
    near = NearestNeighbors(n_neighbors=6).fit(places).kneighbors(places, return_distance=False)
    assert (model.labels_[near] == model.labels_[:, None]).mean() > 0.95


def test_layout_does_not_depend_on_threads_or_on_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = blobs(700, 8, 9).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    model = BoostKMeans(9, random_state=0).fit(X)
    monkeypatch.setattr(explored_rows, "BATCH_BYTES", 5000)
    monkeypatch.setattr(placing, "SAMPLE_ROWS", 300)
    expected = placed(model, X, n_threads=1)
    assert (placed(model, X, n_threads=3) == expected).all()
    with open_vectors(tmp_path / "X.npy") as vectors:
        assert (placed(model, vectors) == expected).all()
    assert not (placed(model, X, seed=1) == expected).all()


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 9])
def test_any_number_of_clusters(k: int) -> None:
    X = blobs(60, 3, 4)
    places = placed(BoostKMeans(k, random_state=0).fit(X), X)
    assert np.isfinite(places).all()
    assert len(np.unique(places, axis=0)) > 50


@pytest.mark.parametrize("X", [np.zeros((30, 3)), np.repeat(np.eye(3), 40, axis=0), np.ones((1, 2))])
def test_equal_rows(X: Floats) -> None:
    rows = ExploredRows(BoostKMeans(1).fit(X), X, 1)
    square = to_square(place_rows(rows, np.zeros(len(X), dtype=np.int32), 0, ignore_progress))
    assert ((square >= 0) & (square <= 65535)).all()


def test_many_clusters_are_arranged_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    X = blobs(600, 10, 12)
    model = BoostKMeans(200, random_state=0).fit(X)
    monkeypatch.setattr(landmarks, "MAX_ARRANGED", 100)
    monkeypatch.setattr(landmarks, "N_LANDMARKS", 60)
    places = placed(model, X)
    assert share_of_neighbours(X, places) > 1.2 * share_of_neighbours(X, PCA(2).fit_transform(X))


def test_many_features_are_sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "MAX_FEATURES", 16)
    X = sparse.random_array((300, 100), density=0.2, random_state=np.random.default_rng(0), format="csr")
    model = BoostKMeans(6, metric="cosine", random_state=0).fit(X)
    dense = placed(model, X.toarray())
    np.testing.assert_allclose(placed(model, X), dense, atol=1e-6 * np.ptp(dense))


def test_sample_has_rows_of_every_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "SAMPLE_ROWS", 50)
    labels = np.repeat(np.arange(3, dtype=np.int32), (900, 97, 3))
    chosen = sample_rows(labels, np.bincount(labels), 0)
    assert np.bincount(labels[chosen]).tolist() == [45, 5, 3]
    assert (np.diff(chosen) > 0).all()


def test_square_keeps_the_aspect_and_medians_are_places() -> None:
    places = np.array([[0.0, 0], [10, 0], [10, 5], [0, 5], [5, 2]])
    square = to_square(places)
    assert square[:, 0].min() == 0
    assert square[:, 0].max() == 65535
    assert np.ptp(square[:, 1]) == pytest.approx(65535 / 2, abs=1)
    at = places_of_clusters(square, np.array([0, 0, 0, 2, 2], dtype=np.int32), 3)
    assert at[0].tolist() == [square[1, 0], square[0, 1]]
    assert at[1].tolist() == [32767, 32767]
