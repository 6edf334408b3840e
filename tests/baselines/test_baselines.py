"""Baselines: the methods that boost k-means is compared with."""

import pickle
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn import cluster
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord, metrics
from boostkmeans._data import rows
from boostkmeans._engine import small_fit
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._steps.nearest import distances_to_assigned, nearest
from boostkmeans.baselines import (
    PAPER_METHODS,
    RBK,
    BisectingKMeans,
    KMeans,
    MiniBatchKMeans,
    OnlineKMeans,
    Refined,
    ScikitLearnBisectingKMeans,
    ScikitLearnKMeans,
    ScikitLearnMiniBatchKMeans,
    _baseline,
    _stopwatch,
)
from boostkmeans.baselines._scikit_learn import iteration_log
from conftest import blobs, same_partition
from sklearn_checks import expected_failures

Floats = NDArray[np.float64]

OVER_SCIKIT_LEARN = [ScikitLearnKMeans, ScikitLearnMiniBatchKMeans, ScikitLearnBisectingKMeans]
WEIGHTED = [KMeans, MiniBatchKMeans, BisectingKMeans, *OVER_SCIKIT_LEARN]
ALL: list[Any] = [*WEIGHTED, OnlineKMeans, RBK]
MINI_BATCH = [MiniBatchKMeans, ScikitLearnMiniBatchKMeans]
WITH_CENTRES = [KMeans, ScikitLearnKMeans, *MINI_BATCH, OnlineKMeans]


