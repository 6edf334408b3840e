"""`CriterionKMeans`: local optima, equivalences, stopping, files and awkward input."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import criterion_reference as reference
from boostkmeans import BoostKMeans, load_model, metrics
from boostkmeans._engine.criterion_run import METHODS
from boostkmeans._runtime.errors import ParameterConflictError, ParameterError
from boostkmeans._steps.criteria.criterion import CRITERIA, MINIMISED
from boostkmeans._steps.criteria.term_partition import TermPartition
from boostkmeans.documents import CriterionKMeans, CriterionRecord

Floats = NDArray[np.float64]
PAIRS = [(c, METHODS[i % 3], ("largest", "best")[i // 3]) for i, c in enumerate(CRITERIA)]


def documents(n: int = 120, d: int = 12, k: int = 4, seed: int = 0) -> Floats:
    """Return rows of term weights around k topics."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.4)
    X[np.arange(n), rng.integers(0, k, n)] += 1.5
    return X


@pytest.mark.parametrize(("criterion", "method", "split"), PAIRS)
def test_results_are_consistent(criterion: str, method: str, split: str) -> None:
    X = documents()
    model = CriterionKMeans(5, criterion=criterion, method=method, split=split, random_state=0).fit(X)
    rows = reference.unit(X)
    assert model.objective_ == pytest.approx(reference.value(rows, model.labels_, criterion), rel=1e-9)
    assert model.objective_ == pytest.approx(model.history_[-1].objective, rel=1e-9)
    sums = np.array([rows[model.labels_ == c].sum(axis=0) for c in range(5)])
    np.testing.assert_allclose(model.cluster_centers_, reference.unit(sums), atol=1e-12)
    np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(model.labels_, minlength=5))
    i2 = reference.value(rows, model.labels_, "i2")
    assert model.inertia_ == pytest.approx(2 * (len(X) - i2), rel=1e-9)
    cosines = rows @ model.cluster_centers_.T
    np.testing.assert_array_equal(model.predict(X), cosines.argmax(axis=1))
    np.testing.assert_allclose(model.transform(X), np.sqrt(np.maximum(0, 2 - 2 * cosines)), atol=1e-7)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("method", ["k-way", "refined"])
def test_no_single_move_improves_a_certified_result(criterion: str, method: str) -> None:
    X = documents(60, 8, 4, seed=2)
    w = None if method == "k-way" else np.arange(60) % 3 / 2
    model = CriterionKMeans(4, criterion=criterion, method=method, random_state=1)
    model.fit(X, sample_weight=w)
    assert model.converged_
    assert model.stop_reason_ == "certified"
    assert not reference.improving_moves(reference.unit(X), model.labels_, 4, criterion, w)


@pytest.mark.parametrize(("criterion", "method", "split"), PAIRS)
def test_sparse_rows_give_the_same_labels(criterion: str, method: str, split: str) -> None:
    X = documents(seed=4)
    models = [
        CriterionKMeans(
            4, criterion=criterion, method=method, split=split, random_state=3, n_threads=threads
        ).fit(rows)
        for rows, threads in ((X, 1), (sparse.csr_array(X), 2), (sparse.csc_matrix(X * 7), 1))
    ]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].labels_, other.labels_)
        assert models[0].objective_ == pytest.approx(other.objective_, rel=1e-12)


