"""The nearest centres that are found with lower bounds are those that are found without."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.projection import Projection, Spectrum
from boostkmeans._data.rows import Rows
from boostkmeans._steps.nearest import nearest, nearest_with_bounds


def assert_same_nearest(X: NDArray[Any], k: int, n_axes: int, seed: int = 0, n_threads: int = 1) -> None:
    rng = np.random.default_rng(seed)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    points = rows.take(np.arange(len(X)))
    projection = Projection.of(rows, Spectrum.of(points), n_axes, 1)
    few = points[rng.integers(len(X), size=(k, 3))]
    centres = np.ascontiguousarray(np.where(np.arange(k)[:, None] % 2, few.mean(axis=1), few[:, 0]))
    labels, distances = nearest(rows, centres, n_threads)
    random = rng.integers(k, size=len(X)).astype(np.int32)
    for guesses in (random, labels, np.where(rng.random(len(X)) < 0.1, random, labels)):
        found = nearest_with_bounds(rows, projection, centres, guesses, n_threads)
        np.testing.assert_array_equal(found[0], labels)
        np.testing.assert_allclose(found[1], distances, rtol=1e-12, atol=1e-18)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(("n", "d", "k", "n_axes"), [
    (300, 20, 30, 1), (300, 20, 30, 10), (300, 20, 30, 19), (2000, 12, 1100, 4), (97, 33, 1, 5),
])  # fmt: skip
def test_every_shape(n: int, d: int, k: int, n_axes: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, d)) * 0.8 ** np.arange(d)
    assert_same_nearest(X, k, n_axes)


@given(
    seed=st.integers(0, 2**32 - 1), high=st.sampled_from([0, 1, 3, 100]), d=st.integers(1, 8),
    far=st.sampled_from([0.0, 1e4, 1e8]),
)  # fmt: skip
@settings(max_examples=100)
def test_ties_and_duplicates(seed: int, high: int, d: int, far: float) -> None:
    """Integers make ties frequent. They go to the smaller index."""
    rng = np.random.default_rng(seed)
    X = far + rng.integers(-high, high, (60, d), endpoint=True).astype(np.float64)
    assert_same_nearest(X, 12, max(1, d // 2), seed)


@pytest.mark.parametrize("dtype", ["f4", "f2", "u1", "i1"])
def test_every_dtype(dtype: str) -> None:
    X = np.clip(50 + 20 * np.random.default_rng(0).normal(size=(400, 17)), 0, 120).astype(dtype)
    assert_same_nearest(X, 25, 5)


def test_threads() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 16)) * 0.8 ** np.arange(16)
    assert_same_nearest(X, 40, 5, n_threads=3)


def test_rejects_arguments_that_do_not_match() -> None:
    X = np.random.default_rng(0).normal(size=(50, 6))
    rows = Rows.in_own_frame(X, "euclidean", 1)
    core = Projection.of(rows, Spectrum.of(X), 2, 1).core
    other = Rows.in_own_frame(X[:40], "euclidean", 1)
    labels, distances, centres = np.zeros(50, np.int32), np.empty(50), np.zeros((3, 6))
    with pytest.raises(ValueError, match="one value per row"):
        _core.bounded_nearest(rows.core, core, centres, labels[:9], distances, 1)
    with pytest.raises(ValueError, match="labels must lie in"):
        _core.bounded_nearest(rows.core, core, centres, labels + np.int32(3), distances, 1)
    with pytest.raises(ValueError, match="must belong to the rows"):
        _core.bounded_nearest(other.core, core, centres, labels[:40], distances[:40], 1)
