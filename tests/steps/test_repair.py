"""Repair: gains of splits, costs of merges, and fits that need them."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans._data.rows import Rows
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.repair import Repair, merge_costs
from boostkmeans._steps.size_limits.limits import Limits
from conftest import blobs, same_partition
from factories import blank_partition, make_problem

Floats = NDArray[np.float64]


def partition_of(
    X: Floats, labels: NDArray[Any], k: int, w: Floats | None = None
) -> tuple[Rows, Partition, float]:
    rows = Rows.in_own_frame(X, "euclidean", 1)
    partition = blank_partition(labels, k, X.shape[1])
    inertia, _ = partition.recompute(rows, w, 1)
    return rows, partition, inertia


def repair(
    rows: Rows,
    partition: Partition,
    w: Floats | None = None,
    limits: Limits | None = None,
    seed: int = 0,
) -> Repair:
    problem = make_problem(rows, partition.n_clusters, w, limits=limits)
    return Repair.plan(problem, partition, seed)


class TestRound:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_merge_costs_are_exact(self, weighted: bool) -> None:
        rng = np.random.default_rng(0)
        X, labels = rng.normal(size=(80, 3)), np.arange(80) % 5
        w = rng.uniform(0.1, 1, 80) if weighted else None
        _, partition, before = partition_of(X, labels, 5, w)
        for a, b in itertools.combinations(range(5), 2):
            pair = np.array([a]), np.array([b])
            cost = merge_costs(partition.composites, partition.weights, *pair, 1)[0]
            centres = partition.centres, np.ones(5)
            assert merge_costs(*centres, *pair, 1, partition.weights)[0] == pytest.approx(cost)
            merged = np.where(labels == b, a, labels)
            assert cost == pytest.approx(partition_of(X, merged, 5, w)[2] - before)

    @given(st.integers(0, 2**20), st.booleans(), st.integers(3, 12))
    def test_gains_of_swaps_are_exact(self, seed: int, weighted: bool, k: int) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(k, 120))
        X = rng.normal(size=(n, 2)) * rng.choice([1, 20], size=(n, 1))
        labels = rng.integers(0, k, n)
        w = rng.integers(0, 3, n).astype(float) if weighted else None
        if w is not None and not w.any():
            w[0] = 1.0
        rows, partition, before = partition_of(X, labels, k, w)
        old = partition.copy()
        round_ = repair(rows, partition, w, seed=seed)
        swaps = round_.improving_swaps(0.0)
        if swaps is None:
            return
        new = round_.apply(swaps, make_problem(rows, k, w))
        np.testing.assert_array_equal(partition.labels, old.labels)
        assert len(np.unique(swaps.touched)) == 3 * len(swaps)
        after = new.copy()
        inertia, drift = after.recompute(rows, w, 1)
        assert drift < 1e-12
        np.testing.assert_array_equal(new.counts, after.counts)
        assert before - inertia == pytest.approx(swaps.gain, rel=1e-9, abs=1e-10 * before)
        assert swaps.gain > 0

    def test_swap_computed_by_hand(self) -> None:
        """Two clusters share {0, 1}, and one has {100, 110}: merge the two and split the third."""
        X = np.array([[0.0], [1], [100], [110]])
        rows, partition, _ = partition_of(X, np.array([0, 1, 2, 2]), 3)
        round_ = repair(rows, partition)
        swaps = round_.improving_swaps(0.0)
        assert swaps is not None
        new = round_.apply(swaps, make_problem(rows, 3))
        assert same_partition(new.labels, np.array([0, 0, 1, 2]))
        unit = 4.0**rows.frame.exponent
        assert swaps.gain == pytest.approx((50 - 0.5) * unit)
        assert repair(rows, new).improving_swaps(0.0) is None

    def test_continues_if_the_cheapest_merge_undoes_the_split(self) -> None:
        rows, partition, _ = partition_of(np.zeros((8, 1)), np.arange(8) % 4, 4)
        merges = np.array([0, 2]), np.array([2, 3]), np.array([1.0, 20.0])
        gains = np.array([10.0, 9, -np.inf, -np.inf])
        round_ = replace(repair(rows, partition), gains=gains, merges=merges)
        swaps = round_.improving_swaps(0.0)
        assert swaps is not None
        assert swaps.split.tolist() == [1]
        assert swaps.gain == 8
        assert [(s.merged[0], s.freed[0], s.split[0], s.gain) for s in round_.trial_swaps(5)] == [
            (0, 2, 1, 8), (2, 3, 0, -10), (2, 3, 1, -11)
        ]  # fmt: skip
        assert len(round_.trial_swaps(2)) == 2

    def test_ignores_small_gains(self) -> None:
        X = np.array([[0.0], [1], [100], [110]])
        rows, partition, inertia = partition_of(X, np.array([0, 1, 2, 2]), 3)
        assert repair(rows, partition).improving_swaps(inertia) is None

    def test_empty_cluster_costs_no_merge(self) -> None:
        X = np.array([[0.0], [1], [100], [110], [111]])
        rows, partition, _ = partition_of(X, np.array([0, 0, 1, 1, 1]), 3)
        round_ = repair(rows, partition)
        swaps = round_.improving_swaps(0.0)
        assert swaps is not None
        assert sorted(round_.apply(swaps, make_problem(rows, 3)).counts) == [1, 2, 2]

    def test_does_not_split_equal_rows(self) -> None:
        X = np.zeros((12, 2))
        rows, partition, _ = partition_of(X, np.arange(12) % 4, 4)
        assert repair(rows, partition).improving_swaps(0.0) is None

    def test_swaps_respect_size_limits(self) -> None:
        X = np.array([[0.0], [0.1], [1], [1.1], [100], [110], [120]])
        labels = np.array([0, 0, 1, 1, 2, 2, 2])
        rows, partition, _ = partition_of(X, labels, 3)
        assert repair(rows, partition).improving_swaps(0.0) is not None
        assert (
            repair(rows, partition, limits=Limits.of_all(3, 0, 3)).improving_swaps(0.0) is None
        )  # Clusters 0 and 1 together have 4 rows.
        assert (
            repair(rows, partition, limits=Limits.of_all(3, 2, 9)).improving_swaps(0.0) is None
        )  # One half has a single row.

    def test_swaps_respect_limits_that_differ(self) -> None:
        """Clusters 0 and 1 are merged as cluster 0, and the second half of 2 becomes cluster 1."""
        X = np.array([[0.0], [0.1], [1], [1.1], [100], [101], [110], [111]])
        rows, partition, _ = partition_of(X, np.array([0, 0, 1, 1, 2, 2, 2, 2]), 3)
        zero, inf = np.zeros(3), np.inf
        for most, allowed in (([4.0, 2, 4], True), ([3, 2, 4], False), ([4, 1, 4], False)):
            found = repair(rows, partition, limits=Limits(zero, np.array(most)))
            assert (found.improving_swaps(0.0) is not None) == allowed
            assert bool(found.trial_swaps(1)) == allowed or allowed
        for least, allowed in (([4.0, 2, 2], True), ([0, 3, 0], False), ([0, 0, 3], False)):
            found = repair(rows, partition, limits=Limits(np.array(least), np.full(3, inf)))
            assert (found.improving_swaps(0.0) is not None) == allowed


class TestFit:
    @pytest.mark.parametrize("init", ["random-partition", "random", "k-means++", "bisecting", "auto"])
    @pytest.mark.parametrize("quality", ["fast", "balanced", "best"])
    def test_finds_planted_blobs_from_any_start(self, init: str, quality: str) -> None:
        for seed in range(5):
            X, planted = blobs(1500, 4, 25, seed=seed)
            model = BoostKMeans(25, init=init, quality=quality, random_state=seed).fit(X)
            assert same_partition(model.labels_, planted)

    def test_misses_planted_blobs_without_repair(self) -> None:
        X, planted = blobs(1500, 4, 25)
        plain = BoostKMeans(25, init="random-partition", repair=False, annealing=0, random_state=0).fit(
            X
        )
        assert plain.inertia_ > 10 * reference.inertia(X, planted)

    def test_finds_many_blobs_with_candidates(self) -> None:
        X, planted = blobs(6000, 8, 600)
        for parameters in ({"init": "random-partition"}, {"init": "auto", "annealing": 0}):
            model = BoostKMeans(600, n_candidates=32, random_state=0, **parameters).fit(X)
            assert model.inertia_ == pytest.approx(reference.inertia(X, planted), rel=1e-3)

    def test_repairs_weighted_rows(self) -> None:
        X, planted = blobs(1000, 3, 10)
        w = np.random.default_rng(0).integers(0, 4, 1000).astype(float)
        model = BoostKMeans(10, init="random-partition", random_state=0).fit(X, sample_weight=w)
        assert same_partition(model.labels_, planted)

    def test_result_does_not_depend_on_units(self) -> None:
        X, _ = blobs(800, 3, 10)
        first, second = (
            BoostKMeans(10, init="random-partition", random_state=0).fit(X * scale)
            for scale in (1.0, 2.0**300)
        )
        np.testing.assert_array_equal(first.labels_, second.labels_)

    def test_repairs_under_cosine(self) -> None:
        X, planted = blobs(800, 6, 8)
        X *= np.random.default_rng(0).uniform(0.1, 10, size=(800, 1))
        model = BoostKMeans(8, metric="cosine", init="random-partition", random_state=0).fit(X)
        assert same_partition(model.labels_, planted)

    def test_records_swaps_in_the_history(self) -> None:
        X, _ = blobs(1500, 4, 25)
        model = BoostKMeans(25, init="random-partition", annealing=0, tol=0, random_state=0).fit(X)
        repairs = [r for r in model.history_ if r.kind == "repair"]
        assert repairs
        assert all(r.swaps > 0 for r in repairs)
        assert not any(r.swaps for r in model.history_ if r.kind != "repair")
        assert all(a.inertia >= b.inertia for a, b in itertools.pairwise(model.history_))
        assert model.n_iter_ == len(model.history_)
        assert model.converged_
        assert model.history_[-1].kind == "certify"

    @pytest.mark.parametrize("rounds", [0, 1, 2])
    def test_limits_the_number_of_rounds(self, rounds: int) -> None:
        X, _ = blobs(1500, 4, 25)
        model = BoostKMeans(25, init="random-partition", repair=rounds, random_state=0).fit(X)
        assert sum(r.kind == "repair" for r in model.history_) == rounds

    def test_max_iter_counts_rounds(self) -> None:
        X = np.random.default_rng(0).normal(size=(1500, 4))
        for most in (1, 2, 3):
            model = BoostKMeans(25, max_iter=most, tol=0, random_state=0).fit(X)
            assert model.n_iter_ == most
            assert model.stop_reason_ == "max_iter"

    def test_given_start_keeps_its_cluster_numbers(self) -> None:
        X, planted = blobs(500, 3, 10)
        centres = np.stack([X[planted == r].mean(axis=0) for r in range(10)])
        model = BoostKMeans(10, init=centres).fit(X)
        np.testing.assert_array_equal(model.labels_, planted)
        assert {r.kind for r in model.history_} <= {"sweep", "certify"}
        assert "given start" in model.history_[0].note

    def test_repairs_a_refined_tree(self) -> None:
        X, planted = blobs(1600, 8, 40)
        tree = BisectingBoostKMeans(40, refine=True, random_state=0).fit(X)
        assert same_partition(tree.labels_, planted)

    def test_tree_prediction_survives_repair(self) -> None:
        X, _ = blobs(1600, 8, 40)
        model = BisectingBoostKMeans(40, refine=True, random_state=0).fit(X)
        labels = model.predict(X, tree=True)
        gaps = ((X - model.cluster_centers_[labels]) ** 2).sum()
        exact = ((X - model.cluster_centers_[model.predict(X)]) ** 2).sum()
        merged = BisectingBoostKMeans(40, random_state=0).fit(X).inertia_
        assert gaps <= exact + 2 * merged

    @pytest.mark.parametrize("value", ["always", -1, 1.5, None])
    def test_rejects_invalid_values(self, value: Any) -> None:
        with pytest.raises(ValueError, match="repair"):
            BoostKMeans(3, repair=value).fit(np.eye(5))
