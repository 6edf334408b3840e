"""Results of a fit: certified optima, decreasing histories, stop reasons, correct figures."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.cluster import KMeans

import reference
from boostkmeans import BoostKMeans
from conftest import blobs


def integer_problem(seed: int) -> tuple[NDArray[np.int64], int]:
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(2, 41)), int(rng.integers(1, 5)), int(rng.integers(1, 9))
    high = int(rng.choice([1, 3, 10, 1000]))
    X = rng.integers(-high, high, (n, d), endpoint=True)
    return X, min(k, len(np.unique(X, axis=0)))


@pytest.mark.parametrize("part", range(20))
def test_no_move_improves_a_certified_partition(part: int) -> None:
    """Check 2,000 problems in exact arithmetic."""
    for seed in range(part * 100, part * 100 + 100):
        X, k = integer_problem(seed)
        moves = ("best", "first")[seed % 2]
        init = ("random-partition", "random", "k-means++", "auto")[seed % 4]
        model = BoostKMeans(k, init=init, moves=moves, tol=0, max_iter=1000, random_state=seed).fit(
            X.astype(np.float64)
        )
        assert model.converged_, f"seed {seed}: {model.stop_reason_}"
        assert model.stop_reason_ == "certified"
        move = reference.improving_move(X, model.labels_, k)
        assert move is None, f"seed {seed}: moving row {move} improves"


@pytest.mark.parametrize("far", [2**10, 2**12, 2**14, 2**20])
def test_certifies_tight_groups_far_apart(far: int) -> None:
    """Within a group, gains are about as small as the rounding error of |x|^2 in float32."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = far * rng.integers(-1, 2, (40, 3)) + rng.integers(-3, 4, (40, 3))
        k = min(12, len(np.unique(X, axis=0)))
        model = BoostKMeans(k, tol=0, max_iter=1000, random_state=seed).fit(X.astype(np.float64))
        assert model.converged_
        assert reference.improving_move(X, model.labels_, k) is None


@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(["f8", "f4", "f2", "i1"]))
@settings(max_examples=60)
def test_certifies_every_dtype(seed: int, dtype: str) -> None:
    X, k = integer_problem(seed)
    X = X.clip(-100, 100)
    k = min(k, len(np.unique(X, axis=0)))
    model = BoostKMeans(k, tol=0, max_iter=1000, random_state=seed % 2**31).fit(X.astype(dtype))
    assert model.converged_
    assert reference.improving_move(X, model.labels_, k) is None


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_certifies_weighted_rows(seed: int) -> None:
    """No move of a row lowers the weighted inertia. The weights are integers."""
    X, k = integer_problem(seed)
    w = np.random.default_rng(seed).integers(1, 6, len(X)).astype(np.float64)
    model = BoostKMeans(k, tol=0, max_iter=1000, random_state=seed % 2**31)
    labels = model.fit(X.astype(np.float64), sample_weight=w).labels_
    best = reference.inertia(X, labels, w)
    assert model.inertia_ == pytest.approx(best, rel=1e-9, abs=1e-9)
    for i in range(len(X)):
        if np.count_nonzero(labels == labels[i]) == 1:
            continue
        for v in range(k):
            moved = labels.copy()
            moved[i] = v
            assert reference.inertia(X, moved, w) >= best - 1e-9 * (1 + best)


@pytest.mark.parametrize("far", [1e4, 1e8, 1e16, 1e21, 1e22, 1e23])
@pytest.mark.parametrize("seed", range(5))
def test_certifies_data_with_outliers(far: float, seed: int) -> None:
    """Outliers leave rounding errors in the sums of the clusters that they leave."""
    rng = np.random.default_rng(seed)
    X = np.r_[rng.normal(size=(100, 2)), [[far, 0.0], [far, far]]]
    labels = rng.permutation(np.arange(102) % 5)
    model = BoostKMeans(5, init=labels, tol=0, max_iter=1000, random_state=seed).fit(X)
    assert model.converged_
    move = reference.improving_move(X, model.labels_, 5)
    if move is not None:  # Its gain is below the rounding error of float64.
        moved = model.labels_.copy()
        moved[move[0]] = move[1]
        assert reference.inertia(X, moved) >= model.inertia_ * (1 - 1e-12)


@pytest.mark.parametrize("ratio", [1e-6, 1e-9, 1e-10, 1e-11])
def test_certifies_heavy_rows_next_to_light_ones(ratio: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 2))
        w = np.where(rng.uniform(size=30) < 0.3, 1.0, ratio)
        model = BoostKMeans(4, tol=0, max_iter=1000, random_state=seed).fit(X, sample_weight=w)
        assert model.converged_
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        move = reference.improving_move(X, model.labels_, 4, w)
        if move is not None:
            moved = model.labels_.copy()
            moved[move[0]] = move[1]
            assert reference.inertia(X, moved, w) >= model.inertia_ * (1 - 1e-12)


