"""Fits that start with a sample: quality="fast", and the defaults for very many rows."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import BoostKMeans
from boostkmeans._data.rows import RowSet
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.plan import SAMPLE_SIZES, RequestedSettings, sample_size
from boostkmeans._steps.problem import Problem
from conftest import blobs

K = 20
ROWS = 4 * SAMPLE_SIZES["fast"][0] * K


def rows_to_draw(n: int, k: int, quality: str) -> int | None:
    rows = cast(RowSet, SimpleNamespace(n_rows=n, max_sample=None, in_memory=True, stays_sparse=False))
    requested = RequestedSettings("auto", "auto", "auto", "auto", quality, "best", 100)
    return sample_size(requested, Problem(rows, RowWeights.of(None, n), k, n_threads=1))


def note_of(model: BoostKMeans) -> str:
    return model.history_[0].note


def fast(n_clusters: int = K, **parameters: Any) -> BoostKMeans:
    return BoostKMeans(n_clusters, quality="fast", random_state=0, **parameters)


def test_samples_many_rows() -> None:
    X, _ = blobs(ROWS, 8, K)
    assert f"sample of {ROWS // 4} rows" in note_of(fast().fit(X))
    assert note_of(fast().fit(X)).endswith("then all rows")
    assert "sample of" not in note_of(fast().fit(X[:-1]))
    assert "sample of" not in note_of(BoostKMeans(K, random_state=0).fit(X))


def test_sample_size() -> None:
    assert rows_to_draw(ROWS, K, "fast") == ROWS // 4
    assert rows_to_draw(ROWS - 1, K, "fast") is None
    assert rows_to_draw(8192 * 100, 100, "balanced") == 1024 * 100
    assert rows_to_draw(8192 * 100 - 1, 100, "balanced") is None
    assert rows_to_draw(6144 * K, K, "balanced") == 1024 * K, "few clusters"
    assert rows_to_draw(6144 * K - 1, K, "balanced") is None
    assert rows_to_draw(10**9, K, "best") is None


def test_defaults_sample_very_many_rows() -> None:
    X = np.random.default_rng(0).normal(size=(2 * 8192, 4))
    X[::2] += 1
    sampled, whole = BoostKMeans(2, random_state=0).fit(X), BoostKMeans(2, random_state=0).fit(X[:-1])
    assert "sample of 2048 rows" in note_of(sampled)
    assert "sample of" not in note_of(whole)
    assert sampled.inertia_ == pytest.approx(whole.inertia_, rel=1e-3)
    assert "sample of" not in note_of(BoostKMeans(2, quality="best", random_state=0).fit(X))


@pytest.mark.parametrize(
    "parameters",
    [
        {"init": "k-means++"},
        {"init": np.zeros((K, 8))},
        {"repair": True},
        {"repair": 0},
        {"annealing": 0.1},
        {"min_size": 3},
        {"max_size": 1000},
    ],
)
def test_does_not_sample_if_all_rows_are_needed(parameters: dict[str, Any]) -> None:
    X, _ = blobs(ROWS, 8, K)
    assert "sample of" not in note_of(fast(max_iter=2, **parameters).fit(X))


def test_ends_in_a_certified_optimum() -> None:
    X, _ = blobs(ROWS, 8, K, spread=1.0)
    model = fast(tol=0, max_iter=300).fit(X)
    assert model.converged_
    gaps = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.labels_, gaps.argmin(axis=1))
    assert model.inertia_ == pytest.approx(gaps.min(axis=1).sum(), rel=1e-9)


def test_is_as_good_as_starting_with_all_rows() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    ratios = []
    for seed in range(5):
        sampled = BoostKMeans(50, quality="fast", random_state=seed).fit(X)
        whole = BoostKMeans(50, quality="fast", init="bisecting", random_state=seed).fit(X)
        assert "sample of" in note_of(sampled)
        ratios.append(sampled.inertia_ / whole.inertia_)
    assert np.mean(ratios) < 1.003


def test_result_does_not_depend_on_threads_or_storage() -> None:
    X, _ = blobs(ROWS, 8, K, spread=1.0)
    one = fast(n_threads=1).fit(X)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(one.labels_, fast(n_threads=n_threads).fit(X).labels_)
    np.testing.assert_array_equal(one.labels_, fast().fit(sparse.csr_array(X)).labels_)


def test_never_draws_rows_without_weight() -> None:
    X, _ = blobs(ROWS, 8, K, spread=1.0)
    weights = np.ones(ROWS)
    weights[::3] = 0
    X[::3] += 1e3
    model = fast(10).fit(X, sample_weight=weights)
    assert "sample of" in note_of(model)
    assert np.abs(model.cluster_centers_).max() < 500
    assert "sample of" not in note_of(fast(K).fit(X, sample_weight=weights))


def test_fewer_distinct_rows_than_clusters_in_the_sample() -> None:
    X = np.repeat(np.arange(4.0), 400)[:, None]
    with pytest.warns(Warning, match="distinct clusters"):
        model = fast(6).fit(X)
    assert "sample of" in note_of(model)
    assert model.inertia_ < 1e-20  # Centres are rounded means of equal rows.


def test_finds_a_rare_cluster_that_the_sample_missed() -> None:
    """Three of thousands of rows are far away. Only the sample is repaired, but sweeps separate them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4))
    X[:3] += 1e4
    model = fast(tol=0, max_iter=300).fit(X)
    assert len(set(model.labels_[:3]) & set(model.labels_[3:])) == 0


HEAVY_TAILS: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "far groups": lambda rng: np.concatenate([
        rng.normal(size=(20_000, 4)), np.repeat(1e3 * rng.normal(size=(20, 4)), 4, axis=0)
    ]),
    "log-normal": lambda rng: np.exp(2 * rng.normal(size=(20_000, 6))),
    "Cauchy": lambda rng: rng.standard_cauchy(size=(20_000, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", HEAVY_TAILS)
def test_finds_rare_rows_far_away(name: str) -> None:
    """The sample is not representative, so that the fit starts over with all rows."""
    X = HEAVY_TAILS[name](np.random.default_rng(0))
    model = fast(40).fit(X)
    whole = fast(40, init="bisecting").fit(X)
    assert model.inertia_ < 1.1 * whole.inertia_


def test_time_limit_ends_the_sample() -> None:
    X = np.random.default_rng(0).normal(size=(60_000, 16))
    model = fast(100, max_time=1e-3).fit(X)
    assert model.stop_reason_ == "max_time"
    gaps = ((X[:100, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.labels_[:100], gaps.argmin(axis=1))