def stored_with_zeros(X: Floats) -> sparse.csr_array:
    """Return a CSR matrix that stores some of the zeros."""
    stored = (X != 0) | (np.arange(X.size).reshape(X.shape) % 7 == 0)
    rows, columns = np.nonzero(stored)
    return sparse.csr_array(
        (X[rows, columns], columns, np.searchsorted(rows, range(len(X) + 1))), X.shape
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("method", METHODS)
def test_dense_and_sparse_rows_give_identical_labels(
    criterion: str, method: str, dtype: type[np.generic]
) -> None:
    # Small counts have many ties, which the rounding of sums decides.
    rng = np.random.default_rng(5)
    X = (rng.integers(0, 4, (300, 90)) * (rng.random((300, 90)) < 0.15)).astype(dtype)
    X[::50] = 0
    w = rng.integers(0, 4, 300) / 3
    kinds = [X, np.asfortranarray(X), sparse.csr_array(X), stored_with_zeros(X)]
    for weights, split in ((None, "largest"), (w, "best")):
        models = [
            CriterionKMeans(
                12, criterion=criterion, method=method, split=split, n_init=2, random_state=1,
                n_threads=1 + i % 3,
            ).fit(rows, sample_weight=weights)
            for i, rows in enumerate(kinds)
        ]  # fmt: skip
        for other in models[1:]:
            np.testing.assert_array_equal(other.labels_, models[0].labels_)
            np.testing.assert_array_equal(other.cluster_centers_, models[0].cluster_centers_)
            assert other.objective_ == models[0].objective_
            assert other.stop_reason_ == models[0].stop_reason_
            assert other.inertia_ == pytest.approx(models[0].inertia_)


@pytest.mark.parametrize(("criterion", "method", "split"), PAIRS)
def test_each_step_improves_the_criterion(criterion: str, method: str, split: str) -> None:
    records: list[CriterionRecord] = []
    model = CriterionKMeans(
        6, criterion=criterion, method=method, split=split, random_state=0, callback=records.append
    ).fit(documents(400, 30))
    assert records == model.history_
    splits = [record for record in records if record.kind == "split"]
    assert len(splits) == (0 if method == "k-way" else 5)
    values = [record.objective for record in records if record.kind == "sweep"]
    sign = -1 if criterion in MINIMISED else 1
    assert (np.diff(values) * sign >= -1e-9 * abs(np.array(values[:-1]))).all()
    assert bool(values) == (method != "bisecting")
    assert model.stop_reason_ == ("tree" if method == "bisecting" else "certified")


@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_count_as_repeated_rows(criterion: str) -> None:
    X, w = documents(80, 8), np.random.default_rng(0).integers(0, 4, 80)
    w[:4] = 3
    model = CriterionKMeans(4, criterion=criterion, random_state=0).fit(X, sample_weight=w)
    repeated = reference.value(reference.unit(X.repeat(w, axis=0)), model.labels_.repeat(w), criterion)
    assert model.objective_ == pytest.approx(repeated, rel=1e-9)
    same = metrics.document_criterion(X, model.labels_, criterion, sample_weight=w)
    assert model.objective_ == pytest.approx(same, rel=1e-9)
    weightless = model.labels_[w == 0]
    np.testing.assert_array_equal(weightless, model.predict(X)[w == 0])


def test_i1_is_the_objective_of_boost_kmeans() -> None:
    X = documents(200, 10)
    model = CriterionKMeans(4, criterion="i1", n_init=3, random_state=0).fit(X)
    other = BoostKMeans(4, metric="cosine", init=model.labels_, tol=0, random_state=0).fit(X)
    np.testing.assert_array_equal(other.labels_, model.labels_)  # already a local optimum
    assert len(X) - model.objective_ == pytest.approx(other.inertia_, rel=1e-9)


def test_more_runs_are_never_worse() -> None:
    X = documents(300, 30, 8)
    for criterion in ("i2", "e1"):
        one, four = (
            CriterionKMeans(8, criterion=criterion, method="k-way", n_init=n, random_state=5).fit(X)
            for n in (1, 4)
        )
        sign = -1 if criterion in MINIMISED else 1
        assert sign * four.objective_ >= sign * one.objective_


def test_best_splits_are_at_least_as_good_as_any_first_split() -> None:
    # Cluster 0 is large and tight, the others are small and far apart.
    rng = np.random.default_rng(0)
    X = np.zeros((130, 6))
    X[:100, 0] = 1
    X[:100, 1] = 0.01 * rng.random(100)
    X[np.arange(100, 130), rng.integers(2, 6, 30)] = 1
    largest, best = (
        CriterionKMeans(4, method="bisecting", split=split, random_state=0).fit(X)
        for split in ("largest", "best")
    )
    assert best.objective_ > largest.objective_ + 1


def test_rows_of_zeros_do_not_count() -> None:
    X = documents(50)
    with_zeros = np.vstack([X[:20], np.zeros((3, X.shape[1])), X[20:]])
    w = np.ones(53)
    w[20:23] = 0
    model = CriterionKMeans(3, criterion="g1", random_state=0).fit(with_zeros)
    other = CriterionKMeans(3, criterion="g1", random_state=0).fit(with_zeros, sample_weight=w)
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.labels_[20:23], model.predict(with_zeros)[20:23])
    assert model.cluster_sizes_.sum() == 53
    with pytest.raises(ParameterConflictError, match=r"rows that are not zero \(50\)"):
        CriterionKMeans(51).fit(with_zeros)


