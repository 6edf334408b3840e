"""The parameter `dimensions`: fits that run first in a few principal components."""

import itertools
import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

import reference
from boostkmeans import BoostKMeans, ParameterError, SweepRecord, load_model
from boostkmeans._data import memory
from boostkmeans._engine import dimensions as rule
from boostkmeans._estimators.clusterer import FewerClustersWarning
from boostkmeans.io import open_vectors
from conftest import run_python


def correlated_blobs(n: int, d: int, k: int, seed: int = 0) -> NDArray[np.float64]:
    """Return overlapping blobs whose first components hold most of the variance."""
    rng = np.random.default_rng(seed)
    spread = 3 * 0.8 ** np.arange(d) + 0.05
    X = (rng.normal(size=(k, d))[rng.integers(k, size=n)] + 0.5 * rng.normal(size=(n, d))) * spread
    turned, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray(X @ turned)


X = correlated_blobs(900, 24, 14)
WEIGHTS = np.random.default_rng(1).integers(0, 4, size=len(X)).astype(np.float64)
BYTES = np.clip(120 + 12 * X, 0, 255).astype(np.uint8)


def fit(rows: Any = X, k: int = 12, weights: Any = None, **settings: Any) -> BoostKMeans:
    settings = {"dimensions": 6, "random_state": 0, **settings}
    return BoostKMeans(k, **settings).fit(rows, sample_weight=weights)


def was_projected(model: BoostKMeans) -> bool:
    return "dimensions (" in model.history_[0].note


def assert_consistent(model: BoostKMeans, rows: NDArray[Any], weights: Any = None) -> None:
    """Check centres, sizes and inertia against the labels."""
    k, w = model.n_clusters_, np.ones(len(rows)) if weights is None else weights
    np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(model.labels_, minlength=k))
    gaps = np.square(rows - model.cluster_centers_[model.labels_]).sum(axis=1)
    assert model.inertia_ == pytest.approx(w @ gaps)
    records = [record.inertia for record in model.history_]
    assert all(a >= b for a, b in itertools.pairwise(records))
    assert model.n_iter_ == sum(record.kind != "start" for record in model.history_)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dimensions": 1},
        {"dimensions": 23},
        {"dimensions": np.int64(5)},
        {"n_candidates": 4},
        {"n_init": 3},
        {"quality": "fast"},
        {"quality": "best"},
        {"moves": "first", "annealing": 0, "repair": False},
        {"annealing": (0.1, 12)},
        {"annealing": 0, "repair": False},
        {"init": "random"},
        {"init": "k-means++"},
        {"init": "random-partition"},
        {"init": "bisecting"},
        {"init": X[:12]},
        {"init": np.arange(900) % 12},
        {"init": lambda rows, k, random_state: rows[:k]},
        {"init": lambda rows, k, random_state: "k-means++"},
    ],
    ids=lambda settings: ", ".join(f"{name}={type(v).__name__ if callable(v) else str(v)[:14]}"
                                   for name, v in settings.items()) or "default",
)  # fmt: skip
def test_ends_in_a_certified_optimum(settings: dict[str, Any]) -> None:
    integers = np.rint(16 * X)
    model = fit(integers, tol=0, max_iter=1000, **settings)
    assert was_projected(model)
    assert model.stop_reason_ == "certified"
    assert model.converged_
    assert_consistent(model, integers)
    assert reference.improving_move(integers, model.labels_, 12) is None


