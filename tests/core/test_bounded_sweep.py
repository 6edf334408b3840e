"""Sweeps that skip clusters by lower bounds make the moves of sweeps without bounds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference
from boostkmeans import _core
from boostkmeans._data.projection import Projection, Spectrum
from boostkmeans._data.rows import Rows
from boostkmeans._steps.partition import Partition
from factories import core_limits

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

N, D, K = 400, 24, 37
DIMENSIONS = (1, D // 2, D - 1)


def general_problem(n: int = N, d: int = D, k: int = K, seed: int = 0) -> tuple[Floats, Labels]:
    """Return rows in general position around k centres, and labels of which a third is random."""
    rng = np.random.default_rng(seed)
    spread = 1.5 * 0.85 ** np.arange(d)
    labels = rng.permutation(np.arange(n) % k).astype(np.int32)
    X = (rng.normal(size=(k, d))[labels] + 0.6 * rng.normal(size=(n, d))) * spread
    wrong = rng.random(n) < 1 / 3
    labels[wrong] = rng.integers(k, size=wrong.sum())
    return X, labels


class Sweeps:
    """A partition that is swept with or without a projection, by direct calls of the core."""

    def __init__(
        self, X: NDArray[Any], labels: Labels, k: int, n_axes: int | None, *,
        weights: Floats | None = None, n_threads: int = 1,
    ) -> None:  # fmt: skip
        self.rows = Rows.in_own_frame(X, "euclidean", 1)
        self.weights, self.n_threads = weights, n_threads
        self.partition, _ = Partition.from_labels(labels.copy(), k, self.rows, weights, 1)
        self.projection: _core.Projection | None = None
        if n_axes is not None:
            spectrum = Spectrum.of(self.rows.take(np.arange(len(X))))
            self.projection = Projection.of(self.rows, spectrum, n_axes, 1).core
        gaps = np.square(self.partition.centres[:, None] - self.partition.centres).sum(axis=2)
        np.fill_diagonal(gaps, np.inf)
        self.neighbours = gaps.argsort(axis=1)[:, : max(1, k // 3)].astype(np.int32)
        self.runners_up = np.roll(self.partition.labels, 7)

    def sweep(self, visit: Any, **options: Any) -> tuple[int, float]:
        """Sweep once, check the reported gain, and return the number of moves and the gain."""
        before, _ = self.partition.recompute(self.rows, self.weights, 1)
        found = _core.sweep(
            self.rows.core, self.weights, self.partition.view(), visit, _core.SweepOptions(**options),
            projection=self.projection, n_threads=self.n_threads,
        )  # fmt: skip
        after, _ = self.partition.recompute(self.rows, self.weights, 1)
        assert found.gain == pytest.approx(before - after, rel=1e-9, abs=1e-12 * before)
        return found.moves, found.gain

    def sweep_full(self, seed: int = 0, block: int = 50, **options: Any) -> tuple[int, float]:
        order = np.random.default_rng(seed).permutation(self.rows.n_rows)
        visit = _core.FullVisit(order=order, run_rows=1, block_rows=block)
        return self.sweep(visit, seed=seed, **options)

    def sweep_candidates(self, *, by_runner_up: bool = False, **options: Any) -> tuple[int, float]:
        k = self.partition.n_clusters
        visit = _core.CandidateVisit(
            lists=self.neighbours, changed=np.full(k, -1), visited=np.full(k, -1), clock=0,
            order=np.arange(k, dtype=np.int32), block_rows=50, runners_up=self.runners_up,
            by_runner_up=by_runner_up,
        )  # fmt: skip
        return self.sweep(visit, **options)


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {}, "annealed": {"temperature": 0.1}, "hot": {"temperature": 0.4},
    "limits": core_limits(K, 9.0, 12.0), "upper limit": core_limits(K, most=12.0),
    "first": {"first": True}, "first, annealed": {"first": True, "temperature": 0.1},
}  # fmt: skip


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [*OPTIONS, "exact", "exact, limits"])
def test_full_sweeps_make_the_same_moves(name: str, weighted: bool) -> None:
    X, labels = general_problem()
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(X)) if weighted else None
    options = OPTIONS.get(name, {"exact": True, **(OPTIONS["limits"] if "limits" in name else {})})
    plain = Sweeps(X, labels, K, None, weights=weights)
    bounded = [Sweeps(X, labels, K, n_axes, weights=weights) for n_axes in DIMENSIONS]
    for seed in range(3):
        moves, gain = plain.sweep_full(seed, **options)
        assert moves > 0 or seed > 0
        for sweeps in bounded:
            found = sweeps.sweep_full(seed, **options)
            assert found[0] == moves
            assert found[1] == pytest.approx(gain)
            np.testing.assert_array_equal(sweeps.partition.labels, plain.partition.labels)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("by_runner_up", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", OPTIONS)
def test_candidate_sweeps_make_the_same_moves(name: str, weighted: bool, by_runner_up: bool) -> None:
    X, labels = general_problem(seed=2)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(X)) if weighted else None
    plain = Sweeps(X, labels, K, None, weights=weights)
    moves, gain = plain.sweep_candidates(by_runner_up=by_runner_up, **OPTIONS[name])
    assert moves > 0
    for n_axes in DIMENSIONS:
        sweeps = Sweeps(X, labels, K, n_axes, weights=weights)
        found = sweeps.sweep_candidates(by_runner_up=by_runner_up, **OPTIONS[name])
        assert found[0] == moves
        assert found[1] == pytest.approx(gain)
        np.testing.assert_array_equal(sweeps.partition.labels, plain.partition.labels)


def test_rows_that_stay_have_their_own_cluster_as_runner_up() -> None:
    X, labels = general_problem(seed=3)
    sweeps = Sweeps(X, labels, K, 5)
    before = sweeps.partition.labels.copy()
    sweeps.sweep_candidates()
    found = sweeps.runners_up
    assert ((found >= 0) & (found < K)).all()
    listed = (sweeps.neighbours[before] == found[:, None]).any(axis=1)
    assert (listed | (found == before)).all()


@pytest.mark.parametrize("dtype", ["f4", "f2", "u1", "i1"])
def test_same_moves_for_every_dtype(dtype: str) -> None:
    X, labels = general_problem(d=40, seed=4)
    X = np.clip(60 + 15 * X, 0, 120).astype(dtype)
    plain, bounded = Sweeps(X, labels, K, None), Sweeps(X, labels, K, 6)
    for seed in range(3):
        assert bounded.sweep_full(seed, exact=True)[0] == plain.sweep_full(seed, exact=True)[0]
        np.testing.assert_array_equal(bounded.partition.labels, plain.partition.labels)


def test_more_clusters_than_are_stored_at_a_time() -> None:
    """Bounds are computed for 512 clusters at a time."""
    X, labels = general_problem(4000, 12, 1100, seed=5)
    plain, bounded = Sweeps(X, labels, 1100, None), Sweeps(X, labels, 1100, 4)
    every: list[dict[str, Any]] = [{"first": True}, {}, {"exact": True}]
    for options in every:
        assert bounded.sweep_full(**options)[0] == plain.sweep_full(**options)[0] > 0
        np.testing.assert_array_equal(bounded.partition.labels, plain.partition.labels)


@pytest.mark.usefixtures("isa")
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 30))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_first_moves_are_the_same(seed: int, k: int) -> None:
    """Every row has another random column at which its search starts."""
    X, labels = general_problem(150, 10, k, seed=seed)
    plain, bounded = Sweeps(X, labels, k, None), Sweeps(X, labels, k, 3)
    for number in range(3):
        found = bounded.sweep_full(number, block=20, first=True)
        assert found[0] == plain.sweep_full(number, block=20, first=True)[0]
        np.testing.assert_array_equal(bounded.partition.labels, plain.partition.labels)


def test_result_does_not_depend_on_threads() -> None:
    X, labels = general_problem(20_000, 32, 90, seed=6)
    expected = Sweeps(X, labels, 90, 8)
    moves, gain = expected.sweep_full(block=200)
    for n_threads in (2, 5):
        found = Sweeps(X, labels, 90, 8, n_threads=n_threads)
        assert found.sweep_full(block=200) == (moves, gain)
        np.testing.assert_array_equal(found.partition.labels, expected.partition.labels)
        np.testing.assert_array_equal(found.partition.composites, expected.partition.composites)


def test_fills_empty_clusters() -> None:
    X, labels = general_problem(seed=7)
    labels[labels >= 30] = 0
    plain, bounded = Sweeps(X, labels, K, None), Sweeps(X, labels, K, 6)
    assert bounded.sweep_full(block=1)[0] == plain.sweep_full(block=1)[0]
    np.testing.assert_array_equal(bounded.partition.labels, plain.partition.labels)
    assert (bounded.partition.counts > 0).all()


def test_rows_without_weight_never_move() -> None:
    X, labels = general_problem(seed=8)
    weights = np.where(np.arange(len(X)) % 3, 1.0, 0.0)
    sweeps = Sweeps(X, labels, K, 6, weights=weights)
    assert sweeps.sweep_full()[0] > 0
    np.testing.assert_array_equal(sweeps.partition.labels[::3], labels[::3])


def certify(
    X: NDArray[Any], labels: Labels, k: int, n_axes: int, weights: Floats | None = None
) -> Labels:
    """Perform exact sweeps with bounds until no row moves."""
    sweeps = Sweeps(X, labels, k, n_axes, weights=weights)
    for seed in range(300):
        if sweeps.sweep_full(seed, block=8, exact=True)[0] == 0:
            return sweeps.partition.labels
    raise AssertionError("300 sweeps did not come to rest")


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1), high=st.sampled_from([1, 3, 10, 1000]), d=st.integers(2, 7),
    where=st.sampled_from(["first", "half", "all but one"]), weighted=st.booleans(),
)  # fmt: skip
@settings(max_examples=120)
def test_no_move_improves_after_an_exact_sweep_without_moves(
    seed: int, high: int, d: int, where: str, weighted: bool
) -> None:
    """Check in exact arithmetic. Integers make ties and duplicates frequent."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-high, high, (int(rng.integers(4, 50)), d), endpoint=True)
    k = min(int(rng.integers(2, 9)), len(np.unique(X, axis=0)))
    labels = (rng.permutation(len(X)) % k).astype(np.int32)
    weights = rng.integers(1, 6, len(X)).astype(np.float64) if weighted else None
    n_axes = {"first": 1, "half": d // 2, "all but one": d - 1}[where]
    found = certify(X.astype(np.float64), labels, k, n_axes, weights)
    assert reference.improving_move(X, found, k, weights) is None


@pytest.mark.parametrize("n_axes", [1, 3, 5])
@pytest.mark.parametrize("far", [2**10, 2**14, 2**20])
def test_certifies_tight_groups_far_apart(far: int, n_axes: int) -> None:
    """Within a group, gains are about as small as the rounding errors of the bounds."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = far * rng.integers(-1, 2, (40, 6)) + rng.integers(-3, 4, (40, 6))
        labels = (rng.permutation(40) % 12).astype(np.int32)
        found = certify(X.astype(np.float64), labels, 12, n_axes)
        assert reference.improving_move(X, found, 12) is None


@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_certifies_rows_that_the_axes_show_completely(n_axes: int) -> None:
    """The rows lie in a plane, so that rests are 0 or rounding errors."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = rng.integers(-9, 10, (60, 2)) @ rng.integers(-9, 10, (2, 8))
        k = min(9, len(np.unique(X, axis=0)))
        labels = (rng.permutation(60) % k).astype(np.int32)
        found = certify(X.astype(np.float64), labels, k, n_axes)
        assert reference.improving_move(X, found, k) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": np.zeros(K)}, "excludes exchange"),
        ({"exchange": True, **core_limits(K, most=50.0)}, "excludes exchange"),
    ],
)
def test_rejects_options_without_bounds(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sweeps(*general_problem(), K, 3).sweep_full(**options)


def test_rejects_the_projection_of_other_rows() -> None:
    X, labels = general_problem()
    sweeps = Sweeps(X, labels, K, 3)
    for other in (X[:-1], X[:, :-1]):
        sweeps.projection = Sweeps(other, labels[: len(other)], K, 3).projection
        with pytest.raises(ValueError, match="must belong to the rows"):
            sweeps.sweep_full()


def test_expired_deadline_moves_no_row() -> None:
    X, labels = general_problem()
    sweeps = Sweeps(X, labels, K, 3)
    visit = _core.FullVisit(order=np.arange(N), run_rows=1, block_rows=16)
    found = _core.sweep(
        sweeps.rows.core, None, sweeps.partition.view(), visit, _core.SweepOptions(),
        projection=sweeps.projection, seconds_left=0.0,
    )  # fmt: skip
    assert (found.moves, found.late) == (0, True)
    np.testing.assert_array_equal(sweeps.partition.labels, labels)