@pytest.mark.parametrize("criterion", ["e1", "g1", "h1", "h2"])
def test_negative_values_are_refused_where_the_criterion_needs_it(criterion: str) -> None:
    X = documents()
    X[3, 4] = -1
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=f"Negative values in data .* criterion='{criterion}'"):
            CriterionKMeans(3, criterion=criterion).fit(rows)
    assert CriterionKMeans(3, criterion="i2", random_state=0).fit(X).converged_


@pytest.mark.parametrize(
    ("name", "value"),
    [("criterion", "i3"), ("method", "direct"), ("split", "large"), ("n_init", 0), ("tol", -1.0),
     ("max_iter", 0), ("max_time", 0), ("callback", 3), ("n_threads", 0), ("n_clusters", 0)],
)  # fmt: skip
def test_invalid_parameters_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        CriterionKMeans(**{name: value}).fit(documents())


@pytest.mark.parametrize("method", METHODS)
def test_callback_and_deadline_end_the_fit_with_all_clusters(method: str) -> None:
    X = documents(200, 20)
    stopped = CriterionKMeans(7, method=method, callback=lambda _: True, n_init=3, random_state=0).fit(X)
    assert stopped.stop_reason_ == "callback"
    late = CriterionKMeans(7, method=method, max_time=1e-9, n_init=3, random_state=0).fit(X)
    assert late.stop_reason_ == "max_time"
    for model in (stopped, late):
        assert (model.cluster_sizes_ > 0).all()
        assert not model.converged_
        value = reference.value(reference.unit(X), model.labels_, "i2")
        assert model.objective_ == pytest.approx(value, rel=1e-9)


def test_tolerance_and_max_iter_end_the_sweeps() -> None:
    X = documents(500, 30, 8)
    settings: dict[str, Any] = {"method": "k-way", "random_state": 0}
    assert CriterionKMeans(8, max_iter=1, **settings).fit(X).stop_reason_ == "max_iter"
    coarse = CriterionKMeans(8, tol=0.5, **settings).fit(X)
    assert (coarse.stop_reason_, coarse.n_iter_) == ("tol", 1)


def test_interrupt_keeps_the_best_run_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep, n_sweeps = TermPartition.sweep, 0

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        nonlocal n_sweeps
        n_sweeps += 1
        if n_sweeps == 3:
            raise KeyboardInterrupt
        return sweep(*args, **kwargs)

    monkeypatch.setattr(TermPartition, "sweep", interrupted)
    X = documents(500, 30, 8)
    model = CriterionKMeans(8, method="k-way", random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == 2
    value = reference.value(reference.unit(X), model.labels_, "i2")
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    n_sweeps, tree = 0, CriterionKMeans(8, method="bisecting", random_state=0)
    with pytest.raises(KeyboardInterrupt):
        tree.fit(X)
    assert not hasattr(tree, "labels_")  # a part of a tree has too few clusters


def test_files_and_pickles_restore_the_model(tmp_path: Path) -> None:
    X = sparse.csr_array(documents())
    model = CriterionKMeans(4, criterion="h2", random_state=0).fit(X)
    model.save(tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert isinstance(other, CriterionKMeans)
        assert other.get_params() == model.get_params()
        assert other.history_ == model.history_
        assert (other.objective_, other.converged_) == (model.objective_, True)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


def test_views_show_the_criterion() -> None:
    model = CriterionKMeans(4, criterion="h1", random_state=0).fit(documents())
    html = model._repr_html_inner()
    assert "criterion h1" in html
    assert "no single move improves the criterion" in html
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    assert model.plot_history(axes).get_ylabel() == "criterion h1"
    assert len(axes.collections) == 2  # splits and sweeps


def test_progress_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    CriterionKMeans(4, n_init=2, random_state=0, verbose=1).fit(documents())
    assert "run 1 of 2, tree: 4 of 4 clusters, i2" in caplog.text
    assert "run 2 of 2, sweep 1: i2" in caplog.text
    assert "CriterionKMeans: k=4, i2" in caplog.text