@parametrize_with_checks(
    [
        KMeans(n_clusters=3),
        KMeans(n_clusters=3, init="k-means++", n_init=2, n_threads=1),
        MiniBatchKMeans(n_clusters=3),
        BisectingKMeans(n_clusters=3),
        ScikitLearnKMeans(n_clusters=3),
        ScikitLearnMiniBatchKMeans(n_clusters=3),
        ScikitLearnBisectingKMeans(n_clusters=3),
        OnlineKMeans(n_clusters=3),
        RBK(n_clusters=3),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore")  # some checks warn deliberately
@pytest.mark.filterwarnings("default:Estimator:pytest.PytestUnraisableExceptionWarning")
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Use one thread: on a busy machine, waiting OpenMP threads need minutes for small data."""
    with threadpool_limits(1):
        yield


# ---- one interface


@pytest.mark.parametrize("method", ALL)
def test_fitted_attributes_are_consistent(method: Any) -> None:
    X, _ = blobs(300, 4, 5)
    model = method(5, random_state=0).fit(X)
    rows = X / np.linalg.norm(X, axis=1)[:, None] if method is RBK else X
    assert model.labels_.shape == (300,)
    assert model.labels_.dtype == np.int32
    np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(model.labels_, minlength=5))
    distortion = metrics.average_distortion(rows, model.labels_, centers=model.cluster_centers_)
    assert model.distortion_ == pytest.approx(distortion, rel=1e-10)
    assert model.inertia_ == pytest.approx(300 * distortion, rel=1e-10)
    assert model.n_iter_ == len(model.history_)
    assert all(isinstance(record, SweepRecord) for record in model.history_)
    assert model.history_[-1].inertia == pytest.approx(model.inertia_, rel=1e-12)
    seconds = [record.seconds for record in model.history_]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0


def test_interrupted_fit_leaves_all_attributes_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs(60, 2, 3)
    model = KMeans(3, random_state=0).fit(X)
    before, run = dict(model.__dict__), KMeans._run

    class Interrupted:
        def __init__(self, *given: Any) -> None:
            self.run = run(*given)

        def __getattr__(self, name: str) -> Any:
            if name == "history":
                raise KeyboardInterrupt
            return getattr(self.run, name)

    monkeypatch.setattr(KMeans, "_run", lambda *given: Interrupted(*given))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 1)
    assert all(model.__dict__[name] is value for name, value in before.items())
    assert model.__dict__.keys() == before.keys()


@pytest.mark.parametrize("method", WITH_CENTRES)
def test_labels_are_nearest_centres(method: Any) -> None:
    X, _ = blobs(300, 4, 5, spread=1.0)
    model = method(5, random_state=0)
    labels = model.fit_predict(X)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.transform(X).argmin(axis=1), labels)
    assert model.score(X) == pytest.approx(-model.inertia_)


@pytest.mark.parametrize("method", ALL)
def test_same_random_state_gives_same_result(method: Any) -> None:
    X, _ = blobs(200, 3, 4, spread=1.0)
    model = method(4, random_state=3)
    first, again = clone(model).fit(X), model.fit(X)
    np.testing.assert_array_equal(first.cluster_centers_, again.cluster_centers_)
    np.testing.assert_array_equal(first.labels_, again.labels_)
    other = clone(model).set_params(random_state=4).fit(X)
    assert not np.array_equal(first.cluster_centers_, other.cluster_centers_)


@pytest.mark.parametrize("method", ALL)
def test_supports_clone_set_params_and_pickle(method: Any) -> None:
    X, _ = blobs(60, 3, 4)
    model = method(4, random_state=1, n_threads=1)
    assert clone(model).get_params() == model.get_params()
    assert {"n_clusters", "n_init", "random_state", "n_threads"} <= set(model.get_params())
    assert method().set_params(n_clusters=7).n_clusters == 7
    again = pickle.loads(pickle.dumps(model.fit(X)))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.history_ == model.history_


@pytest.mark.parametrize("method", ALL)
def test_keeps_best_of_n_init_runs(method: Any) -> None:
    X, _ = blobs(120, 3, 8, spread=2.0)
    rng = np.random.RandomState(5)
    runs = [method(8, random_state=rng).fit(X).inertia_ for _ in range(4)]
    kept = method(8, n_init=4, random_state=np.random.RandomState(5)).fit(X)
    assert len(set(runs)) > 1
    assert kept.inertia_ == pytest.approx(min(runs), rel=1e-12)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8, np.int8, np.int64])
def test_result_does_not_depend_on_dtype(method: Any, dtype: Any) -> None:
    X, _ = blobs(100, 3, 4)
    X = np.clip(X.round() + 60, 0, 120)
    model = method(4, random_state=0)
    expected = clone(model).fit(X)
    before = X.astype(dtype)
    found = model.fit(before)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.inertia_ == pytest.approx(expected.inertia_, rel=1e-6)
    np.testing.assert_array_equal(before, X.astype(dtype))


@pytest.mark.parametrize("method", WEIGHTED)
def test_weights_equal_repeated_rows(method: Any) -> None:
    X, truth = blobs(90, 3, 3)
    w = np.random.default_rng(0).integers(0, 3, 90).astype(float)
    extra = {"init": "k-means++", **({"share": 1.0} if method in MINI_BATCH else {})}
    model = method(3, random_state=0, **extra).fit(X, sample_weight=w)
    assert same_partition(model.labels_, truth)
    repeated = np.repeat(np.arange(90), w.astype(int))
    means = np.array([X[repeated][truth[repeated] == r].mean(axis=0) for r in range(3)])
    assert np.abs(model.transform(means).min(axis=0)).max() < 1e-6
    expected = metrics.average_distortion(X[repeated], truth[repeated])
    assert model.distortion_ == pytest.approx(expected, rel=1e-6)
    scaled = clone(model).fit(X, sample_weight=1e6 * w)
    assert scaled.inertia_ == pytest.approx(1e6 * model.inertia_, rel=1e-6)
    assert scaled.history_[-1].inertia == pytest.approx(scaled.inertia_)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_accepts_equal_rows(method: Any) -> None:
    model = method(3, random_state=0).fit(np.full((10, 2), 4.0))
    assert model.inertia_ == 0.0
    assert model.cluster_sizes_.sum() == 10


@pytest.mark.parametrize("method", ALL)
def test_accepts_one_cluster_and_one_cluster_per_row(method: Any) -> None:
    X, _ = blobs(6, 2, 3)
    extra = {"share": 1.0} if method in MINI_BATCH else {}
    assert (method(1, random_state=0, **extra).fit(X).labels_ == 0).all()
    alone = method(6, random_state=0, **extra).fit(X)
    assert (alone.cluster_sizes_ == 1).all()
    assert alone.inertia_ == pytest.approx(0.0, abs=1e-20)


# ---- dense and sparse


@pytest.fixture(params=[False, True], ids=["expanded", "sparse"])
def sparse_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expand sparse rows to dense ones, as for small matrices, or not, as for large matrices."""
    if request.param:
        monkeypatch.setattr(rows, "MAX_EXPANDED_CELLS", 0)
        monkeypatch.setattr(rows, "MIN_EXPANDED_DENSITY", 2.0)
        # The schedule of small dense fits visits rows in another random order.
        monkeypatch.setattr(small_fit, "MAX_WORK", 0)


@pytest.mark.usefixtures("sparse_path")
@pytest.mark.parametrize("name", PAPER_METHODS)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_dense_and_sparse_agree(name: str, form: Any) -> None:
    X, _ = blobs(120, 6, 3, seed=1)
    X[:, ::2] = np.where(np.abs(X[:, ::2]) < 15, 0, X[:, ::2])
    dense, from_sparse = PAPER_METHODS[name](3, 0).fit(X), PAPER_METHODS[name](3, 0).fit(form(X))
    assert same_partition(dense.labels_, from_sparse.labels_)
    assert from_sparse.inertia_ == pytest.approx(dense.inertia_, rel=1e-9)
    assert len(from_sparse.history_) == len(dense.history_)
    assert same_partition(from_sparse.predict(form(X)), dense.predict(X))
    assert from_sparse.score(form(X)) == pytest.approx(dense.score(X), rel=1e-9)
    np.testing.assert_allclose(
        np.sort(from_sparse.transform(form(X))), np.sort(dense.transform(X)), rtol=1e-6, atol=1e-6
    )


@pytest.mark.usefixtures("sparse_path")
@pytest.mark.parametrize("method", ALL)
def test_accepts_sparse_rows_with_64_bit_indices(method: Any) -> None:
    X, _ = blobs(60, 4, 3)
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    expected = method(3, random_state=0).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(method(3, random_state=0).fit(rows).labels_, expected.labels_)


@pytest.mark.usefixtures("sparse_path")
@pytest.mark.parametrize("method", WEIGHTED)
def test_weighted_sparse_rows_equal_dense_rows(method: Any) -> None:
    X, _ = blobs(90, 4, 3)
    w = np.random.default_rng(0).integers(0, 3, 90).astype(float)
    dense, from_sparse = (
        method(3, random_state=0).fit(form(X), sample_weight=w) for form in (np.array, sparse.csr_array)
    )
    np.testing.assert_array_equal(from_sparse.labels_, dense.labels_)
    assert from_sparse.inertia_ == pytest.approx(dense.inertia_, rel=1e-9)


# ---- k-means of scikit-learn


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_kmeans_equals_scikit_learn(init: str) -> None:
    X, _ = blobs(400, 5, 6, spread=1.0)
    model = ScikitLearnKMeans(6, init=init, random_state=7).fit(X)
    peer = cluster.KMeans(6, init=init, n_init=1, random_state=7).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, peer.cluster_centers_, rtol=1e-12)
    np.testing.assert_array_equal(model.labels_, peer.labels_)
    assert model.inertia_ == pytest.approx(peer.inertia_, rel=1e-12)
    assert model.n_iter_ == peer.n_iter_ > 2


def test_kmeans_history_equals_inertia_of_shorter_runs() -> None:
    X, _ = blobs(400, 5, 6, spread=1.0)
    model = ScikitLearnKMeans(6, tol=0, random_state=7).fit(X)
    for record, n in zip(model.history_, range(1, 6), strict=False):
        shorter = cluster.KMeans(6, init="random", n_init=1, max_iter=n, tol=0, random_state=7)
        assert record.inertia == pytest.approx(shorter.fit(X).inertia_, rel=1e-12)
        assert (record.kind, record.evaluations, record.moves) == ("lloyd", 400 * 6, 0)
    inertias = [record.inertia for record in model.history_]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(inertias))


