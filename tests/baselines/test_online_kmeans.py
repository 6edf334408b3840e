"""Online k-means, the paper's LVQ, and its blocks of rows."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import _core
from boostkmeans._data import rows as data_rows
from boostkmeans._data.frame import Frame
from boostkmeans._data.rows import Rows
from boostkmeans.baselines import OnlineKMeans
from boostkmeans.baselines._online import rows_per_block
from conftest import blobs

Floats = NDArray[np.float64]


@pytest.fixture(params=[False, True], ids=["expanded", "sparse"])
def sparse_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expand sparse rows to dense ones, as for small matrices, or not, as for large matrices."""
    if request.param:
        monkeypatch.setattr(data_rows, "MAX_EXPANDED_CELLS", 0)
        monkeypatch.setattr(data_rows, "MIN_EXPANDED_DENSITY", 2.0)


def online_pass(points: Floats, centres: Floats, order: NDArray[np.int64], rate: float) -> int:
    """Perform one iteration of online k-means in plain NumPy."""
    for row in order:
        own = ((centres - points[row]) ** 2).sum(axis=1).argmin()
        centres[own] += rate * (points[row] - centres[own])
    return len(order)


@pytest.mark.usefixtures("sparse_path")
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_online_pass_equals_numpy(form: Any) -> None:
    X, _ = blobs(200, 5, 4, spread=1.0)
    X[:, ::2] = np.maximum(X[:, ::2], 0)
    rows = Rows.in_own_frame(form(X), "euclidean", 1)
    rng = np.random.default_rng(0)
    points, centres = rows.frame.enter(X), rows.frame.enter(X[:4])
    expected = centres.copy()
    for rate in (0.5, 0.01, 0.99):
        order = rng.permutation(200)
        found = _core.online_pass(rows.core, centres, order, rate, block_rows=1, n_threads=1)
        assert found == 200
        online_pass(points, expected, order, rate)
    np.testing.assert_allclose(centres, expected, rtol=1e-9, atol=1e-12)


def passes_in_blocks(
    X: Any, k: int, rate: float, block_rows: int, n_threads: int = 1, rows: Rows | None = None
) -> Floats:
    """Return the centres after three passes, which start from random rows."""
    rows = rows or Rows.in_own_frame(X, "euclidean", 1)
    rng = np.random.default_rng(1)
    centres = rows.take(rng.choice(len(X), k, replace=False))
    for _ in range(3):
        order = rng.permutation(len(X))
        visited = _core.online_pass(
            rows.core, centres, order, rate, block_rows=block_rows, n_threads=n_threads
        )
        assert visited == len(X)
    return centres


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("block_rows", [2, 47, 48, 97, 299, 300, 1000])
@pytest.mark.parametrize("k", [1, 2, 40, 300])
def test_blocks_of_online_kmeans_are_exact(k: int, block_rows: int) -> None:
    X = np.random.default_rng(0).normal(size=(300, 17))
    single = passes_in_blocks(X, k, 0.3, 1)
    np.testing.assert_array_equal(passes_in_blocks(X, k, 0.3, block_rows), single)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    rng = np.random.default_rng(1)
    points = rows.frame.enter(X)
    expected = points[rng.choice(300, k, replace=False)]
    for _ in range(3):
        online_pass(points, expected, rng.permutation(300), 0.3)
    np.testing.assert_allclose(single, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["f8", "f4", "u1"])
def test_blocks_of_online_kmeans_with_threads(n_threads: int, dtype: str) -> None:
    X = np.random.default_rng(0).integers(0, 200, size=(5000, 64)).astype(dtype)
    single = passes_in_blocks(X, 500, 0.01, 1)
    np.testing.assert_array_equal(passes_in_blocks(X, 500, 0.01, 96 * n_threads, n_threads), single)