def test_large_values_do_not_stop_early() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.integers(-3, 4, (20, 2)) * 1e10 + rng.normal(size=(20, 2))
        k = int(rng.integers(2, 6))
        model = BoostKMeans(k, init="random-partition", tol=0, max_iter=500, random_state=seed).fit(X)
        assert model.stop_reason_ == "certified"
        assert all(a.inertia >= b.inertia for a, b in itertools.pairwise(model.history_))


@pytest.mark.parametrize("moves", ["best", "first"])
@pytest.mark.parametrize("init", ["random-partition", "random", "k-means++", "auto"])
def test_history_decreases_to_the_final_inertia(moves: str, init: str) -> None:
    X, _ = blobs(3000, 8, 12, spread=2.0)
    plain: dict[str, Any] = {"repair": False, "annealing": 0}
    model = BoostKMeans(12, init=init, moves=moves, tol=0, random_state=0, **plain).fit(X)
    inertias = [record.inertia for record in model.history_]
    assert all(a >= b for a, b in itertools.pairwise(inertias))
    assert inertias[-1] == pytest.approx(model.inertia_, rel=1e-10)
    assert model.inertia_ == pytest.approx(reference.inertia(X, model.labels_), rel=1e-10)
    assert model.distortion_ == pytest.approx(model.inertia_ / 3000)
    assert model.n_iter_ == len(model.history_)
    assert model.history_[-1].moves == 0
    assert model.history_[-1].kind == "certify"
    assert all(r.evaluations == 3000 * 12 for r in model.history_)
    seconds = [r.seconds for r in model.history_]
    assert seconds == sorted(seconds)


def test_beats_lloyd_from_the_same_start() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 10))
    start = X[:50]
    lloyd = KMeans(50, init=start, n_init=1, tol=0, max_iter=1000).fit(X)
    boost = BoostKMeans(50, init=start, tol=0, max_iter=1000, random_state=0).fit(X)
    assert boost.inertia_ < lloyd.inertia_
    # A certified partition is a fixed point of Lloyd's algorithm.
    again = KMeans(50, init=boost.cluster_centers_, n_init=1, tol=0).fit(X)
    assert again.inertia_ == pytest.approx(boost.inertia_, rel=1e-12)
    np.testing.assert_array_equal(again.labels_, boost.labels_)


@pytest.mark.parametrize("tol", [0, 1e-4, 0.1])
@pytest.mark.parametrize("max_iter", [1, 100])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_predict_of_the_training_data_equals_labels(tol: float, max_iter: int, metric: str) -> None:
    X, _ = blobs(4000, 6, 20, spread=1.0)
    model = BoostKMeans(20, tol=tol, max_iter=max_iter, metric=metric, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-10)
    np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(model.labels_, minlength=20))


def test_stop_reasons() -> None:
    X, _ = blobs(3000, 8, 30, spread=1.0)
    assert BoostKMeans(30, random_state=0, tol=1e-2).fit(X).stop_reason_ == "tol"
    assert BoostKMeans(30, random_state=0, tol=0, max_iter=2).fit(X).stop_reason_ == "max_iter"
    assert BoostKMeans(30, random_state=0, tol=0, max_iter=1000).fit(X).stop_reason_ == "certified"
    short = BoostKMeans(30, random_state=0, tol=0, max_time=1e-9).fit(X)
    assert short.stop_reason_ == "max_time"
    np.testing.assert_array_equal(short.predict(X), short.labels_)


def test_callback_receives_each_sweep_and_can_stop() -> None:
    X, _ = blobs(3000, 8, 30, spread=1.0)
    seen = []
    model = BoostKMeans(30, random_state=0, tol=0, callback=lambda r: seen.append(r)).fit(X)
    assert seen == model.history_
    stopped = BoostKMeans(30, random_state=0, tol=0, callback=lambda r: True, n_init=5).fit(X)
    assert (stopped.stop_reason_, stopped.n_iter_, len(stopped.history_)) == ("callback", 0, 1)


def test_keeps_the_best_of_several_runs() -> None:
    X = np.random.default_rng(0).normal(size=(500, 4))
    rng = np.random.RandomState(0)
    single = [BoostKMeans(20, random_state=rng).fit(X).inertia_ for _ in range(5)]
    assert len(set(single)) > 1
    assert BoostKMeans(20, random_state=0, n_init=5).fit(X).inertia_ == pytest.approx(min(single))


@pytest.mark.parametrize("seed", range(10))
def test_defaults_find_planted_blobs(seed: int) -> None:
    X, planted = blobs(5000, 16, 32, seed=seed)
    model = BoostKMeans(32, random_state=seed).fit(X)
    assert model.inertia_ == pytest.approx(reference.inertia(X, planted), rel=1e-9)
