"""Annealing: sweeps that accept moves which cost a little, and fits that begin with such sweeps."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord, _core
from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.plan import Annealing, Plan
from boostkmeans._engine.run import Run
from boostkmeans._engine.schedule import Phase, Schedule
from boostkmeans._engine.stopping import StoppingCriteria, StopReason
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.problem import Problem
from conftest import blobs
from factories import make_partition, make_problem

X = np.random.default_rng(0).normal(size=(1500, 6))
STOPS = (StopReason.CALLBACK, StopReason.MAX_ITER, StopReason.MAX_TIME)


def inertia_of(model: BoostKMeans, X: NDArray[Any]) -> float:
    return reference.inertia(X, model.labels_)


class TestSweep:
    def start(self, n: int, d: int, k: int, w: NDArray[np.float64] | None) -> tuple[Rows, Partition]:
        """Return normal rows in a random partition."""
        rng = np.random.default_rng(1)
        rows = Rows.in_own_frame(rng.normal(size=(n, d)), "euclidean", 1)
        return rows, make_partition(rng.permutation(np.arange(n) % k), k, rows, w)

    def sweep(self, rows: Rows, p: Partition, w: Any, order: Any, block: int, temperature: float) -> Any:
        visit = _core.FullVisit(order=order, run_rows=1, block_rows=block)
        return _core.sweep(rows.core, w, p.view(), visit, _core.SweepOptions(temperature=temperature))

    @pytest.mark.parametrize(("n", "d", "k"), [(60, 2, 3), (300, 17, 9), (400, 5, 40)])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("temperature", [0.05, 0.4])
    def test_moves_equal_those_of_the_reference(
        self, isa: str, n: int, d: int, k: int, weighted: bool, temperature: float
    ) -> None:
        w = np.random.default_rng(2).uniform(0.1, 1, n) if weighted else None
        rows, partition = self.start(n, d, k, w)
        before, _ = partition.recompute(rows, w, 1)
        labels = partition.labels.copy()
        order = np.random.default_rng(3).permutation(n)
        found = self.sweep(rows, partition, w, order, 16, temperature)
        expected, expected_moves = reference.sweep(
            rows.take(np.arange(n)), labels, k, order.tolist(), 16, w, temperature=temperature
        )
        np.testing.assert_array_equal(partition.labels, expected)
        assert found.moves == expected_moves
        after, drift = partition.recompute(rows, w, 1)
        assert drift < 1e-12
        assert found.gain == pytest.approx(before - after, rel=1e-9, abs=1e-12 * before)

    def test_annealing_leaves_a_local_optimum(self) -> None:
        model = BoostKMeans(20, tol=0, annealing=0, repair=False, random_state=0).fit(X)
        assert model.converged_
        rows = Rows.in_own_frame(X, "euclidean", 1)
        partition = make_partition(model.labels_, 20, rows)
        assert self.sweep(rows, partition, None, np.arange(len(X)), 64, 0.0).moves == 0
        found = self.sweep(rows, partition, None, np.arange(len(X)), 64, 0.1)
        assert found.moves > 0 > found.gain

    def test_sweep_with_all_other_clusters_as_candidates_equals_a_full_sweep(self) -> None:
        n, d, k = 300, 6, 12
        rows, ours = self.start(n, d, k, None)
        _, full = self.start(n, d, k, None)
        lists = np.array([[c for c in range(k) if c != r] for r in range(k)], dtype=np.int32)
        order = np.arange(k, dtype=np.int32)
        members = np.concatenate([np.flatnonzero(full.labels == c) for c in order])
        self.sweep(rows, full, None, members, n, 0.1)
        visit = _core.CandidateVisit(
            lists=lists, changed=np.full(k, -1), visited=np.full(k, -1), clock=0, order=order,
            block_rows=n,
        )  # fmt: skip
        _core.sweep(rows.core, None, ours.view(), visit, _core.SweepOptions(temperature=0.1))
        np.testing.assert_array_equal(ours.labels, full.labels)


def test_temperature_falls_linearly() -> None:
    schedule = Annealing(0.2, 4)
    assert [schedule.at(i) for i in range(4)] == pytest.approx([0.2, 0.15, 0.1, 0.05])


def test_temperature_is_lower_if_clusters_explain_little() -> None:
    schedule = Annealing(0.12, 4, adapts=True)
    assert schedule.at(0, 1.0) == schedule.at(0, 0.25) == 0.12
    assert schedule.at(0, 0.1) == pytest.approx(0.02)
    assert schedule.at(2, 0.1) == pytest.approx(0.01)
    assert schedule.at(0, 0.0) == 0
    assert Annealing(0.12, 4).at(0, 0.1) == 0.12  # A temperature of the user is not adapted.


@pytest.mark.parametrize("weighted", [False, True])
def test_explained_share_equals_the_reference(weighted: bool) -> None:
    w = np.random.default_rng(0).uniform(0.1, 2, len(X)) if weighted else None
    labels = (np.arange(len(X)) * 7 % 5).astype(np.int32)
    rows, weights = Rows.in_own_frame(X + 100, "euclidean", 1), RowWeights.of(w, len(X))
    run = Run.start(Problem(rows, weights, 5, 1), Plan(), labels, np.random.RandomState(0), began=0.0)
    whole = reference.inertia(X, np.zeros_like(labels), w)
    assert run.explained_share == pytest.approx(1 - reference.inertia(X, labels, w) / whole)


def test_few_rows_move_if_all_centres_are_about_equally_far() -> None:
    """A fixed temperature would move many rows of such data in each sweep."""
    noise = np.random.default_rng(0).normal(size=(1000, 300))
    model = BoostKMeans(20, random_state=0).fit(noise)
    annealed = [r for r in model.history_ if r.temperature > 0]
    assert len(annealed) >= 5
    assert all(r.temperature < 0.06 for r in annealed)
    fixed = BoostKMeans(20, random_state=0, annealing=0.12).fit(noise)
    assert max(r.moves for r in fixed.history_[1:]) > 2 * max(r.moves for r in annealed[2:])


class TestFit:
    def test_history_contains_the_temperatures(self) -> None:
        model = BoostKMeans(20, annealing=(0.1, 5), repair=False, random_state=0).fit(X)
        temperatures = [r.temperature for r in model.history_]
        assert temperatures[:5] == pytest.approx([0.1, 0.08, 0.06, 0.04, 0.02])
        assert not any(temperatures[5:])
        assert len(temperatures) > 5

    def test_annealed_fits_end_lower_than_plain_sweeps(self, sift: NDArray[np.uint8]) -> None:
        def mean(annealing: Any) -> float:
            common: dict[str, Any] = {"annealing": annealing, "repair": False, "tol": 0}
            fits = [BoostKMeans(60, random_state=s, **common).fit(sift[:2000]) for s in range(3)]
            return float(np.mean([fit.inertia_ for fit in fits]))

        plain, annealed = mean(0), mean((0.12, 30))
        assert annealed < 0.996 * plain

    @pytest.mark.parametrize("n_candidates", [None, 10])
    @pytest.mark.parametrize("moves", ["best", "first"])
    def test_annealed_fit_ends_certified(self, n_candidates: int | None, moves: str) -> None:
        model = BoostKMeans(
            25, annealing=(0.3, 5), n_candidates=n_candidates, moves=moves, tol=0, max_iter=1000,
            random_state=0,
        ).fit(X[:300])  # fmt: skip
        assert model.converged_
        assert reference.improving_move(X[:300], model.labels_, 25) is None

    def test_returns_the_best_partition_if_annealing_ends_higher(self) -> None:
        start = BoostKMeans(20, tol=0, annealing=0, repair=False, random_state=0).fit(X)
        model = BoostKMeans(20, init=start.labels_, annealing=(0.9, 4), max_iter=4).fit(X)
        assert model.stop_reason_ == "max_iter"
        assert model.inertia_ <= start.inertia_ * (1 + 1e-12)
        assert inertia_of(model, X) == pytest.approx(model.inertia_)

    def test_continues_from_the_best_partition_if_the_descent_ends_higher(self) -> None:
        Y, _ = blobs(600, 2, 12, spread=50.0)
        best = BoostKMeans(12, tol=0, random_state=0).fit(Y)
        model = BoostKMeans(
            12, init=best.labels_, annealing=(0.99, 3), repair=False, tol=0, random_state=0
        ).fit(Y)
        assert model.inertia_ <= best.inertia_ * (1 + 1e-12)
        assert model.converged_
        assert inertia_of(model, Y) == pytest.approx(model.inertia_)

    def test_lists_are_rebuilt_after_returning_to_the_best_partition(self) -> None:
        start = np.random.default_rng(0).permutation(np.arange(1500) % 50)
        gains = []
        for seed in range(5):
            model = BoostKMeans(
                50, init=start, n_candidates=4, annealing=(0.9, 5), repair=0, random_state=seed
            ).fit(X)
            gains.append(model.inertia_ / reference.inertia(X, start.astype(np.int32)))
        assert max(gains) < 0.8

    def test_max_iter_and_callback_end_an_annealed_fit(self) -> None:
        for seed in range(20):
            Y = np.random.default_rng(seed).normal(size=(40, 2))
            for max_iter in (1, 2, 3):
                model = BoostKMeans(4, max_iter=max_iter, annealing=0.5, tol=0, random_state=seed).fit(Y)
                assert model.n_iter_ <= max_iter
            seen: list[SweepRecord] = []

            def third(record: SweepRecord, seen: list[SweepRecord] = seen) -> bool:
                seen.append(record)
                return len(seen) >= 3

            BoostKMeans(4, callback=third, tol=0, random_state=seed).fit(Y)
            assert len(seen) <= 3

    @pytest.mark.parametrize("stop", [None, *STOPS])
    def test_nothing_follows_a_certificate_if_the_run_is_stopped_too(
        self, stop: StopReason | None
    ) -> None:
        """Otherwise a repair follows, which improves this partition."""
        problem = make_problem(Rows.in_own_frame(X, "euclidean", 1), 5)
        labels = (np.arange(len(X)) % 5).astype(np.int32)
        run = Run.start(problem, Plan(repair_rounds=1), labels, np.random.RandomState(0), began=0.0)
        schedule = Schedule.for_run(run, StoppingCriteria(tol=0, max_iter=100))
        schedule.phase, schedule.end_reason = Phase.REST, StopReason.CERTIFIED
        if stop is StopReason.MAX_ITER:
            run.n_sweeps = 100
        else:
            schedule._stopped = stop
        schedule.execute()
        assert [record.kind for record in run.history[:1]] == (["repair"] if stop is None else [])
        assert run.outcome is not None
        assert run.outcome.reason is StopReason.CERTIFIED

    @pytest.mark.parametrize("stop", ["callback", "interrupt", "time"])
    def test_returns_the_best_partition_however_it_is_stopped(
        self, stop: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start = BoostKMeans(20, tol=0, annealing=0, repair=False, random_state=0).fit(X)

        def callback(record: SweepRecord) -> bool:
            if len(seen) == 3 and stop == "interrupt":
                raise KeyboardInterrupt
            if len(seen) == 3 and stop == "time":
                monkeypatch.setattr("boostkmeans._engine.schedule.time.perf_counter", lambda: np.inf)
            seen.append(record)
            return stop == "callback" and len(seen) == 3

        seen: list[SweepRecord] = []
        model = BoostKMeans(20, init=start.labels_, annealing=(0.9, 50), callback=callback, max_time=1e6)
        try:
            model.fit(X)
        except KeyboardInterrupt:
            assert stop == "interrupt"
        expected = {"callback": "callback", "interrupt": "interrupted", "time": "max_time"}
        assert model.stop_reason_ == expected[stop]
        assert model.inertia_ <= start.inertia_ * (1 + 1e-12)
        assert inertia_of(model, X) == pytest.approx(model.inertia_)
        np.testing.assert_allclose(
            model.cluster_centers_, [X[model.labels_ == r].mean(axis=0) for r in range(20)]
        )

    def test_inertias_of_the_history_never_rise(self) -> None:
        model = BoostKMeans(30, annealing=(0.5, 10), random_state=0).fit(X)
        inertias = [r.inertia for r in model.history_]
        assert all(a >= b for a, b in itertools.pairwise(inertias))
        assert model.inertia_ <= inertias[-1] * (1 + 1e-12)

    def test_annealing_ends_early_for_separated_clusters(self) -> None:
        Y, _ = blobs(2000, 4, 10, spread=50.0)
        model = BoostKMeans(10, annealing=(0.1, 50), random_state=0).fit(Y)
        assert sum(r.temperature > 0 for r in model.history_) <= 4

    def test_labels_do_not_depend_on_the_number_of_threads(self) -> None:
        one, two, three = (
            BoostKMeans(40, quality="best", random_state=3, n_threads=t).fit(X) for t in (1, 2, 3)
        )
        np.testing.assert_array_equal(one.labels_, two.labels_)
        np.testing.assert_array_equal(one.labels_, three.labels_)
        assert [r.inertia for r in one.history_] == [r.inertia for r in two.history_]

    def test_refinement_of_a_tree_is_annealed(self) -> None:
        parameters: dict[str, Any] = {"refine": True, "random_state": 0}
        model = BisectingBoostKMeans(30, annealing=(0.1, 7), **parameters).fit(X)
        assert sum(r.temperature > 0 for r in model.history_) == 7
        assert not any(r.temperature for r in BisectingBoostKMeans(30).fit(X).history_)

    @pytest.mark.parametrize(
        "annealing", ["hot", -0.1, 1.0, (0.1,), (0.1, 0), (1.5, 3), None, [0.1, 3], (0.1, 101)]
    )
    def test_rejects_invalid_values(self, annealing: Any) -> None:
        with pytest.raises(ValueError, match="annealing"):
            BoostKMeans(3, annealing=annealing).fit(X)
