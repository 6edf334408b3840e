"""Sweeps over candidates, neighbour lists, and the choice between candidates and all clusters."""

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference
from boostkmeans import BoostKMeans, _core, instruction_set
from boostkmeans._data.rows import Rows
from boostkmeans._engine.candidate_strategy import CandidateStrategy, Scope, candidate_cost
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._steps import candidates, neighbours
from boostkmeans._steps.candidates import NeighbourLists, adapt_to_swaps
from boostkmeans._steps.neighbours import neighbour_lists
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.sweep import SweepResult
from boostkmeans._storage.state import SavedState
from conftest import blobs
from factories import make_partition


def exact_lists(C: NDArray[np.float64], n_neighbours: int) -> NDArray[np.int32]:
    """Return the nearest other centres of each centre, by comparing all pairs."""
    gaps = ((C[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(gaps.argsort(axis=1, kind="stable")[:, :n_neighbours], dtype=np.int32)


class Sweeps:
    """A partition and its neighbour lists, swept by direct calls of the core."""

    def __init__(
        self, X: NDArray[Any], labels: NDArray[np.int32], k: int, n_candidates: int, *,
        w: NDArray[np.float64] | None = None, n_threads: int = 1,
    ) -> None:  # fmt: skip
        self.rows = Rows.in_own_frame(X, "euclidean", 1)
        self.w, self.n_threads = w, n_threads
        self.partition, self.inertia = Partition.from_labels(labels.copy(), k, self.rows, w, 1)
        self.lists = exact_lists(self.partition.centres, n_candidates)
        self.changed, self.visited = np.full(k, -1), np.full(k, -1)
        self.clock = 0
        self.runners_up = np.zeros(len(X), dtype=np.int32)

    def sweep(
        self,
        order: NDArray[np.int32],
        block: int = 64,
        first: bool = False,
        seed: int = 0,
        by_runner_up: bool = False,
    ) -> tuple[int, int]:
        """Sweep once, check the reported gain, and return the numbers of moves and of evaluations."""
        p = self.partition
        visit = _core.CandidateVisit(
            lists=self.lists,
            changed=self.changed,
            visited=self.visited,
            clock=self.clock,
            order=order,
            block_rows=block,
            runners_up=self.runners_up,
            by_runner_up=by_runner_up,
        )
        options = _core.SweepOptions(first=first, seed=seed)
        found = _core.sweep(self.rows.core, self.w, p.view(), visit, options, n_threads=self.n_threads)
        self.clock = visit.clock
        after, drift = p.recompute(self.rows, self.w, 1)
        assert not found.late
        assert drift < 1e-10
        assert found.gain == pytest.approx(self.inertia - after, rel=1e-9, abs=1e-12 * self.inertia)
        assert (found.gain > 0) == (found.moves > 0)
        self.inertia = after
        return found.moves, found.evaluations


def random_problem(
    n: int, d: int, k: int, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return normal rows and random labels of equal frequency."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % k).astype(np.int32)


@pytest.mark.parametrize(("n", "d", "k"), [(60, 2, 3), (500, 130, 7), (300, 16, 40), (1500, 5, 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_sweep_with_all_other_clusters_as_candidates_equals_a_full_sweep(
    isa: str, n: int, d: int, k: int, weighted: bool
) -> None:
    X, labels = random_problem(n, d, k)
    w = np.random.default_rng(1).uniform(0.1, 1, n) if weighted else None
    order = np.random.default_rng(2).permutation(k).astype(np.int32)
    ours = Sweeps(X, labels, k, k - 1, w=w)
    full = Sweeps(X, labels, k, k - 1, w=w)
    moves, evaluations = ours.sweep(order, block=n)
    rows = np.concatenate([np.flatnonzero(labels == c) for c in order])
    p = full.partition
    visit = _core.FullVisit(order=rows, run_rows=1, block_rows=n)
    expected = _core.sweep(full.rows.core, w, p.view(), visit, _core.SweepOptions())
    assert moves == expected.moves > 0
    assert evaluations == n * (k - 1)
    np.testing.assert_array_equal(ours.partition.labels, p.labels)


@given(st.integers(0, 2**20), st.booleans(), st.booleans(), st.integers(1, 6))
def test_every_sweep_gains_until_no_move_is_left(
    seed: int, first: bool, weighted: bool, n_candidates: int
) -> None:
    X, labels = random_problem(120, 3, 8, seed)
    w = np.random.default_rng(seed).uniform(0, 1, 120) if weighted else None
    sweeps = Sweeps(X, labels, 8, n_candidates, w=w)
    order = np.arange(8, dtype=np.int32)
    for n in range(200):  # `Sweeps.sweep` checks the gain of each sweep.
        if sweeps.sweep(order, block=16, first=first, seed=n)[0] == 0:
            break
    else:
        pytest.fail("200 sweeps did not come to rest")
    # Clusters that were skipped have no move either.
    sweeps.visited[:] = -1
    assert sweeps.sweep(order)[0] == 0
    # Now all clusters are visited, and all of them are skipped.
    assert sweeps.sweep(order) == (0, 0)


def test_a_change_causes_visits_of_the_neighbours_only() -> None:
    X, planted = blobs(400, 2, 8, spread=50)
    sweeps = Sweeps(X, planted, 8, 2)
    order = np.arange(8, dtype=np.int32)
    assert sweeps.sweep(order)[0] == 0
    sweeps.changed[3] = sweeps.clock
    to_visit = [3, *np.flatnonzero((sweeps.lists == 3).any(axis=1)).tolist()]
    assert sweeps.sweep(order) == (0, 2 * np.isin(planted, to_visit).sum())


def test_labels_do_not_depend_on_the_number_of_threads() -> None:
    X, labels = random_problem(5000, 20, 50)
    results = []
    for n_threads in (1, 2, 3):
        sweeps = Sweeps(X, labels, 50, 10, n_threads=n_threads)
        for _ in range(3):
            sweeps.sweep(np.arange(50, dtype=np.int32), block=500)
        results.append(sweeps.partition.labels)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_runners_up_are_the_best_other_candidates() -> None:
    X, labels = random_problem(200, 3, 12)
    sweeps = Sweeps(X, labels, 12, 4)
    C, W = sweeps.partition.centres, sweeps.partition.weights.copy()
    lists = sweeps.lists.copy()
    sweeps.sweep(np.arange(12, dtype=np.int32), block=1000)
    points = sweeps.rows.take(np.arange(200))
    for i, own in enumerate(labels):
        costs = W / (W + 1) * ((points[i] - C) ** 2).sum(axis=1)
        assert sweeps.runners_up[i] == lists[own][costs[lists[own]].argmin()]


@pytest.mark.parametrize("weighted", [False, True])
def test_sweep_by_runners_up_moves_rows_to_their_neighbours(isa: str, weighted: bool) -> None:
    X, labels = random_problem(300, 3, 30)
    w = np.random.default_rng(1).uniform(0.1, 1, 300) if weighted else None
    sweeps = Sweeps(X, labels, 30, 3, w=w)
    order = np.arange(30, dtype=np.int32)
    while sweeps.sweep(order)[0]:
        pass
    before = sweeps.partition.labels.copy()
    runners_up = sweeps.runners_up.copy()
    moves, evaluations = sweeps.sweep(order, by_runner_up=True)
    assert moves > 0
    assert evaluations == 300 * 3
    moved = before != sweeps.partition.labels
    for own, runner_up, now in zip(
        before[moved], runners_up[moved], sweeps.partition.labels[moved], strict=True
    ):
        assert now in sweeps.lists[runner_up]
        assert now not in sweeps.lists[own]
    np.testing.assert_array_equal(runners_up, sweeps.runners_up)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("length", [4, 70])
def test_padding_of_lists_is_ignored(isa: str, first: bool, length: int) -> None:
    X, labels = random_problem(100, 3, 5)
    sweeps = Sweeps(X, labels, 5, 4)
    sweeps.lists = np.hstack([sweeps.lists[:, :1], np.full((5, length - 1), -1, dtype=np.int32)])
    before = sweeps.partition.labels.copy()
    assert sweeps.sweep(np.arange(5, dtype=np.int32), block=1000, first=first)[1] == 100
    moved = before != sweeps.partition.labels
    assert moved.any()
    np.testing.assert_array_equal(sweeps.partition.labels[moved], sweeps.lists[before[moved], 0])


def test_empty_lists_allow_no_move() -> None:
    X, labels = random_problem(100, 3, 5)
    for first in (False, True):
        sweeps = Sweeps(X, labels, 5, 2)
        sweeps.lists[:] = -1
        assert sweeps.sweep(np.arange(5, dtype=np.int32), first=first) == (0, 0)


def test_blocks_divide_large_clusters() -> None:
    """The first rows of a large cluster are decided before its other rows propose."""
    X, _ = random_problem(3000, 2, 2)
    labels = np.zeros(3000, dtype=np.int32)
    labels[:30] = 1
    ends = []
    for block in (384, 10_000):
        sweeps = Sweeps(X, labels, 2, 1)
        sweeps.sweep(np.arange(2, dtype=np.int32), block=block)
        ends.append(sweeps.inertia)
    assert ends[0] != ends[1]


@functools.cache
def many_centres() -> tuple[NDArray[np.float64], list[list[int]]]:
    """Return 6,000 centres, and the 16 nearest others of each."""
    C = np.random.default_rng(0).normal(size=(6000, 8))
    gaps = (C**2).sum(axis=1)[:, None] + (C**2).sum(axis=1) - 2 * C @ C.T
    np.fill_diagonal(gaps, np.inf)
    return C, gaps.argpartition(16, axis=1)[:, :16].tolist()


class TestNeighbours:
    @pytest.mark.parametrize(("k", "d", "n"), [(2, 3, 1), (50, 7, 10), (300, 130, 299), (700, 16, 20)])
    def test_few_centres_are_compared_exactly(self, isa: str, k: int, d: int, n: int) -> None:
        C = np.random.default_rng(0).normal(size=(k, d))
        found, exact = neighbour_lists(C, n, 2), exact_lists(C, n)
        gaps = ((C[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)
        # Nearly equal distances may be in a different order.
        np.testing.assert_allclose(
            np.take_along_axis(gaps, found, axis=1), np.take_along_axis(gaps, exact, axis=1), rtol=1e-5
        )
        assert (np.sort(found, axis=1) == np.sort(exact, axis=1)).mean() > 0.999

    def test_lists_longer_than_the_number_of_centres_are_padded(self) -> None:
        C = np.random.default_rng(0).normal(size=(4, 2))
        lists = neighbour_lists(C, 6, 1)
        np.testing.assert_array_equal(lists[:, :3], exact_lists(C, 3))
        assert (lists[:, 3:] == -1).all()

    @pytest.mark.usefixtures("isa")
    def test_search_by_groups_finds_most_neighbours(self) -> None:
        C, exact = many_centres()
        found = neighbour_lists(C, 16, 2)
        assert neighbours.MAX_EXACT < 6000
        shared = [len(set(a) & set(b)) for a, b in zip(found.tolist(), exact, strict=True)]
        assert np.mean(shared) > 0.8 * 16
        assert all(len(set(line)) == 16 for line in found.tolist())
        assert (found >= 0).all()
        assert not (found == np.arange(6000)[:, None]).any()
        np.testing.assert_array_equal(found, neighbour_lists(C, 16, 1))

    def test_earlier_lists_help_to_find_more_neighbours(self) -> None:
        C, exact = many_centres()
        first = neighbour_lists(C, 16, 2)
        found = neighbour_lists(C, 16, 2, previous=first, seed=1)
        np.testing.assert_array_equal(found, neighbour_lists(C, 16, 1, previous=first, seed=1))
        recalls = [
            np.mean([len(set(a) & set(b)) for a, b in zip(lists.tolist(), exact, strict=True)]) / 16
            for lists in (first, found)
        ]
        assert recalls[1] > (1 + recalls[0]) / 2
        assert all(len(set(line)) == 16 for line in found.tolist())
        assert not (found == np.arange(6000)[:, None]).any()

    @pytest.mark.usefixtures("isa")
    def test_earlier_neighbours_are_found_outside_of_searched_groups(self) -> None:
        C = np.random.default_rng(0).normal(size=(90, 5))
        exact = exact_lists(C, 7).astype(np.int32)
        alone = np.arange(30, dtype=np.int32)[:, None]  # Each group searches only itself.
        order = np.random.default_rng(1).permutation(90).astype(np.int32)
        groups = _core.Groups(order=order, starts=np.arange(0, 91, 3), lists=alone)
        found = np.empty_like(exact)
        _core.neighbours(C, groups, found, exact, instruction_set(), 2)
        np.testing.assert_array_equal(found, exact)
        with pytest.raises(ValueError, match="shape of out"):
            _core.neighbours(C, groups, found, exact[:, :3].copy(), instruction_set(), 1)

    def test_groups_are_searched_by_groups_of_groups(self, monkeypatch: pytest.MonkeyPatch) -> None:
        C = np.random.default_rng(0).normal(size=(3000, 3))
        for name, value in (("MAX_EXACT", 16), ("MIN_SEEN", 64), ("SEEN_PER_NEIGHBOUR", 8)):
            monkeypatch.setattr(neighbours, name, value)
        calls = []
        plain = neighbours.Groups.build

        def counted(centres: NDArray[np.float64], n_threads: int, seed: int = 0) -> neighbours.Groups:
            calls.append(len(centres))
            return plain(centres, n_threads, seed)

        monkeypatch.setattr(neighbours.Groups, "build", counted)
        found = neighbour_lists(C, 10, 1)
        assert calls == [3000, 93]
        shared = [len(np.intersect1d(a, b)) for a, b in zip(found, exact_lists(C, 10), strict=True)]
        assert np.mean(shared) > 0.7 * 10

    def test_equal_centres_are_divided_into_groups_of_bounded_size(self) -> None:
        C = np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 1000, axis=0)
        assert neighbour_lists(C, 4, 1).shape == (3000, 4)
        groups = neighbours.Groups.build(C, 1)
        assert np.diff(groups.starts).max() <= neighbours.MAX_GROUP

    def test_core_rejects_inconsistent_groups(self) -> None:
        C, out = np.zeros((4, 2)), np.empty((4, 1), dtype=np.int32)
        one = np.zeros((1, 1), dtype=np.int32)
        order = np.arange(4, dtype=np.int32)
        for starts in ([0, 3], [1, 4], [0, 2, 4]):
            with pytest.raises(ValueError, match="starts must"):
                _core.Groups(order=order, starts=np.array(starts), lists=one)
        three = _core.Groups(order=order[:3], starts=np.array([0, 3]), lists=one)
        with pytest.raises(ValueError, match="one value per centre"):
            _core.neighbours(C, three, out, None, instruction_set(), 1)


@pytest.mark.parametrize("at_once", [2, 100])
def test_lists_contain_the_new_halves_after_swaps(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(candidates, "ADAPTED_AT_ONCE", at_once)
    lists = np.array([[1, 2, 3], [0, 2, 4], [3, 1, -1], [4, 2, 0], [3, 0, 1]], dtype=np.int32)
    adapt_to_swaps(lists, freed=np.array([4]), split=np.array([2]))
    expected = [[1, 2, 4], [0, 2, 4], [4, 3, 1], [4, 2, 4], [2, 3, 1]]
    np.testing.assert_array_equal(lists, expected)


def test_no_list_contains_its_own_cluster_after_swaps() -> None:
    lists = np.array([[1, 2, 3], [0, 2, 4], [4, 3, 1], [4, 2, 0], [2, 0, 1]], dtype=np.int32)
    adapt_to_swaps(lists, freed=np.array([4]), split=np.array([2]))  # 4 is a neighbour of 2.
    assert not (lists == np.arange(5)[:, None]).any()
    assert lists[4, 0] == 2
    assert lists[2, 0] == 4


def test_many_blocks_share_their_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labels = random_problem(100, 3, 5)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    monkeypatch.setattr(candidates, "MAX_STAMPED_BLOCKS", 3)
    partition, _ = Partition.from_labels(labels, 5, rows, None, 1)
    few, many = (NeighbourLists.build(partition, 2, n, 1) for n in (3, 4))
    assert (few.visited.shape, many.visited.shape) == ((3, 5), (1, 5))
    for lists, left in ((few, 7), (many, -1)):
        lists.visited_in(2)[:] = 7
        assert (lists.visited_in(2) == left).all(), "shared stamps are cleared by the next visit"
    for lists, n_blocks in ((few, 3), (many, 4)):
        restored = NeighbourLists.restore(SavedState("f", "lists", lists.state()), 5, n_blocks, 9)
        assert restored.shares_stamps == lists.shares_stamps
        np.testing.assert_array_equal(restored.visited, lists.visited)
    with pytest.raises(DataFormatError, match="visited"):
        NeighbourLists.restore(SavedState("f", "lists", few.state()), 5, 6, 9)


class TestFit:
    X = np.random.default_rng(0).normal(size=(400, 6))

    def fit(self, k: int, X: NDArray[Any] | None = None, **parameters: Any) -> BoostKMeans:
        plain = {"repair": False, "annealing": 0, "random_state": 0}
        return BoostKMeans(k, **{**plain, **parameters}).fit(self.X if X is None else X)

    @pytest.mark.parametrize("init", ["random-partition", "bisecting"])
    @pytest.mark.parametrize("moves", ["best", "first"])
    def test_tol_0_certifies_with_full_sweeps(self, init: str, moves: str) -> None:
        model = self.fit(25, init=init, moves=moves, n_candidates=3, tol=0, max_iter=1000)
        assert model.converged_
        assert reference.improving_move(self.X, model.labels_, 25) is None
        kinds = [r.kind for r in model.history_ if r.kind != "start"]
        assert kinds[0] == "candidates"
        assert kinds[-1] == "certify"
        n_candidates = kinds.count("candidates")
        assert kinds[:n_candidates] == ["candidates"] * n_candidates
        np.testing.assert_array_equal(model.predict(self.X), model.labels_)

    def test_history_counts_candidates_and_falls(self) -> None:
        model = self.fit(25, n_candidates=5, tol=1e-3)
        assert {r.kind for r in model.history_} == {"candidates"}
        inertias = [r.inertia for r in model.history_]
        assert inertias == sorted(inertias, reverse=True)
        assert all(r.evaluations <= 5 * 400 for r in model.history_)
        assert model.stop_reason_ == "tol"
        assert model.inertia_ == pytest.approx(reference.inertia(self.X, model.labels_))
        assert not model.converged_

    def test_accepts_more_candidates_than_clusters(self) -> None:
        model = self.fit(5, n_candidates=100)
        assert model.history_[0].evaluations == 4 * 400
        for k in (1, 2):
            assert self.fit(k, n_candidates=100, tol=0).converged_
        assert self.fit(400, n_candidates=7, tol=0).inertia_ == pytest.approx(0, abs=1e-12)

    def test_auto_uses_candidates_for_many_clusters(self) -> None:
        X = np.random.default_rng(0).normal(size=(3000, 4))
        kinds = {k: [r.kind for r in self.fit(k, X).history_] for k in (100, 600, 2500)}
        assert "candidates" not in kinds[100]
        assert kinds[600][0] == "candidates"
        assert kinds[600][-1] != "candidates"
        assert kinds[2500][-1] == "candidates"
        assert "candidates" not in [r.kind for r in self.fit(600, X, n_candidates=None).history_]

    def test_certifies_weighted_duplicates(self) -> None:
        X = np.random.default_rng(0).integers(0, 4, size=(600, 2)).astype(float)
        w = np.random.default_rng(1).integers(0, 3, 600).astype(float)
        model = BoostKMeans(12, n_candidates=3, init="bisecting", tol=0, random_state=0)
        model.fit(X, sample_weight=w)
        assert model.converged_
        assert model.inertia_ == pytest.approx(reference.inertia(X, model.labels_, w))

    def test_rows_without_weight_have_the_labels_of_predict(self) -> None:
        w = np.r_[np.ones(300), np.zeros(100)]
        for init in ("random-partition", "bisecting"):
            model = BoostKMeans(25, n_candidates=5, init=init, random_state=0)
            model.fit(self.X, sample_weight=w)
            np.testing.assert_array_equal(model.labels_[300:], model.predict(self.X[300:]))

    def test_labels_do_not_depend_on_threads_or_types(self, sift: NDArray[np.uint8]) -> None:
        parameters: dict[str, Any] = {"init": "bisecting", "n_candidates": 20, "max_iter": 5, "tol": 0}
        one = self.fit(300, sift, n_threads=1, **parameters)
        np.testing.assert_array_equal(
            one.labels_, self.fit(300, sift, n_threads=2, **parameters).labels_
        )
        wide = self.fit(300, sift.astype(np.float32), **parameters)
        np.testing.assert_array_equal(one.labels_, wide.labels_)

    def test_inertia_is_close_to_that_of_full_sweeps(self, sift: NDArray[np.uint8]) -> None:
        few = self.fit(300, sift, init="bisecting", n_candidates=60)
        every = self.fit(300, sift, init="bisecting", n_candidates=None)
        assert few.inertia_ < 1.005 * every.inertia_
        assert sum(r.evaluations for r in few.history_) < 0.5 * sum(
            r.evaluations for r in every.history_
        )

    def test_stops_by_callback_time_and_interrupt(self) -> None:
        assert self.fit(25, n_candidates=5, callback=lambda _: True).n_iter_ == 1
        late = self.fit(25, n_candidates=5, max_time=1e-9)
        assert late.stop_reason_ == "max_time"
        assert late.history_[0].evaluations == 0
        assert self.fit(25, n_candidates=5, tol=1e-9).history_[-1].moves == 0

        def interrupt(_: Any) -> None:
            raise KeyboardInterrupt

        model = BoostKMeans(25, n_candidates=5, callback=interrupt, random_state=0)
        with pytest.raises(KeyboardInterrupt):
            model.fit(self.X)
        assert model.stop_reason_ == "interrupted"
        assert model.inertia_ == pytest.approx(reference.inertia(self.X, model.labels_))


class TestPredict:
    def test_approximate_labels_are_nearly_exact(self, sift: NDArray[np.uint8], isa: str) -> None:
        model = BoostKMeans(500, random_state=0, max_iter=3).fit(sift[:8000])
        exact = model.predict(sift[8000:])
        agreement = [
            (model.predict(sift[8000:], n_candidates=m) == exact).mean() for m in (32, 128, 300)
        ]
        assert agreement == sorted(agreement)
        assert agreement[1] > 0.85
        assert agreement[2] > 0.95
        np.testing.assert_array_equal(model.predict(sift[8000:], n_candidates=500), exact)
        np.testing.assert_array_equal(model.predict(sift[8000:], n_candidates=9999), exact)

    def test_few_clusters_are_searched_exactly(self) -> None:
        X, _ = blobs(300, 3, 5)
        model = BoostKMeans(5, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X, n_candidates=2), model.labels_)
        with pytest.raises(ValueError, match="n_candidates"):
            model.predict(X, n_candidates=0)


def topics(n: int, d: int, n_topics: int) -> NDArray[np.float32]:
    """Return unit rows around centres that are about equally far from each other, like embeddings."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_topics, d)).astype(np.float32)
    X = centres[rng.integers(0, n_topics, n)] + 0.5 * rng.normal(size=(n, d)).astype(np.float32)
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


class TestProbes:
    """Probes compare some rows with all clusters. Full sweeps follow if that gains more."""

    k = 2100  # Above AUTO_ALL_UP_TO, a fit does not finish with full sweeps.

    def fit(self, X: NDArray[Any], **parameters: Any) -> BoostKMeans:
        return BoostKMeans(self.k, quality="fast", random_state=0, **parameters).fit(X)

    def test_full_sweeps_follow_if_candidates_miss_much(self) -> None:
        X = topics(30_000, 32, 3000)
        found, by_lists = self.fit(X), self.fit(X, n_candidates=32)
        kinds = [r.kind for r in found.history_]
        assert "sweep" in kinds
        assert kinds[-1] == "candidates"
        assert {r.kind for r in by_lists.history_} == {"start", "candidates", "repair"}  # As requested.
        assert found.inertia_ < 0.995 * by_lists.inertia_
        assert found.inertia_ == pytest.approx(reference_inertia(X, found.labels_))

    def test_no_full_sweeps_if_candidates_suffice(self) -> None:
        X, _ = blobs(21_000, 8, self.k)
        kinds = {r.kind for r in self.fit(X).history_}
        assert "candidates" in kinds
        assert not kinds & {"sweep", "certify"}

    def test_labels_do_not_depend_on_the_number_of_threads(self) -> None:
        X = topics(30_000, 32, 3000)
        found = [self.fit(X, n_threads=n) for n in (1, 3)]
        assert "sweep" in [r.kind for r in found[0].history_]
        assert len({(m.labels_.tobytes(), m.inertia_) for m in found}) == 1

    @pytest.mark.parametrize("given", [{"n_candidates": 32}, {"moves": "first"}, {"max_size": 60}])
    def test_other_settings_disable_probes(self, given: dict[str, Any]) -> None:
        X = topics(30_000, 32, 3000)
        kinds = [r.kind for r in self.fit(X, **given).history_]
        assert "candidates" in kinds
        assert "sweep" not in kinds

    @pytest.mark.parametrize("tol", [1e-3, 1e-4, 0])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_up_to_2048_clusters_labels_are_those_of_the_nearest_centres(
        self, tol: float, weighted: bool
    ) -> None:
        X = topics(4000, 16, 800)
        weights = np.arange(4000) % 3.0 if weighted else None
        model = BoostKMeans(600, quality="fast", tol=tol, random_state=0).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert model.converged_ or tol > 0

    def test_stops_at_the_deadline_before_or_after_a_full_sweep(self) -> None:
        X = topics(30_000, 32, 3000)
        whole = self.fit(X)
        assert "sweep" in [r.kind for r in whole.history_]
        first = next(i for i, r in enumerate(whole.history_) if r.kind == "sweep")
        for seconds in (whole.history_[first - 1].seconds, whole.history_[first].seconds):
            early = self.fit(X, max_time=seconds)
            assert early.stop_reason_ in ("max_time", "tol")
            assert early.inertia_ == pytest.approx(reference_inertia(X, early.labels_))

    def test_a_probe_costs_a_twentieth_of_the_sweeps(self) -> None:
        rows = Rows.in_own_frame(topics(9000, 32, 2000), "euclidean", 1)
        strategy = CandidateStrategy(64, probes=True)
        strategy.uses, strategy.expired = 1, True
        share = candidate_cost(64, rows, 1000) / 20 / 1000
        assert share < 1 / 8
        assert strategy.probe_share(rows, 1000) == pytest.approx(share)
        assert strategy.probe_share(rows, 100) == 1 / 8
        strategy.expired = False
        assert strategy.probe_share(rows, 100) == 0
        strategy.tried_runners_up = True
        assert strategy.probe_share(rows, 100) == 1 / 8
        strategy.probes = False
        assert strategy.probe_share(rows, 100) == 0

    def test_a_full_sweep_follows_if_it_gains_more_for_its_cost(self) -> None:
        rows = Rows.in_own_frame(topics(9000, 32, 2000), "euclidean", 1)
        partition = make_partition(np.arange(9000) % 2000, 2000, rows)
        cost = 9000 * candidate_cost(64, rows, 2000)
        strategy = CandidateStrategy(64, probes=True, min_gain=1e-3)
        strategy.uses, strategy.plain_uses, strategy.gain = 6, 4, 20.0  # A gain of 5 per sweep.

        def is_full_after_probe(gain: float) -> bool:
            result = SweepResult(1, gain, int(cost), late=False)
            strategy.after_probe(result, rows, partition, 100.0)
            assert strategy.expired
            return strategy.scope is Scope.ALL

        strategy.cost = 1999.0
        assert not is_full_after_probe(6.0)  # A full sweep would cost more than all sweeps so far.
        strategy.cost = 2000.0
        assert not is_full_after_probe(4.9)
        assert is_full_after_probe(5.1)
        strategy.after_full_sweep(SweepResult(1, 5.1, int(cost), late=False), 2000)
        assert strategy.cost == 4000.0
        assert strategy.scope is Scope.ALL  # The full sweep paid, so another one follows.
        assert strategy.next_strategy()
        strategy.after_full_sweep(SweepResult(1, 4.9, int(cost), late=False), 2000)
        assert strategy.scope is not Scope.ALL
        strategy.gain = 0.0  # Candidates gain less than the tolerance, which then is the measure.
        assert not is_full_after_probe(0.09)
        assert is_full_after_probe(0.11)


def reference_inertia(X: NDArray[Any], labels: NDArray[np.int32]) -> float:
    """Return the inertia by sums, because `reference.inertia` would be slow."""
    k, wide = labels.max() + 1, X.astype(np.float64)
    sums = np.stack([np.bincount(labels, column, k) for column in wide.T], axis=1)
    centres = sums / np.bincount(labels, minlength=k)[:, None]
    return float(((wide - centres[labels]) ** 2).sum())
