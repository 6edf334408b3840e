"""Few clusters with many rows: row bounds, the estimate of the remaining improvement, extrapolation."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans._data.rows import Rows
from boostkmeans._engine import few_clusters, small_fit
from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint
from boostkmeans._engine.few_clusters import (
    MAX_SWEEPS_BETWEEN,
    SWEEPS_BETWEEN,
    Convergence,
    Extrapolation,
    has_few_clusters,
)
from boostkmeans._engine.plan import Plan
from boostkmeans._engine.run import Run
from boostkmeans._steps.row_bounds import RowBounds
from boostkmeans._steps.size_limits.limits import Limits
from boostkmeans._storage.state import SavedState, join_arrays, split_arrays
from factories import make_problem

X = np.random.default_rng(0).normal(size=(12_000, 6)).astype(np.float32)
K = 5


@pytest.fixture
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apply the rules to a few thousand rows, which the core would otherwise fit in a single call."""
    monkeypatch.setattr(few_clusters, "MIN_ROWS", 2000)
    monkeypatch.setattr(small_fit, "MAX_WORK", 0)


small_is_large = pytest.mark.usefixtures("_small_is_large")


def fit(**parameters: Any) -> BoostKMeans:
    return BoostKMeans(K, **{"random_state": 0, "max_iter": 400, **parameters}).fit(X)


def result_of(model: Any) -> tuple[Any, ...]:
    records = [(r.kind, r.moves, r.inertia, r.note) for r in model.history_]
    return model.labels_.tobytes(), model.cluster_centers_.tobytes(), model.stop_reason_, records


def restored(state: dict[str, Any]) -> SavedState:
    return SavedState.of("file", "state", join_arrays(*split_arrays(state)))


def test_where_the_rules_apply() -> None:
    rows = Rows.in_own_frame(np.zeros((50_000, 1), dtype=np.float32), "euclidean", 1)
    assert has_few_clusters(make_problem(rows, 24))
    assert not has_few_clusters(make_problem(rows, 25))  # fewer than 2,048 rows per cluster
    assert not has_few_clusters(make_problem(rows, 1))
    assert not has_few_clusters(make_problem(rows, 10, limits=Limits.of_all(10, 1.0, 30_000.0)))
    fewer = Rows.in_own_frame(np.zeros((49_999, 1), dtype=np.float32), "euclidean", 1)
    assert not has_few_clusters(make_problem(fewer, 10))


def test_estimate_is_the_sum_of_the_series() -> None:
    convergence = Convergence()
    gains = [0.6**i for i in range(40)]
    for i, gain in enumerate(gains[:12]):
        convergence.add(gain, worthwhile=0.0)
        if i > 0:
            assert convergence.remaining == pytest.approx(sum(gains[i + 1 :]), rel=1e-4)
    assert convergence.n_low == 0
    convergence.add(gains[12], worthwhile=1.0)
    convergence.add(gains[13], worthwhile=1.0)
    assert convergence.n_low == 2
    assert Convergence.restore(restored(convergence.state())) == convergence


def test_estimate_is_high_while_gains_do_not_fall() -> None:
    convergence = Convergence()
    for gain in (1.0, 1.0, 1.2):
        convergence.add(gain, worthwhile=10.0)
        assert convergence.remaining == pytest.approx(19 * gain)
    convergence.disturb()
    for n_low, gain in ((-1, 0.1), (0, 0.01), (1, 0.001), (2, 0.0001)):
        convergence.add(gain, worthwhile=10.0)
        assert convergence.n_low == n_low


def test_extrapolation_continues_a_movement() -> None:
    found = Extrapolation()
    for t in range(SWEEPS_BETWEEN):
        assert not found.is_due
        found.add(np.full((2, 3), float(t)))
    assert found.is_due
    np.testing.assert_array_equal(found.centres(), np.full((2, 3), 3.0 + 2.0 * 2.0))
    again = Extrapolation.restore(restored(found.state()), 2, 3)
    np.testing.assert_array_equal(again.centres(), found.centres())
    found.account(accepted=True)
    assert (found.factor, found.trail, found.is_due) == (4.0, [], False)
    for _ in range(9):
        found.account(accepted=False)
    assert (found.factor, found.interval) == (4.0 / 2**9, MAX_SWEEPS_BETWEEN)


