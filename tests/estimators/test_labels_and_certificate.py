"""A certified result has the labels of `predict`, and a certificate that float64 can support."""

from typing import Any

import numpy as np
import pytest

from boostkmeans import BisectingBoostKMeans, BoostKMeans, distributed

SEEDS = range(12)


def directions(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows with a few directions and many lengths, and more clusters than directions."""
    n, d, distinct = int(rng.integers(20, 60)), int(rng.integers(2, 5)), int(rng.integers(2, 6))
    rows = rng.normal(size=(distinct, d))[rng.integers(distinct, size=n)]
    return rows * rng.uniform(0.1, 10, size=(n, 1)), distinct + int(rng.integers(1, 6))


def with_outlier(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows whose distances are lost in the frame, because of one outlier."""
    rows = rng.normal(size=(50, 3))
    rows[rng.integers(50), 0] = 1e165
    return rows, int(rng.integers(3, 8))


def in_many_units(rng: np.random.Generator) -> tuple[Any, int]:
    """Return columns from 1e-200 to 1e200, with few different values in the largest one."""
    d = int(rng.integers(3, 8))
    rows = rng.normal(size=(60, d)) * np.logspace(-200, 200, d)
    rows[:, -1] = rng.choice([0, 1e200, 3e200], size=60)
    return rows, int(rng.integers(2, 10))


def near_limits(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows so small that centres are rounded to subnormal numbers."""
    return rng.normal(size=(60, 2)) * 1e-312, 4


def far_away(rng: np.random.Generator) -> tuple[Any, int]:
    """Return rows so far from 0 that centres are rounded."""
    return 1e14 + rng.integers(10, size=(60, 2)).astype(float), 7


@pytest.mark.parametrize("make", [directions, with_outlier, in_many_units, near_limits, far_away])
@pytest.mark.filterwarnings("ignore:The values of X differ", "ignore:Number of distinct")
@pytest.mark.filterwarnings("ignore:The inertia is too large")
def test_labels_are_those_of_predict(make: Any) -> None:
    metric = "cosine" if make is directions else "euclidean"
    for seed in SEEDS:
        X, k = make(np.random.default_rng(seed))
        weights = np.ones(len(X)) if seed % 3 else np.random.default_rng(seed).integers(0, 3, len(X))
        if np.count_nonzero(weights) < k:
            continue
        for model in (
            BoostKMeans(k, metric=metric, tol=0, random_state=seed),
            BisectingBoostKMeans(k, metric=metric, refine=True, tol=0, random_state=seed),
        ):
            model.fit(X, sample_weight=weights)
            assert np.array_equal(model.predict(X), model.labels_), (seed, model)
            assert model.converged_ == (model.stop_reason_ == "certified")


@pytest.mark.filterwarnings("ignore:Number of distinct")
def test_distances_that_float64_cannot_represent_are_not_certified() -> None:
    X, _ = with_outlier(np.random.default_rng(0))
    with pytest.warns(RuntimeWarning, match="differ by more than 150 orders of magnitude"):
        model = BoostKMeans(5, tol=0, random_state=0).fit(X)
    assert not model.converged_
    assert model.stop_reason_ == "tol"
    # Two clusters are the outlier and the rest, which float64 can tell apart.
    assert BoostKMeans(2, tol=0, random_state=0).fit(X).converged_


@pytest.mark.filterwarnings("ignore:Number of distinct")
def test_ties_do_not_cost_the_certificate() -> None:
    for seed in SEEDS:
        X, k = directions(np.random.default_rng(seed))
        assert BoostKMeans(k, metric="cosine", tol=0, random_state=seed).fit(X).converged_


@pytest.mark.filterwarnings("ignore:Number of distinct")
def test_shards_have_the_labels_of_predict() -> None:
    for seed in range(3):
        X, k = directions(np.random.default_rng(seed))
        model = distributed.BoostKMeans(k, metric="cosine", tol=0, random_state=seed, engine="local")
        shards = [X[:10], X[10:]]
        model.fit(shards)
        assert np.array_equal(np.concatenate(model.predict(shards)), np.concatenate(model.labels_))
