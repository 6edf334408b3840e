"""Projections: coordinates, rests, and the lower bounds of distances that follow from them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import _core
from boostkmeans._data.projection import Projection, Spectrum, contraction, spectrum_rows
from boostkmeans._data.rows import Rows

Floats = NDArray[np.float64]

DTYPES = ["f8", "f4", "f2", "u1", "i1"]
UNIT = 2.0**-24


def correlated(n: int, d: int, seed: int = 0) -> Floats:
    """Return rows whose columns are correlated, so that a few components hold most of the variance."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d)) * 0.7 ** np.arange(d)[:, None]
    return rng.normal(size=(n, d)) @ mixing


def points_of(rows: Rows) -> Floats:
    return rows.take(np.arange(rows.n_rows))


def project(
    X: Any, n_axes: int, metric: str = "euclidean", n_threads: int = 1
) -> tuple[Rows, Projection]:
    rows = Rows.in_own_frame(X, metric, n_threads)
    return rows, Projection.of(rows, Spectrum.of(points_of(rows)), n_axes, n_threads)


def error_of(points: Floats, n_axes: int) -> Floats:
    """Return the bound on the error of each coordinate, as documented in lower_bounds.cpp."""
    return np.asarray((points.shape[1] + 16) * UNIT * np.linalg.norm(points, axis=1))


def assert_projects(rows: Rows, projection: Projection) -> None:
    """Compare coordinates and rests with products in float64."""
    points, axes = points_of(rows), projection.axes
    shown = projection.values[:, :-1] / projection.scale
    error = error_of(points, projection.n_axes)
    assert (np.abs(shown - points @ axes) <= error[:, None]).all()
    square = np.square(points).sum(axis=1) - np.square(points @ axes).sum(axis=1)
    rests = (projection.values[:, -1] / projection.scale).astype(np.float64)
    lengths = np.linalg.norm(points, axis=1)
    of_square = 3 * np.sqrt(projection.n_axes) * error * lengths
    assert (np.abs(rests**2 - square) <= of_square + 1e-37).all()


@pytest.mark.usefixtures("isa")
class TestProject:
    """`_core.project` against products in NumPy, for each instruction set."""

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_every_dtype(self, dtype: str, metric: str) -> None:
        X = np.clip(30 + 8 * correlated(150, 21), 1, 120).astype(dtype)
        assert_projects(*project(X, 7, metric))

    @pytest.mark.parametrize(("n", "d", "n_axes"), [
        (1, 2, 1), (5, 3, 2), (47, 16, 15), (48, 16, 16), (49, 17, 16), (130, 33, 32), (97, 130, 49),
    ])  # fmt: skip
    def test_every_shape(self, n: int, d: int, n_axes: int) -> None:
        """Shapes below, at and above the widths of vectors, panels and batches."""
        assert_projects(*project(correlated(n, d), n_axes))

    def test_far_from_zero(self) -> None:
        rows, projection = project(1e6 + correlated(100, 12), 5)
        assert rows.frame.shift.min() > 9e5
        assert_projects(rows, projection)

    def test_strided_rows(self) -> None:
        whole = correlated(120, 40).astype(np.float32)
        for X in (whole[::3, ::2], np.asfortranarray(whole), whole[::-1, 5:17]):
            expected = project(X.copy(), 6)[1]
            np.testing.assert_array_equal(project(X, 6)[1].values, expected.values)

    def test_expanded_rows(self) -> None:
        X = np.maximum(correlated(120, 30), 0)
        rows, projection = project(sparse.csr_matrix(X), 6)
        assert not rows.stays_sparse
        np.testing.assert_array_equal(projection.values, project(X, 6)[1].values)

    def test_same_bits_for_any_number_of_threads(self) -> None:
        X = correlated(30_000, 32).astype(np.float32)
        expected = project(X, 12)[1]
        for n_threads in (2, 5):
            found = project(X, 12, n_threads=n_threads)[1]
            np.testing.assert_array_equal(found.axes, expected.axes)
            np.testing.assert_array_equal(found.values, expected.values)

    def test_scale_keeps_values_within_one(self) -> None:
        X = np.ones((50, 65))
        X[::2] = -1
        _, projection = project(X, 3)
        assert np.abs(projection.values).max() <= 1


def test_rejects_arrays_that_do_not_match() -> None:
    rows, projection = project(correlated(20, 6), 2)
    with pytest.raises(ValueError, match="one row per feature"):
        _core.project(rows.core, projection.axes[:5].copy(), 1.0, projection.values, 1)
    with pytest.raises(ValueError, match="one column more"):
        _core.project(rows.core, projection.axes, 1.0, projection.values[:, :2].copy(), 1)
    with pytest.raises(ValueError, match="one column more"):
        _core.Projection(values=projection.values, axes=projection.axes[:, :1].copy(), scale=1.0)
    with pytest.raises(ValueError, match="scale"):
        _core.Projection(values=projection.values, axes=projection.axes, scale=0.0)


def test_rejects_sparse_rows() -> None:
    X = sparse.random_array((3000, 1500), density=0.004, format="csr", random_state=0)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    assert rows.stays_sparse
    out = np.empty((3000, 3), dtype=np.float32)
    with pytest.raises(TypeError, match="dense"):
        _core.project(rows.core, np.eye(1500)[:, :2].copy(), 1.0, out, 1)


AWKWARD = (
    "normal",
    "constant columns",
    "low rank",
    "duplicates",
    "far away",
    "tiny",
    "one spike",
    "bytes",
)


