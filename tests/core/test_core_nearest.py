"""Nearest centres, distances, descriptions and k-means++ of the core against NumPy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from boostkmeans import _core, instruction_sets
from boostkmeans._data.rows import DTYPES, Rows
from boostkmeans._steps.nearest import nearest

FloatArray = NDArray[np.float64]


def all_distances(X: NDArray[Any], C: FloatArray) -> FloatArray:
    return np.asarray(((X.astype(np.float64)[:, None, :] - C[None]) ** 2).sum(axis=2))


def data(n: int, d: int, dtype: Any, seed: int = 0) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, (n, d), dtype=dtype, endpoint=True)
    return rng.normal(3, 2, size=(n, d)).astype(dtype)


def unframed(X: NDArray[Any], isa: str = "") -> _core.Rows:
    """Return native rows with the values of X, neither shifted nor scaled."""
    return _core.Rows(X, shift=np.zeros(X.shape[1]), isa=isa)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (50, 3, 2), (130, 17, 33), (70, 300, 5)])
def test_nearest_and_second_nearest_match_numpy(dtype: Any, n: int, d: int, k: int) -> None:
    X, C = data(n, d, dtype), data(k, d, dtype, seed=1).astype(np.float64)
    rows = Rows.in_own_frame(X, "euclidean", 2)
    expected = all_distances(X, C)
    labels, gaps = nearest(rows, rows.frame.enter(C), 2)
    np.testing.assert_array_equal(labels, expected.argmin(axis=1))
    np.testing.assert_allclose(
        np.ldexp(gaps, -2 * rows.frame.exponent), expected.min(axis=1), rtol=1e-9, atol=1e-12
    )
    if k > 1:
        expected[np.arange(n), labels] = np.inf
        second, _ = nearest(rows, rows.frame.enter(C), 2, exclude=labels)
        np.testing.assert_array_equal(second, expected.argmin(axis=1))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60), d=st.integers(1, 5), k=st.integers(1, 40), high=st.integers(1, 4),
    isa=st.sampled_from(instruction_sets()),
)  # fmt: skip
def test_ties_go_to_the_first_centre(seed: int, n: int, d: int, k: int, high: int, isa: str) -> None:
    rng = np.random.default_rng(seed)  # Small integers have many exact ties.
    X = rng.integers(0, high, (n, d), endpoint=True).astype(np.float64)
    C = rng.integers(0, high, (k, d), endpoint=True).astype(np.float64)
    rows = unframed(X, isa)
    labels = np.empty(n, dtype=np.int32)
    _core.nearest(rows, C, labels, None, None, 1)
    np.testing.assert_array_equal(labels, all_distances(X, C).argmin(axis=1))


@pytest.mark.usefixtures("isa")
def test_float64_decides_close_distances() -> None:
    rng = np.random.default_rng(0)
    C = np.repeat(rng.normal(size=(4, 20)), 8, axis=0)
    C += 1e-10 * rng.normal(size=C.shape)  # float32 rounds each group of eight to one value.
    X = np.repeat(C, 3, axis=0)
    rows = unframed(X)
    labels = np.empty(len(X), dtype=np.int32)
    _core.nearest(rows, C, labels, None, None, 2)
    np.testing.assert_array_equal(labels, np.repeat(np.arange(32), 3))


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("spread", [1e-3, 1e-4, 1e-5])
def test_float64_corrects_errors_of_float32(spread: float) -> None:
    rng = np.random.default_rng(0)
    C = np.repeat(rng.normal(size=(4, 20)), 8, axis=0)
    C += spread * rng.normal(
        size=C.shape
    )  # Distances within a group are near the rounding error of |x|^2 in float32.
    X = np.repeat(C, 20, axis=0) + 0.7 * spread * rng.normal(size=(640, 20))
    labels = np.empty(len(X), dtype=np.int32)
    _core.nearest(unframed(X), C, labels, None, None, 2)
    np.testing.assert_array_equal(labels, all_distances(X, C).argmin(axis=1))


@pytest.mark.usefixtures("isa")
def test_rows_far_outside_of_the_frame_find_their_centre() -> None:
    C = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    X = np.array([[1e30, 0.0], [-1e30, 0.0], [0.0, 1e25], [1e-3, 2e-3]])
    labels, gaps = np.empty(4, dtype=np.int32), np.empty(4)
    _core.nearest(unframed(X), C, labels, gaps, None, 1)
    assert labels[3] == 2
    assert np.isfinite(gaps).all()
    _core.nearest(unframed(X.astype(np.float32)), C, labels, gaps, None, 1)
    assert labels[3] == 2
    assert np.isfinite(gaps).all()


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", DTYPES)
def test_distances_match_numpy(dtype: Any) -> None:
    X, C = data(33, 21, dtype), data(7, 21, dtype, seed=1).astype(np.float64)
    out = np.empty((33, 7))
    _core.distances(unframed(X), C, out, 2)
    np.testing.assert_allclose(out, all_distances(X, C), rtol=1e-12)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 63, 1000])
def test_describe_and_norms_match_numpy(dtype: Any, n: int) -> None:
    X = data(n, 19, dtype)
    wide = X.astype(np.float64)
    rows = unframed(X)
    low, high, bad = _core.describe(rows, 2)
    np.testing.assert_array_equal(low, wide.min(axis=0))
    np.testing.assert_array_equal(high, wide.max(axis=0))
    assert bad == -1
    np.testing.assert_allclose(_core.row_norms(rows, 2), np.linalg.norm(wide, axis=1), rtol=1e-14)


@pytest.mark.usefixtures("isa")
def test_every_float16_value_is_converted_correctly() -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    X = halves[np.isfinite(halves)].reshape(-1, 32)
    low, high, bad = _core.describe(unframed(X), 1)
    np.testing.assert_array_equal(low, X.min(axis=0).astype(np.float64))
    np.testing.assert_array_equal(high, X.max(axis=0).astype(np.float64))
    assert bad == -1
    zeros = np.zeros((1, 32))
    out = np.empty((len(X), 1))
    _core.distances(unframed(X), zeros, out, 1)
    np.testing.assert_array_equal(out[:, 0], (X.astype(np.float64) ** 2).sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_describe_reports_the_first_row_that_is_not_finite(dtype: Any, value: float) -> None:
    X = np.zeros((500, 9), dtype=dtype)
    X[321, 8] = X[400, 0] = value
    assert _core.describe(unframed(X), 2)[2] == 321


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", DTYPES)
def test_result_does_not_depend_on_strides(dtype: Any) -> None:
    base = data(80, 40, dtype)
    C = data(6, 20, np.float64, seed=1)
    for view in (base[::2, ::2], base[::-1, 10:30], base[:, ::-2], np.asfortranarray(base[:, :20])):
        out, expected = np.empty((len(view), 6)), np.empty((len(view), 6))
        _core.distances(_core.Rows(view, shift=np.ones(20)), C, out, 1)
        _core.distances(_core.Rows(np.ascontiguousarray(view), shift=np.ones(20)), C, expected, 1)
        np.testing.assert_array_equal(out, expected)
        assert nearest_labels(view, C) == nearest_labels(np.ascontiguousarray(view), C)


def nearest_labels(X: NDArray[Any], C: FloatArray) -> list[int]:
    labels = np.empty(len(X), dtype=np.int32)
    _core.nearest(_core.Rows(X, shift=np.ones(X.shape[1])), C, labels, None, None, 1)
    return [int(label) for label in labels]


@pytest.mark.parametrize("bad", [np.empty(5, np.int64), np.empty(10, np.int32)[::2]])
def test_rejects_outputs_that_need_a_copy(bad: NDArray[Any]) -> None:
    X = data(5, 2, np.float64)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.nearest(unframed(X), X, bad, None, None, 1)


class TestPlusPlus:
    """k-means++: the chosen rows, and the probability of choosing them."""

    @pytest.mark.usefixtures("isa")
    def test_labels_are_the_nearest_chosen_rows(self) -> None:
        X = data(3000, 12, np.float32)
        rows = Rows.in_own_frame(X, "euclidean", 2)
        chosen, labels = _core.plus_plus(rows.core, None, 50, 15, 7, 2)
        assert len(np.unique(chosen)) == 50
        gaps = all_distances(X, X[chosen].astype(np.float64))
        own = gaps[np.arange(3000), labels]
        np.testing.assert_allclose(own, gaps.min(axis=1), rtol=1e-4, atol=1e-4)

    def test_result_does_not_depend_on_threads(self) -> None:
        X = data(5000, 8, np.float64)
        rows = Rows.in_own_frame(X, "euclidean", 1)
        one = _core.plus_plus(rows.core, None, 30, 15, 3, 1)
        for n_threads in (2, 3, 8):
            found = _core.plus_plus(rows.core, None, 30, 15, 3, n_threads)
            np.testing.assert_array_equal(found[0], one[0])
            np.testing.assert_array_equal(found[1], one[1])

    @pytest.mark.usefixtures("isa")
    def test_draw_probability_is_proportional_to_the_squared_distance(self) -> None:
        # The probability of the second centre, given the first, can be computed by hand.
        X = np.array([[0.0], [1.0], [10.0], [-10.0]])
        rows = Rows.in_own_frame(X, "euclidean", 1)
        counts = np.zeros((4, 4))
        for seed in range(4000):
            first, second = _core.plus_plus(rows.core, None, 2, 1, seed, 1)[0]
            counts[first, second] += 1
        np.testing.assert_allclose(counts.sum(axis=1) / 4000, 0.25, atol=0.03)
        for first in range(4):
            expected = ((X - X[first]) ** 2)[:, 0]
            share = counts[first] / counts[first].sum()
            np.testing.assert_allclose(share, expected / expected.sum(), atol=0.05)

    def test_weights_equal_repeated_rows(self) -> None:
        X = np.array([[0.0], [5.0], [10.0]])
        rows = Rows.in_own_frame(X, "euclidean", 1)
        weights = np.array([1.0, 0.0, 3.0])
        firsts = [int(_core.plus_plus(rows.core, weights, 1, 1, s, 1)[0][0]) for s in range(2000)]
        assert firsts.count(1) == 0
        assert firsts.count(2) / 2000 == pytest.approx(0.75, abs=0.03)

    def test_allows_more_centres_than_distinct_rows(self) -> None:
        X = np.repeat(np.array([[0.0], [1.0]]), 20, axis=0)
        rows = Rows.in_own_frame(X, "euclidean", 1)
        chosen, labels = _core.plus_plus(rows.core, None, 10, 15, 0, 1)
        assert len(chosen) == 10
        assert {float(x) for x in X[chosen[:2], 0]} == {0.0, 1.0}
        np.testing.assert_array_equal(X[chosen][labels], X)

    def test_can_choose_all_rows(self) -> None:
        X = data(200, 3, np.float64)
        rows = Rows.in_own_frame(X, "euclidean", 1)
        chosen, labels = _core.plus_plus(rows.core, None, 200, 15, 0, 1)
        assert len(np.unique(chosen)) == 200
        np.testing.assert_array_equal(chosen[labels], np.arange(200))