@pytest.mark.parametrize("weights", [WEIGHTS, WEIGHTS + 0.5], ids=["zeros", "positive"])
def test_certifies_weighted_rows(weights: NDArray[np.float64]) -> None:
    integers = np.rint(16 * X)
    model = fit(integers, weights=weights, tol=0, max_iter=1000)
    assert was_projected(model)
    assert model.converged_
    assert_consistent(model, integers, weights)
    assert reference.improving_move(integers, model.labels_, 12, weights) is None


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "u1", "i1", "i4", ">f4"])
def test_fits_every_dtype(dtype: str) -> None:
    rows = (BYTES // 2).astype(dtype)
    model = fit(rows, tol=0, max_iter=1000)
    assert was_projected(model)
    assert model.converged_
    assert reference.improving_move(BYTES // 2, model.labels_, 12) is None


def test_is_as_good_as_a_fit_in_all_dimensions() -> None:
    rows = correlated_blobs(6000, 48, 120, seed=3).astype(np.float32)
    for settings in ({}, {"metric": "cosine"}, {"n_candidates": 16}):
        models = [fit(rows, 80, dimensions=dimensions, **settings) for dimensions in (None, 12)]
        assert [was_projected(model) for model in models] == [False, True]
        assert models[1].inertia_ < 1.01 * models[0].inertia_


def test_cosine() -> None:
    model = fit(metric="cosine", tol=0, max_iter=1000)
    assert was_projected(model)
    assert model.converged_
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert_consistent(model, unit)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("n_candidates", [None, 4])
def test_size_limits(n_candidates: int | None) -> None:
    model = fit(min_size=70, max_size=80, n_candidates=n_candidates)
    assert was_projected(model)
    assert 70 <= model.cluster_sizes_.min() <= model.cluster_sizes_.max() <= 80
    assert_consistent(model, X)


def test_labels_do_not_depend_on_threads() -> None:
    rows = correlated_blobs(8000, 32, 50).astype(np.float32)
    for settings in ({}, {"n_candidates": 10, "tol": 0}):
        models = [fit(rows, 50, n_threads=n, **settings) for n in (1, 2, 4)]
        for other in models[1:]:
            np.testing.assert_array_equal(other.labels_, models[0].labels_)
            assert other.inertia_ == models[0].inertia_


@pytest.mark.parametrize("n_features", [24, 25, 1000])
def test_as_many_dimensions_as_features_is_none(n_features: int) -> None:
    expected = fit(dimensions=None)
    found = fit(dimensions=n_features)
    assert not was_projected(found)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert [r.inertia for r in found.history_] == [r.inertia for r in expected.history_]


def test_sparse_rows_use_all_dimensions() -> None:
    rows = sparse.random_array((3000, 1500), density=0.004, format="csr", random_state=0)
    expected = fit(rows, dimensions=None, max_iter=8)
    for dimensions in ("auto", 20):
        found = fit(rows, dimensions=dimensions, max_iter=8)
        assert not was_projected(found)
        np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_expanded_sparse_rows_are_projected() -> None:
    rows = np.where(np.abs(X) > 1, X, 0)
    expected, found = fit(rows), fit(sparse.csr_matrix(rows))
    assert was_projected(found)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_small_and_constant_data() -> None:
    one = fit(k=1)
    assert not was_projected(one)
    assert one.inertia_ == pytest.approx(np.square(X - X.mean(axis=0)).sum())
    column = fit(X[:, :1], dimensions=1)
    assert not was_projected(column)
    assert_consistent(column, X[:, :1])
    with pytest.warns(FewerClustersWarning):
        constant = fit(np.full((50, 4), 3.0), k=3, dimensions=2)
    assert constant.inertia_ == 0
    rows = fit(X[:5], k=5, dimensions=3)
    assert rows.inertia_ == pytest.approx(0, abs=1e-9)
    pair = fit(X[:2], k=2, dimensions=1)
    assert sorted(pair.labels_) == [0, 1]


def test_duplicates_and_low_rank() -> None:
    rows = np.repeat(np.rint(16 * X[:40]), 6, axis=0)
    model = fit(rows, 40, tol=0, max_iter=1000)
    assert model.inertia_ == pytest.approx(0, abs=1e-9)
    plane = np.rint(8 * X[:300, :2]) @ np.array([[1, 2, 0, 3, -1], [0, 1, 1, -2, 4]])
    model = fit(plane, 9, dimensions=3, tol=0, max_iter=1000)
    assert model.converged_
    assert reference.improving_move(plane, model.labels_, 9) is None


@pytest.mark.parametrize("max_iter", [1, 2, 3, 5, 20])
def test_max_iter_limits_all_sweeps(max_iter: int) -> None:
    model = fit(tol=0, max_iter=max_iter, n_candidates=None)
    assert model.n_iter_ <= max_iter
    assert_consistent(model, X)


class TestRecords:
    def test_note_reports_the_choice(self) -> None:
        notes = [record.note for record in fit().history_]
        assert notes[0].startswith("first 6 of 24 dimensions (")
        assert " % of the variance): repair" in notes[0]
        assert "start: " in notes[0]
        assert sum("then all dimensions" in note for note in notes) == 1

    def test_verbose_reports_the_choice(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger="boostkmeans"):
            fit(verbose=1)
        assert "first 6 of 24 dimensions" in caplog.text

    def test_inertia_of_the_last_record_is_exact(self) -> None:
        integers = np.rint(16 * X)
        model = fit(integers, tol=0, max_iter=1000)
        assert model.history_[-1].inertia == pytest.approx(model.inertia_)
        assert_consistent(model, integers)

    def test_inertias_are_those_of_all_dimensions(self) -> None:
        """A fit that is stopped after any step has at most the inertia of its last record."""
        n_records = len(fit().history_)
        for stop_after in range(1, n_records + 1):
            seen: list[SweepRecord] = []

            def stop(
                record: SweepRecord, seen: list[SweepRecord] = seen, after: int = stop_after
            ) -> bool:
                seen.append(record)
                return len(seen) >= after

            model = fit(callback=stop)
            assert seen == model.history_[: len(seen)]
            assert len(seen) == stop_after
            # A certificate in a few dimensions is not one in all dimensions.
            assert model.stop_reason_ == "callback" or stop_after == n_records
            assert not model.converged_
            assert_consistent(model, X)
            # Inertias in all dimensions are measured only after a fall of one percent.
            assert model.inertia_ <= 1.05 * seen[-1].inertia

    def test_callback_sees_every_record(self) -> None:
        seen: list[SweepRecord] = []
        model = fit(callback=seen.append)
        assert seen == model.history_


class TestInterrupted:
    """Stops while the fit sees only some dimensions."""

    def test_time_limit(self) -> None:
        for max_time in (1e-9, 0.003, 0.01, 0.03):
            model = fit(max_time=max_time, quality="best")
            assert_consistent(model, X)
            assert (model.cluster_sizes_ > 0).all()

    def test_interrupt_keeps_the_best_partition(self) -> None:
        seen = []

        def interrupt(record: SweepRecord) -> None:
            seen.append(record)
            if len(seen) == 4:
                raise KeyboardInterrupt

        model = BoostKMeans(12, dimensions=6, random_state=0, callback=interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
        assert model.stop_reason_ == "interrupted"
        assert model.cluster_centers_.shape == (12, 24)
        assert len(model.history_) == 4
        assert_consistent(model, X)
        means = [X[model.labels_ == c].mean(axis=0) for c in range(12)]
        np.testing.assert_allclose(model.cluster_centers_, means)
        assert model.predict(X).shape == (900,)

    def test_interrupt_in_a_later_run_keeps_the_better_run(self) -> None:
        first = fit()
        seen: list[SweepRecord] = []

        def interrupt(record: SweepRecord) -> None:
            seen.append(record)
            if len(seen) == len(first.history_) + 2:
                raise KeyboardInterrupt

        model = BoostKMeans(12, dimensions=6, n_init=2, random_state=0, callback=interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
        assert model.inertia_ <= first.inertia_ * (1 + 1e-9)

    @pytest.mark.process
    @pytest.mark.slow
    def test_ctrl_c_during_a_sweep(self) -> None:
        result = run_python("""
import os, signal, threading, time
import numpy as np
from boostkmeans import BoostKMeans
rng = np.random.default_rng(0)
X = (rng.normal(size=(150_000, 64)) * 0.9 ** np.arange(64)).astype(np.float32)
model = BoostKMeans(1000, init="random-partition", dimensions=32, tol=0, max_iter=10_000, random_state=0)
swept = threading.Event()
model.set_params(callback=lambda record: swept.set())
def interrupt():
    swept.wait()
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    model.fit(X)
except KeyboardInterrupt:
    print("interrupted")
assert model.stop_reason_ == "interrupted" and not model.converged_
assert model.cluster_centers_.shape == (1000, 64)
gaps = X - model.cluster_centers_[model.labels_]
assert np.isclose(model.inertia_, np.square(gaps.astype(np.float64)).sum(), rtol=1e-6)
""")
        assert result.returncode == 0, result.stderr
        assert result.stdout == "interrupted\n"


def test_streamed_rows_project_their_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "MIN_BLOCK_ROWS", 64)
    rows = correlated_blobs(6000, 16, 5).astype(np.float32)
    np.save(tmp_path / "x.npy", rows)
    limit = 6000 * memory.PER_STREAMED_ROW + 400_000
    with open_vectors(tmp_path / "x.npy", max_memory=limit) as vectors:
        model = fit(vectors, 5, dimensions=4)
    note = model.history_[0].note
    assert "in blocks" in note
    assert ", first in 4 dimensions" in note
    assert_consistent(model, rows)
    assert model.inertia_ < 1.02 * fit(rows, 5, dimensions=None).inertia_


class TestParameter:
    @pytest.mark.parametrize("value", [0, -3, 2.5, "all", True, (4,), np.nan])
    def test_rejects_other_values(self, value: Any) -> None:
        with pytest.raises(ParameterError, match="dimensions"):
            BoostKMeans(3, dimensions=value).fit(X)

    def test_is_a_parameter(self) -> None:
        model = BoostKMeans(3, dimensions=7)
        assert model.get_params()["dimensions"] == 7
        assert clone(model).dimensions == 7
        assert "dimensions=7" in repr(model)
        assert BoostKMeans().dimensions == "auto"

    @pytest.mark.parametrize("value", [None, "auto", 6])
    def test_is_saved(self, value: Any, tmp_path: Path) -> None:
        model = fit(dimensions=value)
        model.save(tmp_path / "model.safetensors")
        for same in (load_model(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
            assert same.dimensions == value
            np.testing.assert_array_equal(same.labels_, model.labels_)
            np.testing.assert_array_equal(same.predict(X), model.predict(X))
            np.testing.assert_array_equal(same.fit(X).labels_, model.labels_)

    def test_pickles_without_the_parameter(self) -> None:
        """Models that version 0.8 pickled do not have the attribute."""
        model = fit(dimensions=None)
        del model.__dict__["dimensions"]
        same = pickle.loads(pickle.dumps(model))
        assert "BoostKMeans" in repr(same)
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
        np.testing.assert_array_equal(clone(same).fit(X).labels_, model.labels_)


def test_automatic_choice_projects_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default of a fit that is large enough. The rule itself is tested in tests/engine."""
    monkeypatch.setattr(rule, "MIN_FEATURES", 16)
    monkeypatch.setattr(rule, "FIXED_COST", 0)
    monkeypatch.setattr(rule, "EIGENVECTOR_COST", 0)
    monkeypatch.setattr(rule, "COVARIANCE_COST", 0)
    rows = correlated_blobs(4000, 64, 40).astype(np.float32)
    model = fit(rows, 40, dimensions="auto")
    assert "first 16 of 64 dimensions" in model.history_[0].note
    assert not was_projected(fit(rows, 40, dimensions=None))
    assert not was_projected(fit(rows, 40, dimensions="auto", init="random"))