@given(
    seed=st.integers(0, 2**32 - 1), high=st.integers(1, 3), d=st.integers(1, 4),
    k=st.integers(1, 60), rate=st.sampled_from([0.0, 0.01, 0.5, 0.9]),
    far=st.sampled_from([0.0, 1e6]),
)  # fmt: skip
@settings(max_examples=150)
def test_ties_of_online_kmeans_in_blocks(
    seed: int, high: int, d: int, k: int, rate: float, far: float
) -> None:
    """Duplicates and equal distances are frequent. They go to the smaller index."""
    X = far + np.random.default_rng(seed).integers(0, high, size=(60, d), endpoint=True).astype(float)
    single = passes_in_blocks(X, k, rate, 1)
    for block_rows in (5, 60):
        np.testing.assert_array_equal(passes_in_blocks(X, k, rate, block_rows), single)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 5), k=st.integers(2, 12))
@settings(max_examples=150)
def test_ties_with_moved_centres(seed: int, d: int, k: int) -> None:
    """Centres move by halves, so that distances to moved centres are exact, too."""
    X = np.random.default_rng(seed).integers(0, 2, size=(30, d)) / 8
    rows = Rows(X, Frame(np.zeros(d), 0), None)
    single = passes_in_blocks(X, k, 0.5, 1, rows=rows)
    for block_rows in (3, 30):
        np.testing.assert_array_equal(passes_in_blocks(X, k, 0.5, block_rows, rows=rows), single)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_of_online_kmeans(n_threads: int, sift: NDArray[np.uint8]) -> None:
    settings_of_fit: dict[str, Any] = {"max_iter": 2, "random_state": 0}
    one = OnlineKMeans(200, n_threads=1, **settings_of_fit).fit(sift)
    more = OnlineKMeans(200, n_threads=n_threads, **settings_of_fit).fit(sift)
    np.testing.assert_array_equal(more.cluster_centers_, one.cluster_centers_)


def test_blocks_of_online_kmeans_by_clusters_and_threads() -> None:
    dense = SimpleNamespace(rows=SimpleNamespace(stays_sparse=False), n_threads=2)
    sparse_rows = SimpleNamespace(rows=SimpleNamespace(stays_sparse=True), n_threads=2)
    assert [rows_per_block(cast(Any, dense), k) for k in (63, 64, 10_000)] == [1, 96, 96]
    assert rows_per_block(cast(Any, sparse_rows), 10_000) == 1


def test_online_kmeans_equals_numpy() -> None:
    X, _ = blobs(150, 3, 4, spread=1.0)
    X += 100
    model = OnlineKMeans(4, init=X[:4], rate=0.1, decay=0.03, random_state=5).fit(X)
    rng, centres = np.random.RandomState(5), X[:4].copy()
    for rate in (0.1, 0.07, 0.04, 0.01):
        online_pass(X, centres, rng.permutation(150), rate)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-9)
    assert model.n_iter_ == 4, "the run must stop when the rate reaches 0"


def test_default_rate_reaches_zero_after_25_iterations() -> None:
    X, _ = blobs(60, 2, 3)
    model = OnlineKMeans(3, random_state=0).fit(X)
    assert model.n_iter_ == 25
    assert {(r.kind, r.evaluations) for r in model.history_} == {("online", 60 * 3)}
    assert OnlineKMeans(3, max_iter=7, random_state=0).fit(X).n_iter_ == 7
    assert OnlineKMeans(3, decay=0, max_iter=40, random_state=0).fit(X).n_iter_ == 40
    # 0.9 - 3 * 0.3 is slightly positive in floating point.
    assert OnlineKMeans(3, rate=0.9, decay=0.3, random_state=0).fit(X).n_iter_ == 3


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_online_kmeans_starts_from_distinct_rows(init: str) -> None:
    X, _ = blobs(100, 2, 5)
    model = OnlineKMeans(5, init=init, rate=1e-12, decay=0, max_iter=1, random_state=0).fit(X)
    gaps = np.abs(X[:, None] - model.cluster_centers_).max(axis=2)
    chosen = gaps.argmin(axis=0)
    assert gaps.min(axis=0).max() < 1e-8
    assert len(set(chosen.tolist())) == 5