def test_kmeans_history_scales_with_weights() -> None:
    X, _ = blobs(200, 3, 4, spread=1.0)
    w = np.random.default_rng(0).integers(1, 4, 200).astype(float)
    model, scaled = (
        ScikitLearnKMeans(4, random_state=0).fit(X, sample_weight=by * w) for by in (1.0, 1000.0)
    )
    assert len(model.history_) == len(scaled.history_) > 2
    for record, other in zip(model.history_, scaled.history_, strict=True):
        assert other.inertia == pytest.approx(1000 * record.inertia, rel=1e-9)
    inertias = [record.inertia for record in scaled.history_]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(inertias))


def test_kmeans_respects_tol_and_max_iter() -> None:
    X, _ = blobs(400, 5, 6, spread=1.0)
    sweeps = [ScikitLearnKMeans(6, tol=tol, random_state=7).fit(X).n_iter_ for tol in (1e-4, 1e-2, 1.0)]
    assert sweeps[0] > sweeps[1] > sweeps[2]
    assert ScikitLearnKMeans(6, max_iter=2, random_state=7).fit(X).n_iter_ == 2


def observe_fits(
    monkeypatch: pytest.MonkeyPatch, method: Any, observe: Callable[[Any], object]
) -> list[Any]:
    """Return a list that receives `observe(rows)` for each call of the wrapped estimator."""
    observed: list[Any] = []
    name = "partial_fit" if method in MINI_BATCH else "fit"
    wrapped = getattr(cluster, method.__name__.removeprefix("ScikitLearn"))
    fit = getattr(wrapped, name)

    def observing_fit(self: Any, rows: Any, **kwargs: Any) -> Any:
        observed.append(observe(rows))
        return fit(self, rows, **kwargs)

    monkeypatch.setattr(wrapped, name, observing_fit)
    return observed


