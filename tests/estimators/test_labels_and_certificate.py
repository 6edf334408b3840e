"""A certified result has the labels of `predict`, and a certificate that float64 can support."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from attacks.extreme_rows import directions, far_away, in_many_units, near_limits, with_outlier
from boostkmeans import BisectingBoostKMeans, BoostKMeans, distributed

SEEDS = range(12)


def layouts(X: NDArray[Any]) -> list[Any]:
    """Return the same rows in other memory layouts. Data frames of one array have the first one."""
    return [
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        np.repeat(X, 2, axis=0)[::2],
        X[::-1, ::-1].copy()[::-1, ::-1],
    ]


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


@pytest.mark.usefixtures("isa")
@pytest.mark.filterwarnings("ignore:Number of distinct")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_memory_layout_does_not_decide_ties(dtype: str) -> None:
    for seed in SEEDS:
        X, k = directions(np.random.default_rng(seed))
        rows = X.astype(dtype)
        model = BoostKMeans(k, metric="cosine", tol=0, random_state=seed).fit(rows)
        assert model.converged_
        for other in layouts(rows):
            assert np.array_equal(model.predict(other), model.labels_), seed
            found = BoostKMeans(k, metric="cosine", tol=0, random_state=seed).fit(other)
            assert np.array_equal(found.labels_, model.labels_), seed
            assert found.inertia_ == model.inertia_


@pytest.mark.filterwarnings("ignore:Number of distinct")
def test_distances_that_float64_cannot_represent_are_not_certified() -> None:
    X, _ = with_outlier(np.random.default_rng(0))
    with pytest.warns(RuntimeWarning, match="differ by more than 150 orders of magnitude"):
        model = BoostKMeans(5, tol=0, random_state=0).fit(X)
    assert not model.converged_
    assert model.stop_reason_ == "tol"
    # Two clusters are the outlier and the rest, which float64 can tell apart.
    assert BoostKMeans(2, tol=0, random_state=0).fit(X).converged_


def test_infinite_inertia_is_not_certified() -> None:
    X = np.random.default_rng(0).normal(size=(50, 5)) * 10.0 ** np.linspace(-200, 200, 5)
    with pytest.warns(RuntimeWarning, match="too large for float64"):
        model = BoostKMeans(3, tol=0, random_state=0).fit(X)
    assert model.inertia_ == np.inf
    assert not model.converged_
    assert model.stop_reason_ == "tol"
    shards = distributed.BoostKMeans(3, tol=0, random_state=0, engine="local")
    with pytest.warns(RuntimeWarning, match="too large for float64"):
        shards.fit([X[:30], X[30:]])
    assert not shards.converged_


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
