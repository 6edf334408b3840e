"""`baselines.KMeans`: Lloyd's algorithm, compared with NumPy and with scikit-learn."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn import cluster
from sklearn.base import clone

from boostkmeans import SweepRecord
from boostkmeans._data import rows
from boostkmeans._estimators.clusterer import FewerClustersWarning
from boostkmeans.baselines import KMeans
from conftest import blobs

Floats = NDArray[np.float64]


def lloyd(X: Floats, centres: Floats, n_iter: int, weights: Floats) -> tuple[Any, Floats, list[float]]:
    """Perform Lloyd's algorithm in plain NumPy. Return labels, centres and the inertia per iteration."""
    labels = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    inertias = []
    for _ in range(n_iter):
        members = np.eye(len(centres))[labels] * weights[:, None]
        centres = members.T @ X / members.sum(axis=0)[:, None]
        squares = ((X[:, None] - centres) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        inertias.append(float(weights @ squares.min(axis=1)))
    return labels, centres, inertias


@pytest.fixture(params=[False, True], ids=["expanded", "sparse"])
def sparse_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expand sparse rows to dense ones, as for small matrices, or not, as for large matrices."""
    if request.param:
        monkeypatch.setattr(rows, "MAX_EXPANDED_CELLS", 0)
        monkeypatch.setattr(rows, "MIN_EXPANDED_DENSITY", 2.0)


@pytest.mark.usefixtures("sparse_path")
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_numpy(form: Any, weighted: bool) -> None:
    X = np.random.default_rng(1).normal(size=(300, 5))
    X[:, ::2] = np.maximum(X[:, ::2], 0)
    w = np.random.default_rng(0).uniform(0.1, 5, 300) if weighted else np.ones(300)
    model = KMeans(6, init=X[:6], max_iter=5, tol=0).fit(form(X), sample_weight=w)
    labels, centres, inertias = lloyd(X, X[:6], 5, w)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-9, atol=1e-12)
    assert [record.inertia for record in model.history_] == pytest.approx(inertias, rel=1e-10)


@pytest.mark.parametrize("tol", [0.0, 1e-4, 1e-2])
def test_equals_scikit_learn(tol: float) -> None:
    X, _ = blobs(2000, 6, 12, spread=4.0)
    model = KMeans(20, init=X[:20], tol=tol).fit(X)
    peer = cluster.KMeans(20, init=X[:20], n_init=1, tol=tol).fit(X)
    np.testing.assert_array_equal(model.labels_, peer.labels_)
    np.testing.assert_allclose(model.cluster_centers_, peer.cluster_centers_, rtol=1e-10, atol=1e-10)
    assert model.inertia_ == pytest.approx(peer.inertia_, rel=1e-12)
    # scikit-learn counts the last iteration, in which no label changes, twice.
    assert model.n_iter_ == peer.n_iter_ - (model.history_[-1].moves == 0)
    assert model.n_iter_ > 3


def test_history_equals_shorter_runs_of_scikit_learn() -> None:
    X, _ = blobs(400, 5, 6, spread=2.0)
    model = KMeans(6, init=X[:6], tol=0).fit(X)
    before = ((X[:, None] - X[:6]) ** 2).sum(axis=2).argmin(axis=1)
    for n, record in enumerate(model.history_[:5], start=1):
        shorter = cluster.KMeans(6, init=X[:6], n_init=1, max_iter=n, tol=0).fit(X)
        assert record.inertia == pytest.approx(shorter.inertia_, rel=1e-12)
        assert record.moves == np.count_nonzero(shorter.labels_ != before)
        assert (record.kind, record.evaluations) == ("lloyd", 400 * 6 * (2 if n == 1 else 1))
        before = shorter.labels_
    inertias = [record.inertia for record in model.history_]
    assert all(after <= before for before, after in pairwise(inertias))
    assert [record.moves == 0 for record in model.history_] == [False] * (model.n_iter_ - 1) + [True]


def test_resumed_run_continues_exactly() -> None:
    X, _ = blobs(500, 4, 8, spread=3.0)
    X += 1000.3  # the frame of the rows has a shift, so that centres are rounded
    whole = KMeans(9, tol=0, random_state=1).fit(X)
    first = KMeans(9, tol=0, max_iter=3, random_state=1).fit(X)
    rest = KMeans(9, tol=0, init=first.cluster_centers_).fit(X)
    joined = [(record.moves, record.inertia) for record in first.history_ + rest.history_]
    assert joined == [(record.moves, record.inertia) for record in whole.history_]
    np.testing.assert_array_equal(rest.cluster_centers_, whole.cluster_centers_)
    np.testing.assert_array_equal(rest.predict(X), whole.labels_)


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_starts_from_distinct_rows_of_positive_weight(init: str) -> None:
    X = np.arange(40.0)[:, None] ** 2
    w = np.r_[np.zeros(20), np.ones(20)]
    models = [KMeans(20, init=init, random_state=seed).fit(X, sample_weight=w) for seed in range(3)]
    for model in models:
        np.testing.assert_array_equal(np.sort(model.cluster_centers_[:, 0]), X[20:, 0])
        assert model.inertia_ == 0
    assert not np.array_equal(models[0].cluster_centers_, models[1].cluster_centers_)


def test_plus_plus_draws_by_squared_distance() -> None:
    # After 0 (or 1), the probability of 10 is 100 / 101 (or 81 / 82). With several candidates per
    # centre, as in scikit-learn, the nearer row would almost never be drawn.
    X = np.array([[0.0], [1.0], [3.0]])
    drawn = [
        KMeans(2, init="k-means++", max_iter=1, random_state=seed).fit(X).inertia_ for seed in range(300)
    ]
    # The pair {0, 1} is drawn with probability (1/10 + 1/5) / 3 = 0.1 and gives the inertia 2 after one
    # iteration: the clusters are {0} and {1, 3}. The other pairs give {0, 1} and {3}.
    share = np.mean(np.isclose(drawn, 2.0))
    assert 0.05 < share < 0.16


def test_empty_cluster_takes_the_farthest_row() -> None:
    X = np.array([[0.0], [1], [2], [20], [21], [29]])
    init = np.array([[1.0], [22.0], [900.0]])
    model = KMeans(3, init=init, max_iter=1, tol=0).fit(X)
    # Rows 0-2 and 3-5 are assigned, so that the third cluster is empty. Row 5 is the farthest.
    np.testing.assert_allclose(model.cluster_centers_[:, 0], [1.0, 20.5, 29.0])
    peer = cluster.KMeans(3, init=init, n_init=1, max_iter=1, tol=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, peer.cluster_centers_)


def test_empty_clusters_ignore_rows_without_weight_and_single_rows() -> None:
    X = np.array([[0.0], [3], [100], [500]])
    init = np.array([[0.5], [120.0], [-1e6]])
    model = KMeans(3, init=init, max_iter=1).fit(X, sample_weight=[1.0, 1, 1, 0])
    # Row 3 has no weight, and row 2 is alone with it: row 1 is the farthest of the others.
    np.testing.assert_allclose(model.cluster_centers_[:, 0], [0.0, 100.0, 3.0])


def test_cluster_stays_empty_if_all_rows_lie_on_centres() -> None:
    X = np.repeat([[1.0, 1], [5, 5]], 5, axis=0)
    with pytest.warns(FewerClustersWarning):
        model = KMeans(3, init=np.array([[1.0, 1], [5, 5], [90, 90]])).fit(X)
    assert model.cluster_sizes_.tolist() == [5, 5, 0]
    np.testing.assert_array_equal(model.cluster_centers_[2], [90, 90])
    assert (model.inertia_, model.n_iter_) == (0.0, 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8, np.int8])
def test_reads_rows_without_a_copy(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).integers(0, 100, size=(200, 3)).astype(dtype)
    seen: list[Any] = []
    monkeypatch.setattr(
        rows, "native_array", lambda array, n_threads=1: seen.append(array) or array  # type: ignore[func-returns-value]
    )  # fmt: skip
    KMeans(4, random_state=0).fit(X)
    assert all(np.shares_memory(array, X) for array in seen)
    assert seen


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_result_does_not_depend_on_threads(init: str) -> None:
    X = np.random.default_rng(0).normal(size=(3000, 7)).astype(np.float32)
    one, three = (KMeans(40, init=init, n_threads=n, random_state=0).fit(X) for n in (1, 3))
    np.testing.assert_array_equal(one.labels_, three.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, three.cluster_centers_)
    assert [r.inertia for r in one.history_] == [r.inertia for r in three.history_]


def test_callback_sees_each_record_and_stops_the_fit() -> None:
    X, _ = blobs(400, 4, 8, spread=3.0)
    seen: list[SweepRecord] = []
    model = KMeans(9, n_init=5, tol=0, random_state=0, callback=seen.append)
    model.fit(X)
    assert [record.seconds for record in seen] == sorted(record.seconds for record in seen)
    assert len(seen) > 5
    assert all(record in seen for record in model.history_)
    stopped = clone(model).set_params(callback=lambda record: record.moves < 300)
    stopped.fit(X)
    assert stopped.n_iter_ == next(i for i, r in enumerate(seen, start=1) if r.moves < 300)
    assert stopped.history_[-1].inertia == seen[stopped.n_iter_ - 1].inertia


def test_max_time_ends_the_fit_after_an_iteration() -> None:
    X, _ = blobs(400, 4, 8, spread=3.0)
    model = KMeans(9, n_init=1000, tol=0, max_time=1e-9, random_state=0).fit(X)
    assert model.n_iter_ == 1


def test_interrupted_fit_leaves_attributes_unchanged() -> None:
    X, _ = blobs(60, 2, 3)
    model = KMeans(3, random_state=0).fit(X)
    before = dict(model.__dict__)

    def interrupt(record: SweepRecord) -> None:
        raise KeyboardInterrupt

    model.set_params(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 1)
    assert all(model.__dict__[name] is value for name, value in before.items() if name != "callback")


def test_tolerance_does_not_depend_on_the_unit() -> None:
    X, _ = blobs(2000, 6, 12, spread=4.0)
    fits = [KMeans(20, init=f * X[:20] + a, tol=1e-3).fit(f * X + a) for f, a in ((1, 0), (1024, 7))]
    assert fits[0].n_iter_ == fits[1].n_iter_ < KMeans(20, init=X[:20], tol=0).fit(X).n_iter_