def awkward(kind: str, n: int, d: int, seed: int) -> NDArray[Any]:
    """Return rows with one awkward property."""
    rng = np.random.default_rng(seed)
    X: NDArray[Any] = rng.normal(size=(n, d))
    if kind == "constant columns":
        X[:, rng.random(d) < 0.7] = rng.normal()
    elif kind == "low rank":
        X = X[:, :2] @ rng.normal(size=(min(2, d), d))
    elif kind == "duplicates":
        X = X[rng.integers(min(n, 3), size=n)]
    elif kind == "far away":
        X += 10.0 ** rng.integers(3, 12)
    elif kind == "tiny":
        X *= 1e-300
    elif kind == "one spike":
        X[rng.integers(n)] *= 1e9
    elif kind == "bytes":
        X = rng.integers(0, 256, size=(n, d)).astype(np.uint8)
    return X


@pytest.mark.slow
@given(
    kind=st.sampled_from(AWKWARD), n=st.integers(2, 40), d=st.integers(1, 40), n_axes=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
@example(kind="low rank", n=30, d=20, n_axes=2, seed=0)
@example(kind="low rank", n=30, d=20, n_axes=19, seed=0)
@settings(max_examples=150)
def test_bound_is_never_above_the_distance(kind: str, n: int, d: int, n_axes: int, seed: int) -> None:
    """The distance between projected rows exceeds the true one at most by rounding errors."""
    rows, projection = project(awkward(kind, n, d, seed), min(n_axes, d))
    points, values = points_of(rows), projection.values.astype(np.float64) / projection.scale
    true = np.linalg.norm(points[:, None] - points, axis=2)
    bound = np.linalg.norm(values[:, None] - values, axis=2)
    lengths = np.linalg.norm(points, axis=1)
    shown = np.sqrt(projection.n_axes) * error_of(points, projection.n_axes)
    rests = values[:, -1]
    of_square = 3 * lengths * shown
    with np.errstate(divide="ignore", invalid="ignore"):
        of_rest = np.fmin(np.sqrt(of_square), of_square / rests)
    error = shown + of_rest + 4 * UNIT * lengths
    assert (bound <= true + error[:, None] + error + 1e-18).all()


@given(
    kind=st.sampled_from(AWKWARD), n=st.integers(2, 40), d=st.integers(1, 60), n_axes=st.integers(1, 60),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(max_examples=100)
def test_axes_lengthen_no_vector(kind: str, n: int, d: int, n_axes: int, seed: int) -> None:
    rows = Rows.in_own_frame(awkward(kind, n, d, seed), "euclidean", 1)
    exact = Spectrum.of(points_of(rows)).axes[:, : min(n_axes, d)]
    axes = contraction(exact)
    for scale in (1.0, 0.125):  # The core multiplies by a power of two, and rounds to float32.
        rounded = (axes * scale).astype(np.float32).astype(np.float64) / scale
        assert np.linalg.norm(rounded, 2) <= 1
    assert np.linalg.norm(rounded, 2) >= 1 - 1e-2
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    assert (signs == 1).all()


def test_axes_do_not_depend_on_small_errors() -> None:
    """Another linear algebra library may round differently, and flip the signs of eigenvectors."""
    axes = Spectrum.of(correlated(500, 20)).axes[:, :8]
    noise = 1e-13 * np.random.default_rng(0).normal(size=axes.shape)
    flips = np.where(np.arange(8) % 2, 1.0, -1.0)
    np.testing.assert_array_equal(contraction(axes), contraction((axes + noise) * flips))


class TestSpectrum:
    def test_shares_are_those_of_the_variance(self) -> None:
        X = correlated(400, 12)
        spectrum = Spectrum.of(X)
        variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
        np.testing.assert_allclose(spectrum.shares, np.cumsum(variances) / variances.sum())
        np.testing.assert_allclose(spectrum.axes.T @ spectrum.axes, np.eye(12), atol=1e-12)

    def test_integer_weights_count_rows_repeatedly(self) -> None:
        X, weights = correlated(60, 5), np.arange(60) % 4
        weighted = Spectrum.of(X, weights.astype(np.float64))
        repeated = Spectrum.of(np.repeat(X, weights, axis=0))
        np.testing.assert_allclose(weighted.shares, repeated.shares)
        np.testing.assert_allclose(np.abs(weighted.axes), np.abs(repeated.axes), atol=1e-9)

    def test_components_for_a_share(self) -> None:
        spectrum = Spectrum(np.eye(4), np.array([0.5, 0.8, 0.9, 1.0]))
        shares = (0.1, 0.5, 0.51, 0.8, 0.9, 0.95, 1.0)
        assert [spectrum.components_for(share) for share in shares] == [1, 1, 2, 2, 3, 4, 4]

    def test_components_never_exceed_the_features(self) -> None:
        """Rounding errors may leave the last share below 1."""
        assert Spectrum(np.eye(2), np.array([0.5, 1 - 1e-16])).components_for(1.0) == 2

    def test_constant_rows_need_one_component(self) -> None:
        spectrum = Spectrum.of(np.full((10, 3), 7.0))
        assert spectrum.components_for(0.99) == 1

    def test_sample_has_several_rows_per_feature(self) -> None:
        assert spectrum_rows(10) == 2048
        assert spectrum_rows(4000) == 8000


def test_projected_rows_leave_out_the_rests() -> None:
    _, projection = project(correlated(50, 9), 4)
    rows = projection.rows
    assert (rows.n_rows, rows.n_features) == (50, 4)
    np.testing.assert_array_equal(points_of(rows), projection.values[:, :4])