def test_run_accepts_only_better_centres() -> None:
    problem = make_problem(Rows.in_own_frame(X, "euclidean", 1), K)
    labels = np.random.default_rng(1).integers(K, size=len(X)).astype(np.int32)
    run = Run.start(problem, Plan(), labels, np.random.RandomState(0), began=0.0)
    run.bounds = RowBounds.for_partition(run.partition)
    run.bounds.margins[:] = 1.0
    before, partition = run.inertia, run.partition
    assert not run.extrapolate(np.full((K, 6), 0.5) + np.arange(K)[:, None] * 1e-6)
    assert run.partition is partition
    assert run.history == []
    assert run.extrapolate(problem.rows.frame.enter(X[:K].astype(np.float64)))
    moved = run.partition.labels != labels
    assert run.inertia < before
    assert run.history[-1].kind == "extrapolation"
    assert run.history[-1].moves == moved.sum()
    np.testing.assert_array_equal(np.isneginf(run.bounds.margins), moved)
    run.recompute()
    assert run.inertia < before


@small_is_large
def test_slow_fits_end_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    new = fit()
    kinds = [record.kind for record in new.history_]
    inertias = [record.inertia for record in new.history_]
    assert "extrapolation" in kinds
    assert inertias == sorted(inertias, reverse=True)
    skipped = [r.evaluations for r in new.history_ if r.kind == "sweep"]
    assert min(skipped) < 0.5 * len(X) * K
    monkeypatch.setattr(few_clusters, "MAX_CLUSTERS", 0)
    old = fit()
    assert new.inertia_ < old.inertia_ * (1 - 1e-4)


@small_is_large
@pytest.mark.parametrize("parameters", [{}, {"tol": 0}, {"max_iter": 23}])
def test_threads_do_not_matter(parameters: dict[str, Any]) -> None:
    expected = result_of(fit(n_threads=1, **parameters))
    assert result_of(fit(n_threads=3, verbose=0, **parameters)) == expected


@pytest.mark.slow
@small_is_large
@pytest.mark.parametrize("weighted", [False, True])
def test_certificate(weighted: bool) -> None:
    weights = np.random.default_rng(2).integers(0, 4, len(X)).astype(np.float64) if weighted else None
    model = BoostKMeans(K, tol=0, max_iter=1000, random_state=1).fit(X, sample_weight=weights)
    assert model.stop_reason_ == "certified"
    last = model.history_[-1]
    assert (last.kind, last.moves, last.evaluations) == ("certify", 0, len(X) * K)
    assert reference.improving_move(X, model.labels_, K, weights) is None


@small_is_large
def test_refinement_of_a_tree() -> None:
    model = BisectingBoostKMeans(K, refine=True, random_state=0, max_iter=400).fit(X)
    assert "extrapolation" in [record.kind for record in model.history_]


@small_is_large
def test_callback_stops_after_an_extrapolation() -> None:
    model = fit(callback=lambda record: record.kind == "extrapolation")
    assert model.stop_reason_ == "callback"
    assert model.history_[-1].kind == "extrapolation"


@pytest.mark.slow
@small_is_large
def test_resumes_from_every_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MAX_TIME_SHARE", 1e12)
    path = tmp_path / "state"
    copies: list[Path] = []
    write = Checkpoint._write

    def write_and_copy(self: Checkpoint, state: Any) -> None:
        write(self, state)
        copies.append(Path(shutil.copy(path, tmp_path / f"{len(copies)}.copy")))

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_write", write_and_copy)
        expected = result_of(fit(checkpoint=path))
    assert result_of(fit()) == expected
    kinds = [record[0] for record in expected[3]]
    around = kinds.index("extrapolation")
    for number in {0, around - 2, around - 1, around, around + 1, around + 4, len(copies) - 2}:
        shutil.copy(copies[number], path)
        assert result_of(fit(checkpoint=path)) == expected, number


@pytest.mark.slow
def test_large_sample_is_repaired_with_all_rows() -> None:
    """A sample of a sixth of the rows starts the fit; all rows are repaired afterwards."""
    rng = np.random.default_rng(3)
    rows = (rng.normal(size=(50_000, 3)) + 8 * rng.integers(8, size=(50_000, 1))).astype(np.float32)
    model = BoostKMeans(8, random_state=0).fit(rows)
    assert model.history_[0].kind == "start"
    assert model.history_[0].note.startswith("sample of 8192 rows")
    assert model.inertia_ / len(rows) < 3.1
