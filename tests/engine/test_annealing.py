"""Annealing: sweeps that also take moves which cost a little, and what a fit makes of them."""

import itertools
from typing import Any

import numpy as np
import pytest
from boostkmeans._engine.annealing import Annealing
from numpy.typing import NDArray

import reference
from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord, _core
from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.run import Fit
from boostkmeans._engine.schedule import Course, StopRules
from boostkmeans._steps.partition import Partition
from conftest import blobs
from factories import blank_partition

X = np.random.default_rng(0).normal(size=(1500, 6))


def inertia_of(model: BoostKMeans, X: NDArray[Any]) -> float:
    return reference.inertia(X, model.labels_)


class TestSweep:
    def start(self, n: int, d: int, k: int, w: NDArray[np.float64] | None) -> tuple[Rows, Partition]:
        rng = np.random.default_rng(1)
        rows = Rows.in_own_frame(rng.normal(size=(n, d)), "euclidean", 1)
        partition = blank_partition(rng.permutation(np.arange(n) % k), k, d)
        partition.recompute(rows, w, 1)
        return rows, partition

    def sweep(self, rows: Rows, p: Partition, w: Any, order: Any, block: int, temperature: float) -> Any:
        visit = _core.FullVisit(order=order, run_rows=1, block_rows=block)
        return _core.sweep(rows.core, w, p.view(), visit, _core.SweepOptions(temperature=temperature))

    @pytest.mark.parametrize(("n", "d", "k"), [(60, 2, 3), (300, 17, 9), (400, 5, 40)])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("temperature", [0.05, 0.4])
    def test_equals_the_reference(
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

    def test_a_local_optimum_is_left(self) -> None:
        model = BoostKMeans(20, tol=0, annealing=0, repair=False, random_state=0).fit(X)
        assert model.converged_
        rows = Rows.in_own_frame(X, "euclidean", 1)
        partition = blank_partition(model.labels_, 20, 6)
        partition.recompute(rows, None, 1)
        assert self.sweep(rows, partition, None, np.arange(len(X)), 64, 0.0).moves == 0
        found = self.sweep(rows, partition, None, np.arange(len(X)), 64, 0.1)
        assert found.moves > 0 > found.gain

    def test_candidates_that_are_all_others_do_the_same(self) -> None:
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


def test_the_temperature_falls_linearly() -> None:
    schedule = Annealing(0.2, 4)
    assert [schedule.at(i) for i in range(4)] == pytest.approx([0.2, 0.15, 0.1, 0.05])


def test_it_is_cooler_where_clusters_explain_little() -> None:
    schedule = Annealing(0.12, 4, adapts=True)
    assert schedule.at(0, 1.0) == schedule.at(0, 0.25) == 0.12
    assert schedule.at(0, 0.1) == pytest.approx(0.02)
    assert schedule.at(2, 0.1) == pytest.approx(0.01)
    assert schedule.at(0, 0.0) == 0
    assert Annealing(0.12, 4).at(0, 0.1) == 0.12  # as the user said


@pytest.mark.parametrize("weighted", [False, True])
def test_what_clusters_explain(weighted: bool) -> None:
    w = np.random.default_rng(0).uniform(0.1, 2, len(X)) if weighted else None
    labels = (np.arange(len(X)) * 7 % 5).astype(np.int32)
    rows, weights = Rows.in_own_frame(X + 100, "euclidean", 1), RowWeights.of(w, len(X))
    partition = blank_partition(labels, 5, X.shape[1])
    fit = Fit(rows, weights, partition, np.random.RandomState(0), 1, "best", 0.0)
    fit.begin()
    whole = reference.inertia(X, np.zeros_like(labels), w)
    assert fit.explained == pytest.approx(1 - reference.inertia(X, labels, w) / whole)


def test_documents_do_not_boil() -> None:
    """Rows that are about as far from all centres: few of them move at a time, all the same."""
    noise = np.random.default_rng(0).normal(size=(1000, 300))
    model = BoostKMeans(20, random_state=0).fit(noise)
    annealed = [r for r in model.history_ if r.temperature > 0]
    assert len(annealed) >= 5
    assert all(r.temperature < 0.06 for r in annealed)
    hot = BoostKMeans(20, random_state=0, annealing=0.12).fit(noise)
    assert max(r.moves for r in hot.history_[1:]) > 2 * max(r.moves for r in annealed[2:])


class TestFit:
    def test_the_records_tell_the_temperature(self) -> None:
        model = BoostKMeans(20, annealing=(0.1, 5), repair=False, random_state=0).fit(X)
        temperatures = [r.temperature for r in model.history_]
        assert temperatures[:5] == pytest.approx([0.1, 0.08, 0.06, 0.04, 0.02])
        assert not any(temperatures[5:])
        assert len(temperatures) > 5

    def test_it_ends_below_plain_sweeps(self, sift: NDArray[np.uint8]) -> None:
        def mean(annealing: Any) -> float:
            common: dict[str, Any] = {"annealing": annealing, "repair": False, "tol": 0}
            fits = [BoostKMeans(60, random_state=s, **common).fit(sift[:2000]) for s in range(3)]
            return float(np.mean([fit.inertia_ for fit in fits]))

        plain, annealed = mean(0), mean((0.12, 30))
        assert annealed < 0.996 * plain

    @pytest.mark.parametrize("n_candidates", [None, 10])
    @pytest.mark.parametrize("moves", ["best", "first"])
    def test_the_end_is_certified(self, n_candidates: int | None, moves: str) -> None:
        model = BoostKMeans(
            25, annealing=(0.3, 5), n_candidates=n_candidates, moves=moves, tol=0, max_iter=1000,
            random_state=0,
        ).fit(X[:300])  # fmt: skip
        assert model.converged_
        assert reference.improving_move(X[:300], model.labels_, 25) is None

    def test_annealing_that_goes_up_is_not_what_is_returned(self) -> None:
        start = BoostKMeans(20, tol=0, annealing=0, repair=False, random_state=0).fit(X)
        model = BoostKMeans(20, init=start.labels_, annealing=(0.9, 4), max_iter=4).fit(X)
        assert model.stop_reason_ == "max_iter"
        assert model.inertia_ <= start.inertia_ * (1 + 1e-12)
        assert inertia_of(model, X) == pytest.approx(model.inertia_)

    def test_if_the_descent_ends_above_it_goes_on_from_the_best(self) -> None:
        Y, _ = blobs(600, 2, 12, spread=50.0)
        best = BoostKMeans(12, tol=0, random_state=0).fit(Y)
        model = BoostKMeans(
            12, init=best.labels_, annealing=(0.99, 3), repair=False, tol=0, random_state=0
        ).fit(Y)
        assert model.inertia_ <= best.inertia_ * (1 + 1e-12)
        assert model.converged_
        assert inertia_of(model, Y) == pytest.approx(model.inertia_)

    def test_candidates_look_again_after_going_back(self) -> None:
        start = np.random.default_rng(0).permutation(np.arange(1500) % 50)
        gains = []
        for seed in range(5):
            model = BoostKMeans(
                50, init=start, n_candidates=4, annealing=(0.9, 5), repair=0, random_state=seed
            ).fit(X)
            gains.append(model.inertia_ / reference.inertia(X, start.astype(np.int32)))
        assert max(gains) < 0.8

    def test_a_rule_that_was_met_ends_it(self) -> None:
        for seed in range(20):
            Y = np.random.default_rng(seed).normal(size=(40, 2))
            for most in (1, 2, 3):
                model = BoostKMeans(4, max_iter=most, annealing=0.5, tol=0, random_state=seed).fit(Y)
                assert model.n_iter_ <= most
            seen: list[SweepRecord] = []

            def third(record: SweepRecord, seen: list[SweepRecord] = seen) -> bool:
                seen.append(record)
                return len(seen) >= 3

            BoostKMeans(4, callback=third, tol=0, random_state=seed).fit(Y)
            assert len(seen) <= 3

    @pytest.mark.parametrize("imposed", ["", "callback", "max_iter", "max_time"])
    def test_nothing_follows_a_certificate_if_a_rule_was_met_too(self, imposed: str) -> None:
        rows = Rows.in_own_frame(X, "euclidean", 1)
        partition = blank_partition(np.arange(1500) % 5, 5, 6)
        fit = Fit(
            rows, RowWeights.of(None, 1500), partition, np.random.RandomState(0), n_threads=1,
            moves="best", began=0.0,
        )  # fmt: skip
        course = Course(fit, StopRules(tol=0, max_iter=100))
        fit.stop_reason, course._imposed = "certified", imposed
        assert course._may_go_on == (imposed == "")

    @pytest.mark.parametrize("stop", ["callback", "interrupt", "time"])
    def test_whatever_ends_it_the_best_is_returned(
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

    def test_the_history_falls(self) -> None:
        model = BoostKMeans(30, annealing=(0.5, 10), random_state=0).fit(X)
        inertias = [r.inertia for r in model.history_]
        assert all(a >= b for a, b in itertools.pairwise(inertias))
        assert model.inertia_ <= inertias[-1] * (1 + 1e-12)

    def test_data_without_borders_is_not_annealed_for_long(self) -> None:
        Y, _ = blobs(2000, 4, 10, spread=50.0)
        model = BoostKMeans(10, annealing=(0.1, 50), random_state=0).fit(Y)
        assert sum(r.temperature > 0 for r in model.history_) <= 4

    def test_threads_do_not_matter(self) -> None:
        one, two, three = (
            BoostKMeans(40, quality="best", random_state=3, n_threads=t).fit(X) for t in (1, 2, 3)
        )
        np.testing.assert_array_equal(one.labels_, two.labels_)
        np.testing.assert_array_equal(one.labels_, three.labels_)
        assert [r.inertia for r in one.history_] == [r.inertia for r in two.history_]

    def test_refinement_of_a_tree(self) -> None:
        parameters: dict[str, Any] = {"refine": True, "random_state": 0}
        model = BisectingBoostKMeans(30, annealing=(0.1, 7), **parameters).fit(X)
        assert sum(r.temperature > 0 for r in model.history_) == 7
        assert not any(r.temperature for r in BisectingBoostKMeans(30).fit(X).history_)

    @pytest.mark.parametrize(
        "annealing", ["hot", -0.1, 1.0, (0.1,), (0.1, 0), (1.5, 3), None, [0.1, 3], (0.1, 101)]
    )
    def test_other_values_are_refused(self, annealing: Any) -> None:
        with pytest.raises(ValueError, match="annealing"):
            BoostKMeans(3, annealing=annealing).fit(X)
