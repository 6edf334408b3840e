"""Measures of rows and clusters, against brute force with NumPy."""

from pathlib import Path

import numpy as np
import pytest
from explored import blobs
from scipy import sparse

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans._runtime.progress import ignore_progress
from boostkmeans.explore._measures import explored_rows, row_measures
from boostkmeans.explore._measures.cluster_measures import measure_clusters
from boostkmeans.explore._measures.cut_separation import Steps, squared_separations
from boostkmeans.explore._measures.explored_rows import ExploredRows
from boostkmeans.explore._measures.row_measures import RowMeasures, labels_of_fit, measure_rows
from boostkmeans.io import open_vectors


def measured(model: BoostKMeans, X: object, n_threads: int = 2) -> tuple[ExploredRows, RowMeasures]:
    rows = ExploredRows(model, X, n_threads)
    return rows, measure_rows(rows, labels_of_fit(model, rows.n_rows), ignore_progress)


def test_rows_equal_brute_force() -> None:
    X = blobs(300, 5, 7)
    model = BoostKMeans(7, random_state=0).fit(X)
    _, found = measured(model, X)
    distances = np.linalg.norm(X[:, None] - model.cluster_centers_, axis=2)
    order = np.argsort(distances, axis=1)
    own = np.take_along_axis(distances, order, axis=1)
    assert (found.labels == order[:, 0]).all()
    assert (found.second == order[:, 1]).all()
    np.testing.assert_allclose(found.distances, own[:, 0])
    np.testing.assert_allclose(found.margins, own[:, 1] - own[:, 0])


def test_cosine_compares_unit_rows() -> None:
    X = blobs(200, 4, 3) + 1
    model = BoostKMeans(3, metric="cosine", random_state=0).fit(X)
    _, found = measured(model, X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = np.linalg.norm(unit - model.cluster_centers_[found.labels], axis=1)
    np.testing.assert_allclose(found.distances, expected, rtol=1e-7)


def test_clusters_equal_brute_force() -> None:
    X = blobs(400, 3, 12)
    model = BoostKMeans(12, random_state=0).fit(X)
    rows, found = measured(model, X)
    clusters = measure_clusters(rows, found)
    centres = model.cluster_centers_
    between = np.linalg.norm(centres[:, None] - centres, axis=2)
    np.fill_diagonal(between, np.inf)
    for one in range(12):
        members = np.flatnonzero(found.labels == one)
        gaps = np.linalg.norm(X[members] - centres[one], axis=1)
        assert clusters.sizes[one] == len(members)
        assert clusters.tightness[one] == pytest.approx((gaps**2).mean())
        assert clusters.separation[one] == pytest.approx(between[one].min())
        assert clusters.neighbours[one] == np.argsort(between[one])[:8].tolist()
        assert clusters.central[one] == members[np.argsort(gaps)][:8].tolist()
        assert clusters.outlying[one] == members[np.argsort(-gaps)][:8].tolist()
        assert clusters.borderline[one] == members[np.argsort(found.margins[members])][:8].tolist()


def test_candidates_find_the_second_nearest_centre(monkeypatch: pytest.MonkeyPatch) -> None:
    X = blobs(500, 4, 40)
    model = BoostKMeans(40, random_state=0).fit(X)
    _, exact = measured(model, X)
    monkeypatch.setattr(row_measures, "MAX_EXACT_CLUSTERS", 10)
    monkeypatch.setattr(row_measures, "N_CANDIDATES", 20)
    _, found = measured(model, X)
    assert (found.second == exact.second).mean() > 0.99
    same = found.second == exact.second
    np.testing.assert_allclose(found.margins[same], exact.margins[same])


def test_one_cluster_has_neither_second_nor_separation() -> None:
    X = blobs(20, 3, 1)
    rows, found = measured(BoostKMeans(1).fit(X), X)
    clusters = measure_clusters(rows, found)
    assert (found.second == -1).all()
    assert np.isnan(found.margins).all()
    assert np.isnan(clusters.separation).all()
    assert clusters.neighbours == clusters.borderline == [[]]


def test_labels_of_a_fit_with_size_limits_are_kept() -> None:
    X = np.concatenate([blobs(90, 2, 1), blobs(30, 2, 1) + 50])
    model = BoostKMeans(2, max_size=60, random_state=0).fit(X)
    _, found = measured(model, X)
    assert (found.labels == model.labels_).all()
    moved = found.labels != model.predict(X)
    assert moved.any()
    assert (found.margins[moved] < 0).all()
    assert (found.second[moved] == model.predict(X)[moved]).all()


def test_labels_of_other_rows_are_not_used() -> None:
    """As many rows, but in another order."""
    X = blobs(300, 4, 6)
    model = BoostKMeans(6, random_state=0).fit(X)
    other = np.random.default_rng(1).permutation(X)
    assert (measured(model, other)[1].labels == model.predict(other)).all()


def test_streamed_and_sparse_rows_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = blobs(257, 6, 5).astype(np.float32)
    X[np.abs(X) < 2] = 0
    np.save(tmp_path / "X.npy", X)
    model = BoostKMeans(5, random_state=0).fit(X)
    _, expected = measured(model, X)
    monkeypatch.setattr(explored_rows, "BATCH_BYTES", 1000)
    with open_vectors(tmp_path / "X.npy") as vectors:
        _, streamed = measured(model, vectors, n_threads=1)
    _, from_sparse = measured(model, sparse.csr_array(X))
    for found in (streamed, from_sparse):
        assert (found.labels == expected.labels).all()
        assert (found.second == expected.second).all()
        assert (found.distances == expected.distances).all()


def separation_at(steps: Steps, n_sets: int) -> float:
    """Return the squared separation in a cut, as the page looks it up."""
    return next(gap for begin, gap in reversed(steps) if begin <= n_sets)


@pytest.mark.parametrize("n_sections", [2, 3])
def test_separations_of_all_cuts_equal_brute_force(n_sections: int) -> None:
    X = blobs(400, 3, 25, seed=n_sections) + 1000
    tree = BisectingBoostKMeans(25, n_sections=n_sections, random_state=0).fit(X).tree_
    found = squared_separations(tree, tree.centers)
    cut = {0}
    for node in tree.splits.tolist():
        cut = cut - {node} | {int(child) for child in tree.children[node] if child >= 0}
        nodes = sorted(cut)
        gaps = ((tree.centers[nodes, None] - tree.centers[nodes]) ** 2).sum(axis=2)
        np.fill_diagonal(gaps, np.inf)
        shown = [separation_at(found[one], len(nodes)) for one in nodes]
        np.testing.assert_allclose(shown, gaps.min(axis=1), rtol=1e-9)
    few = squared_separations(tree, tree.centers, max_sets=10)
    assert max(begin for steps in few for begin, _ in steps) <= 10
    assert all(
        [step for step in whole if step[0] <= 9] == [step for step in some if step[0] <= 9]
        for whole, some in zip(found, few, strict=True)
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_rounding_errors_of_equal_rows_are_zero(scale: float) -> None:
    X = np.repeat(scale * np.array([[0.1, 0.7], [0.3, 0.2], [0.3, 0.2 + 1e-9]]), 7, axis=0)
    model = BoostKMeans(3, random_state=0).fit(X)
    model.cluster_centers_[:] = np.nextafter(model.cluster_centers_, np.inf)  # as some means are
    rows, found = measured(model, X)
    clusters = measure_clusters(rows, found)
    assert (found.distances == 0).all()
    assert (clusters.tightness == 0).all()
    np.testing.assert_allclose(clusters.separation.min(), scale * 1e-9, rtol=1e-4)
