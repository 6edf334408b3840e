"""Baselines with values near the limits of float64, and with invalid CSR matrices."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from attacks.invalid_input import REFUSED
from boostkmeans.baselines import METHODS, RBK, Refined
from boostkmeans.baselines._scikit_learn.kmeans import ScikitLearnKMeans


def rows() -> Any:
    """Return rows of small integers, which powers of two scale without rounding."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, (40, 3)) + 9 * np.eye(3)[rng.integers(0, 3, 40)]


def result(name: str, X: Any) -> Any:
    """Return the labels of a method, or None if it cannot scale the rows to unit length."""
    try:
        model = METHODS[name](3, 0).fit(X)
    except ValueError as error:
        if "cannot be scaled to unit length" not in str(error):
            raise
        return None
    assert np.isfinite(model.cluster_centers_).all(), name
    spread = getattr(model, "cluster_spread_", [])  # `Refined` has none.
    assert not np.isnan([model.inertia_, *spread]).any(), name
    assert not np.isnan([getattr(one, "inertia", 0.0) for one in model.history_]).any(), name
    np.testing.assert_array_equal(model.predict(X[:0:-1]), model.predict(X)[:0:-1])
    return model.labels_


@pytest.mark.filterwarnings("ignore:The inertia is too large:RuntimeWarning")
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("exponent", [700, 1018, -700, -1060])
def test_labels_do_not_depend_on_the_unit(exponent: int, is_sparse: bool) -> None:
    kind = sparse.csr_array if is_sparse else np.asarray
    names = [name for name in METHODS if not name.startswith(("rb", "direct")) or "i2" in name]
    for name in names:
        found = result(name, kind(np.ldexp(rows(), exponent)))
        if found is not None:
            np.testing.assert_array_equal(found, result(name, kind(rows())), name)
        else:  # Only rows that are nearly zero cannot be scaled to unit length.
            assert exponent == -1060
            assert "RBK" in name or "(i2)" in name


@pytest.mark.parametrize("exponent", [60, -70])
def test_scikit_learn_with_extreme_float32(exponent: int) -> None:
    X = rows().astype(np.float32)
    plain = ScikitLearnKMeans(3, random_state=0).fit(X)
    scaled = ScikitLearnKMeans(3, random_state=0).fit(np.ldexp(X, exponent))
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    np.testing.assert_array_equal(scaled.cluster_centers_, np.ldexp(plain.cluster_centers_, exponent))
    for one, other in zip(scaled.history_, plain.history_, strict=True):
        assert one.inertia == pytest.approx(np.ldexp(other.inertia, 2 * exponent), rel=1e-6)


def test_scikit_learn_starts_from_scaled_centres() -> None:
    X = rows()
    plain = ScikitLearnKMeans(3, init=X[:3]).fit(X)
    large = np.ldexp(X, 900)
    with pytest.warns(RuntimeWarning, match="inertia is too large"):
        scaled = ScikitLearnKMeans(3, init=large[:3]).fit(large)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


def test_inertia_before_a_refinement_in_another_metric() -> None:
    X = sparse.csr_array(np.ldexp(rows(), 300))
    tree = RBK(3, random_state=0)
    before = Refined(tree, metric="euclidean", random_state=0).fit(X).history_[0].inertia
    labels = tree.fit(X).labels_
    means = np.array([rows()[labels == c].mean(axis=0) for c in range(3)])
    expected = np.square(rows() - means[labels]).sum()
    assert before == pytest.approx(np.ldexp(expected, 600), rel=1e-12)


@pytest.mark.parametrize("name", [name for name, (X, _) in REFUSED.items() if sparse.issparse(X)])
def test_refuse_invalid_matrices(name: str) -> None:
    X, match = REFUSED[name]
    for method in METHODS.values():
        with pytest.raises(ValueError, match=match):
            method(2, 0).fit(X)