@pytest.mark.parametrize("method", OVER_SCIKIT_LEARN)
def test_small_types_are_converted_to_float32(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = observe_fits(monkeypatch, method, lambda rows: rows.dtype)
    for dtype in (np.uint8, np.float16, np.float32, np.float64):
        method(2, max_iter=1, random_state=0).fit(np.eye(8, dtype=dtype))
    assert seen == [np.float32, np.float32, np.float32, np.float64]


def test_kmeans_from_given_centres() -> None:
    X, truth = blobs(100, 3, 4)
    means = np.array([X[truth == r].mean(axis=0) for r in range(4)])
    model = ScikitLearnKMeans(4, init=means + 0.1).fit(X)
    np.testing.assert_array_equal(model.labels_, truth)
    np.testing.assert_allclose(model.cluster_centers_, means)


def test_kmeans_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    ScikitLearnKMeans(3, random_state=0).fit(blobs(50, 2, 3)[0])
    assert sys.stdout is before
    assert capsys.readouterr().out == ""


def test_kmeans_history_has_one_record_if_lines_cannot_be_parsed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    X, _ = blobs(200, 3, 4, spread=1.0)
    expected = ScikitLearnKMeans(4, random_state=0).fit(X)
    monkeypatch.setattr(iteration_log, "ITERATION", re.compile("Round .*"))
    model = ScikitLearnKMeans(4, random_state=0).fit(X)
    assert model.n_iter_ == expected.n_iter_ > 1
    (record,) = model.history_
    assert record.inertia == model.inertia_ == expected.inertia_
    assert record.evaluations == 200 * 4 * model.n_iter_
    assert "Iteration 0" in capsys.readouterr().out, "unknown lines must be forwarded"


def test_iteration_log_forwards_all_other_output(capsys: pytest.CaptureFixture[str]) -> None:
    with iteration_log.capture_iterations(_stopwatch.Stopwatch()) as log:
        print("Initialization complete")
        print("Iteration 0, inertia 12.5.")
        print("Iteration 1, inertia 3.")
        print("Iteration 2, inertia 1.5e-07")
        print("Iteration 3, inertia inf.")
        print("Converged at iteration 3: strict convergence.")
        print("something else")
        other = threading.Thread(target=print, args=("Iteration 9, inertia 9.0.",))
        other.start()
        other.join()
        assert sys.stdout.encoding
        print("no line break", end="", flush=True)
    assert [inertia for _, inertia in log.entries] == [12.5, 3.0, 1.5e-07, np.inf]
    assert capsys.readouterr().out == "something else\nIteration 9, inertia 9.0.\nno line break"


def test_kmeans_works_without_console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert len(ScikitLearnKMeans(3, random_state=0).fit(blobs(50, 2, 3)[0]).history_) > 1


def test_kmeans_in_parallel_threads() -> None:
    X, _ = blobs(300, 4, 5, spread=1.0)
    expected = ScikitLearnKMeans(5, random_state=0).fit(X)
    models = [ScikitLearnKMeans(5, random_state=0) for _ in range(4)]
    threads = [threading.Thread(target=model.fit, args=(X,)) for model in models]
    before = sys.stdout
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.stdout is before
    for model in models:
        inertias = [record.inertia for record in model.history_]
        assert inertias == pytest.approx([record.inertia for record in expected.history_], rel=1e-12)


@pytest.mark.parametrize("method", OVER_SCIKIT_LEARN)
def test_respects_n_threads(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = observe_fits(
        monkeypatch, method, lambda _: {pool["num_threads"] for pool in threadpool_info()}
    )
    with threadpool_limits(2):
        method(2, n_threads=1, max_iter=2, random_state=0).fit(blobs(50, 2, 2)[0])
        assert {pool["num_threads"] for pool in threadpool_info()} == {2}
    assert seen
    assert all(pools == {1} for pools in seen)


# ---- mini-batch


@pytest.mark.parametrize("method", MINI_BATCH)
def test_batch_of_all_rows_is_one_lloyd_step(method: Any) -> None:
    X, _ = blobs(60, 3, 3, spread=2.0)
    init = X[:3]
    model = method(3, share=1.0, init=init, max_iter=1).fit(X)
    labels = ((X[:, None] - init) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([X[labels == r].mean(axis=0) for r in range(3)])
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-12)


@pytest.mark.parametrize("method", MINI_BATCH)
def test_default_batch_has_tenth_of_rows(method: Any) -> None:
    X, _ = blobs(203, 3, 4)
    model = method(4, random_state=0).fit(X)
    assert model.n_iter_ == 100
    assert {(r.kind, r.evaluations) for r in model.history_} == {("batch", 21 * 4)}
    assert model.history_[0].moves == 203
    many = method(50, max_iter=3, random_state=0).fit(X)
    n_rows = 21 if method is MiniBatchKMeans else 50  # scikit-learn needs n_clusters rows
    assert many.history_[0].evaluations == n_rows * 50


def test_batches_differ_and_exclude_rows_without_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.arange(100.0)[:, None]
    batches = observe_fits(monkeypatch, ScikitLearnMiniBatchKMeans, lambda rows: rows[:, 0].tolist())
    weights = np.r_[np.zeros(50), np.ones(50)]
    ScikitLearnMiniBatchKMeans(2, max_iter=20, random_state=0).fit(X, sample_weight=weights)
    assert len(batches) == len({tuple(batch) for batch in batches}) == 20
    assert all(len(set(batch)) == 5 for batch in batches)
    assert min(map(min, batches)) >= 50


@pytest.mark.parametrize("method", [*MINI_BATCH, OnlineKMeans])
def test_run_stops_at_tolerance(method: Any) -> None:
    X, _ = blobs(200, 3, 4, spread=1.0)
    long, short = (method(4, tol=tol, random_state=0).fit(X) for tol in (0.0, 0.01))
    assert 2 <= short.n_iter_ < long.n_iter_
    inertias = [record.inertia for record in long.history_]
    falls = [(a - b) / a for a, b in pairwise(inertias)]
    first = next(i for i, fall in enumerate(falls) if fall < 0.01)
    assert short.n_iter_ == first + 2
    assert short.inertia_ == inertias[first + 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [*MINI_BATCH, OnlineKMeans, ScikitLearnKMeans, ScikitLearnBisectingKMeans]
)
def test_seconds_exclude_measurements(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs(100, 3, 4, spread=1.0)
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1e-3
        return now

    def slow(measure: Any) -> Any:
        def run(*args: Any) -> Any:
            nonlocal now
            now += 1000.0
            return measure(*args)

        return run

    monkeypatch.setattr(time, "perf_counter", clock)
    monkeypatch.setattr(_baseline, "nearest", slow(nearest))
    monkeypatch.setattr(_baseline, "distances_to_assigned", slow(distances_to_assigned))
    for seed in range(4):  # several seeds, so that the best run is not always the first
        model = method(4, n_init=5, random_state=seed).fit(X)
        assert 0 < model.history_[-1].seconds < 10


# ---- bisecting k-means of scikit-learn


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_bisecting_equals_scikit_learn(init: str) -> None:
    X, _ = blobs(300, 4, 6, spread=1.0)
    model = ScikitLearnBisectingKMeans(6, init=init, random_state=2).fit(X)
    peer = cluster.BisectingKMeans(
        6, init=init, random_state=2, bisecting_strategy="largest_cluster"
    ).fit(X)
    np.testing.assert_array_equal(model.labels_, peer.labels_)
    np.testing.assert_allclose(model.cluster_centers_, peer.cluster_centers_, rtol=1e-12)
    assert model.inertia_ == pytest.approx(peer.inertia_, rel=1e-12)
    assert [record.kind for record in model.history_] == ["tree"]


def test_bisecting_splits_the_largest_cluster() -> None:
    # Ten close rows and two distant ones: the ten rows are split, although splitting the two gains more.
    X = np.r_[np.linspace(0, 1, 10), 100.0, 140.0][:, None]
    model = ScikitLearnBisectingKMeans(3, init="k-means++", random_state=0).fit(X)
    assert sorted(model.cluster_sizes_.tolist()) == [2, 5, 5]


def test_weighted_bisecting_equals_scikit_learn() -> None:
    X, _ = blobs(100, 3, 5, spread=1.0)
    w = np.random.default_rng(0).uniform(0.01, 10, 100)
    model = ScikitLearnBisectingKMeans(20, random_state=2).fit(X, sample_weight=w)
    peer = cluster.BisectingKMeans(20, random_state=2, bisecting_strategy="largest_cluster")
    np.testing.assert_array_equal(model.labels_, peer.fit(X, sample_weight=w).labels_)
    assert not np.array_equal(model.labels_, peer.fit(X).labels_)


def test_bisecting_assigns_rows_without_weight_to_nearest_centre() -> None:
    X, _ = blobs(80, 3, 4, spread=1.0)
    weights = np.ones(80)
    weights[5:45] = 0
    model = ScikitLearnBisectingKMeans(20, random_state=0).fit(X, sample_weight=weights)
    peer = cluster.BisectingKMeans(20, random_state=0, bisecting_strategy="largest_cluster")
    labels = peer.fit(X[weights > 0]).labels_
    np.testing.assert_array_equal(model.labels_[weights > 0], labels)
    np.testing.assert_array_equal(model.labels_[weights == 0], model.predict(X[weights == 0]))
    assert not np.array_equal(labels, model.predict(X[weights > 0])), (
        "some leaves must differ from the nearest centre"
    )


# ---- RBK


def test_rbk_equals_bisecting_by_cosine() -> None:
    X = np.random.default_rng(0).uniform(size=(200, 6))
    model = RBK(7, random_state=3).fit(X)
    same = BisectingBoostKMeans(7, init="random", metric="cosine", random_state=3).fit(X)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    np.testing.assert_array_equal(RBK(7, random_state=3).fit(X * 1024).labels_, same.labels_)
    assert sorted(model.get_params()) == [
        "max_passes", "n_clusters", "n_init", "n_threads", "random_state", "sample", "split", "verbose"
    ]  # fmt: skip


# ---- the paper's table


def test_paper_methods_have_the_papers_settings() -> None:
    assert list(PAPER_METHODS) == [
        "k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)", "BKM(rnd)+Fast",
        "BsKM", "BsKM++", "BsBKM(non)", "RBK",
    ]  # fmt: skip
    made = {name: method(6, 9) for name, method in PAPER_METHODS.items()}
    for model in made.values():
        assert (model.n_clusters, model.random_state) == (6, 9)
    expected: list[Any] = [
        KMeans, KMeans, MiniBatchKMeans, OnlineKMeans, BoostKMeans, BoostKMeans,
        BisectingKMeans, BisectingKMeans, BisectingBoostKMeans, RBK,
    ]  # fmt: skip
    assert [type(model) for model in made.values()] == expected
    assert [getattr(model, "init", None) for model in made.values()] == [
        "random", "k-means++", "random", "random", "random-partition", "random",
        "random", "k-means++", "random-partition", "random",
    ]  # fmt: skip
    for name, moves in (("BKM(non)", "best"), ("BKM(rnd)+Fast", "first")):
        model = made[name]
        assert (model.moves, model.n_candidates, model.repair, model.annealing) == (
            moves, None, False, 0
        )  # fmt: skip


@pytest.mark.parametrize("name", PAPER_METHODS)
def test_paper_methods_find_separated_clusters(name: str) -> None:
    # Three clusters along the axes, which differ in position and in direction.
    X = 10 * np.eye(3).repeat(30, axis=0) + np.random.default_rng(0).uniform(size=(90, 3))
    models = [PAPER_METHODS[name](3, seed).fit(X) for seed in range(10)]
    best = min(models, key=lambda model: float(model.inertia_))
    assert metrics.entropy(np.arange(3).repeat(30), best.labels_) == 0.0


# ---- errors


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        *((m, {"n_clusters": 0}, f"'n_clusters' parameter of {m.__name__} must be an int") for m in ALL),
        *((m, {"n_init": 0}, "'n_init' parameter") for m in ALL),
        *((m, {"n_threads": 0}, "'n_threads' parameter") for m in ALL),
        *((m, {"n_clusters": 31}, "n_samples=30 should be >= n_clusters=31") for m in ALL),
        *((m, {"max_iter": 0}, "'max_iter' parameter") for m in ALL if m is not RBK),
        *((m, {"tol": -1.0}, "'tol' parameter") for m in ALL if m is not RBK),
        *((m, {"init": "forgy"}, "'init' parameter .* Got 'forgy'") for m in ALL if m is not RBK),
        *((m, {"init": 3}, "'init' parameter .* Got 3") for m in WITH_CENTRES),
        *((m, {"init": np.zeros((2, 2))}, r"init have shape \(2, 2\)") for m in WITH_CENTRES),
        *((m, {"init": np.full((3, 2), np.nan)}, "init contain NaN") for m in WITH_CENTRES),
        (BisectingKMeans, {"init": np.zeros((3, 2))}, "'init' parameter"),
        (ScikitLearnBisectingKMeans, {"init": np.zeros((3, 2))}, "'init' parameter"),
        *((m, {"share": 0.0}, "'share' parameter") for m in MINI_BATCH),
        *((m, {"share": 1.5}, r"'share' parameter .* range \(0, 1\]. Got 1.5") for m in MINI_BATCH),
        (MiniBatchKMeans, {"share_of": "all"}, "'share_of' parameter .* Got 'all'"),
        (MiniBatchKMeans, {"record_every": 0}, "'record_every' parameter"),
        *((m, {"max_time": 0.0}, "'max_time' parameter") for m in (KMeans, MiniBatchKMeans)),
        *((m, {"callback": 3}, "'callback' parameter") for m in (KMeans, MiniBatchKMeans)),
        (OnlineKMeans, {"rate": 0}, "'rate' parameter"),
        (OnlineKMeans, {"rate": 1.0}, r"'rate' parameter .* range \(0, 1\). Got 1.0"),
        (OnlineKMeans, {"decay": -0.1}, "'decay' parameter"),
    ],
)  # fmt: skip
def test_rejects_invalid_parameters(method: Any, parameters: dict[str, Any], message: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=message):
        method(**{"n_clusters": 3, **parameters}).fit(X)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_rejects_non_finite_rows(method: Any, value: float, name: str) -> None:
    X = np.ones((10, 2))
    X[7, 1] = value
    with pytest.raises(ValueError, match=f"{name} .*row 7, column 1"):
        method(2).fit(X)


@pytest.mark.parametrize("method", WEIGHTED)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(9), r"expected \(10,\)"),
        (np.full(10, -1.0), "Negative"),
        (np.r_[1.0, 1.0, np.zeros(8)], r"positive weight in sample_weight \(2\)"),
    ],
)
def test_rejects_invalid_weights(method: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        method(3).fit(np.eye(10), sample_weight=weights)


def test_warns_about_empty_clusters() -> None:
    rows = np.repeat(np.eye(3), 10, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"clusters \(3\) found smaller than n_clusters \(6\)"):
        KMeans(6, random_state=0).fit(rows)


def test_a_refinement_checks_its_parameters_and_accepts_methods_without_weights() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 3))
    assert Refined(OnlineKMeans(5, random_state=0)).fit(rows).cluster_centers_.shape == (5, 3)
    with pytest.raises(ParameterError, match="max_iter"):
        Refined(KMeans(5), max_iter=0).fit(rows)
    with pytest.raises(ParameterError, match="tol"):
        Refined(KMeans(5), tol=-1).fit(rows)


def test_the_first_record_counts_the_assignment_to_the_starting_centres() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 3))
    model = KMeans(5, tol=0, random_state=0).fit(rows)
    assert [record.evaluations for record in model.history_[:2]] == [2000, 1000]
