"""`sample`, `fit_levels` and `coverage`: exact numbers of rows, even shares, and threads."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ParameterError, load_model
from boostkmeans.curate import coverage, fit_levels, sample
from boostkmeans.curate._samples import choice_in_clusters
from boostkmeans.curate._samples.allocation import allocate, fill_evenly
from boostkmeans.curate._samples.levels import resampled
from boostkmeans.curate._samples.sampling import METHODS
from boostkmeans.io import open_vectors

Array = NDArray[Any]


def unequal(seed: int = 0) -> Array:
    """Return rows in eight places with 1,000 to 5 rows."""
    rng = np.random.default_rng(seed)
    sizes = [1000, 500, 200, 100, 50, 20, 10, 5]
    places = 20 * rng.normal(size=(8, 4))
    return np.repeat(places, sizes, axis=0) + rng.normal(size=(sum(sizes), 4))


@pytest.fixture(scope="module", name="X")
def unequal_rows() -> Array:
    return unequal()


@pytest.fixture(scope="module")
def tree(X: Array) -> BisectingBoostKMeans:
    return BisectingBoostKMeans(40, split="inertia", random_state=0).fit(X)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.data())
def test_even_shares(sizes: list[int], data: st.DataObject) -> None:
    n = data.draw(st.integers(0, sum(sizes)))
    shares = fill_evenly(np.array(sizes), n, np.random.RandomState(0))
    assert shares.sum() == n
    assert (shares <= sizes).all()
    open_shares = shares[shares < sizes]
    if len(open_shares):  # clusters that are not exhausted have equal shares, which no other exceeds
        assert open_shares.max() - open_shares.min() <= 1
        assert shares.max() <= open_shares.min() + 1


def test_shares_of_levels_by_hand() -> None:
    fine = np.repeat(np.arange(5), [100, 100, 100, 100, 4]).astype(np.int32)
    coarse = np.array([0, 0, 0, 0, 1], dtype=np.int32)[fine]
    rng = np.random.RandomState(0)
    assert allocate([coarse, fine], 8, rng).tolist() == [1, 1, 1, 1, 4]
    assert allocate([coarse, fine], 24, rng).tolist() == [5, 5, 5, 5, 4]
    assert sorted(allocate([fine], 8, rng).tolist()) == [1, 1, 2, 2, 2]
    gap = np.array([0, 2, 2], dtype=np.int32)  # cluster 1 has no rows
    assert allocate([gap], 3, rng).tolist() == [1, 0, 2]


@settings(max_examples=30)
@given(st.integers(0, 2**31 - 1), st.integers(1, 300), st.sampled_from(METHODS), st.data())
def test_samples_have_n_distinct_rows_for_any_number_of_threads(
    seed: int, n_rows: int, method: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, size=(n_rows, 2)).astype(np.float64)  # with equal rows
    labels = rng.integers(0, 9, size=n_rows)
    n = data.draw(st.integers(1, n_rows))
    found = [sample(labels, n, method=method, X=rows, random_state=seed, n_threads=t) for t in (1, 3)]
    assert found[0].dtype == np.int64
    assert len(np.unique(found[0])) == n
    assert np.array_equal(found[0], np.sort(found[0]))
    assert np.array_equal(found[0], found[1])
    if method != "uniform":
        shares, sizes = (np.bincount(one, minlength=9) for one in (labels[found[0]], labels))
        assert (shares[shares < sizes].max(initial=0) - shares[shares < sizes].min(initial=n)) <= 1


@pytest.mark.parametrize("method", METHODS)
def test_threads_of_models(X: Array, tree: BisectingBoostKMeans, method: str) -> None:
    one, two = (sample(tree, 150, method=method, X=X, random_state=3, n_threads=t) for t in (1, 2))
    assert np.array_equal(one, two)
    assert len(np.unique(one)) == 150


def test_hierarchical_samples_are_balanced(X: Array, tree: BisectingBoostKMeans) -> None:
    levels = [8]
    rows = sample(tree, 80, levels=levels, random_state=0)
    coarse = tree.cut(8)
    sizes, shares = np.bincount(coarse), np.bincount(coarse[rows], minlength=8)
    expected = fill_evenly(sizes, 80, np.random.RandomState(0))
    assert sorted(shares.tolist()) == sorted(expected.tolist())
    measured = coverage(coarse, rows)
    assert measured.after.entropy > measured.before.entropy + 0.5
    assert measured.after.largest_share < measured.before.largest_share / 2
    flat = sample(tree, 80, levels=[], random_state=0)
    assert np.bincount(tree.labels_[flat], minlength=40).min() >= 1


def test_models_without_a_tree_have_levels_too(X: Array) -> None:
    model = BoostKMeans(30, random_state=0).fit(X)
    rows = sample(model, 100, levels=[3], random_state=0)
    assert len(np.unique(rows)) == 100


def test_central_and_diverse_rows(X: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    model = BoostKMeans(8, random_state=0).fit(X)
    rows = sample(model, 8, method="central", X=X)
    distances = model.transform(X)[np.arange(len(X)), model.labels_]
    for row in rows:
        members = np.flatnonzero(model.labels_ == model.labels_[row])
        assert row == members[distances[members].argmin()]
    assert np.array_equal(sample(model.labels_, 8, method="central", X=X), rows), "means of the labels"
    diverse = sample(model, 80, method="diverse", X=X, random_state=0)
    drawn = sample(model, 80, random_state=0)
    spread = [coverage(model, one, X=X).max_distance for one in (diverse, drawn)]
    assert spread[0] is not None
    assert spread[1] is not None
    assert spread[0] < spread[1]
    monkeypatch.setattr(choice_in_clusters, "BYTES_AT_ONCE", 1000)
    assert np.array_equal(sample(model, 80, method="diverse", X=X, random_state=0), diverse)


def test_rows_of_saved_models(X: Array, tree: BisectingBoostKMeans, tmp_path: Path) -> None:
    tree.save(tmp_path / "m", labels=False)
    saved = load_model(tmp_path / "m")
    with pytest.raises(ValueError, match="has no labels"):
        sample(saved, 10)
    rows = sample(saved, 50, X=X[:500], random_state=0)
    assert rows.max() < 500
    labels = saved.predict(X[:500])
    shares, sizes = np.bincount(labels[rows], minlength=40), np.bincount(labels, minlength=40)
    assert ((shares > 0) == (sizes > 0)).sum() >= 38


@pytest.mark.parametrize("method", ["hierarchical", "central"])
def test_rows_in_another_order_are_assigned_again(X: Array, method: str) -> None:
    model = BoostKMeans(20, random_state=0).fit(X)
    rows = sample(model, 20, X=X[::-1], levels=[], method=method, random_state=0)
    labels = model.predict(X[::-1])
    assert len(np.unique(labels[rows])) == 20
    measured = coverage(model, rows, X=X[::-1])
    assert measured.after.n_clusters == 20
    assert measured.after.entropy == pytest.approx(np.log2(20))


def test_labels_of_the_fit_are_kept_for_its_rows(X: Array, tmp_path: Path) -> None:
    # Limits on sizes: the labels are not the nearest clusters.
    model = BoostKMeans(8, max_size=300, random_state=0).fit(X)
    assert (model.labels_ != model.predict(X)).any()
    np.save(tmp_path / "x.npy", X)
    with open_vectors(tmp_path / "x.npy") as vectors:
        for given in (X, X.tolist(), vectors):
            assert np.array_equal(
                sample(model, 90, X=given, random_state=0), sample(model, 90, random_state=0)
            )


def test_levels(X: Array) -> None:
    levels = fit_levels(X, [5, 40], n_resample=2, random_state=0, n_threads=1)
    again = fit_levels(X, [40, 5], n_resample=2, random_state=0, n_threads=2)
    assert levels.n_clusters == [40, 5]
    for one, other in zip(levels.labels, again.labels, strict=True):
        assert np.array_equal(one, other)
    pairs = set(zip(levels.labels[0].tolist(), levels.labels[1].tolist(), strict=True))
    assert len(pairs) == 40, "each cluster is part of one cluster of the next level"
    rows = sample(levels, 40, random_state=0)
    assert len(rows) == 40
    np.testing.assert_allclose(
        np.square(X[:, None] - levels.centers[0]).sum(axis=2).argmin(axis=1), levels.labels[0]
    )
    # A resampling moves centres from dense to sparse places. Clusters of dense places become larger.
    plain = fit_levels(X, [40], random_state=0)
    assert coverage(levels, [0]).before.entropy < coverage(plain, [0]).before.entropy


def test_resampled_rows() -> None:
    labels = np.repeat([0, 1, 2], [50, 3, 10]).astype(np.int32)
    rows = resampled(labels, 3, 5, np.random.RandomState(0))
    assert np.bincount(labels[rows]).tolist() == [5, 3, 5]
    assert (np.diff(rows) > 0).all()
    assert np.bincount(labels[resampled(labels, 3, None, np.random.RandomState(0))]).tolist() == [
        10,
        3,
        10,
    ]


def test_coverage_by_hand() -> None:
    X = np.array([[0.0], [1], [2], [10], [11]])
    found = coverage([0, 0, 0, 1, 1], [1, 3], X=X)
    assert (found.before.n_clusters, found.after.n_clusters, found.covered_share) == (2, 2, 1)
    assert found.after.entropy == pytest.approx(1)
    assert found.after.effective_clusters == pytest.approx(2)
    assert found.before.largest_share == pytest.approx(0.6)
    assert found.mean_distance == pytest.approx(3 / 5)
    assert found.max_distance == pytest.approx(1)
    one = coverage([0, 0, 1], [0, 1])
    assert (one.after.entropy, one.after.effective_clusters, one.covered_share) == (0, 1, 0.5)
    assert one.mean_distance is None


@pytest.mark.parametrize(
    "classes",
    [
        ["noun", "noun", "verb", "noun"],
        pd.Series(["noun", "noun", "verb", "noun"], index=list("wxyz")),
        np.array([b"n", b"n", b"v", b"n"]),
        [-1, -1, 7, -1],
        [0.5, 0.5, 1.5, 0.5],
        [True, True, False, True],
    ],
)
def test_coverage_of_classes_of_any_type(classes: Any) -> None:
    assert coverage(classes, [0, 2]) == coverage([0, 0, 1, 0], [0, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample([0, 1], 3), r"'n' parameter of sample must be an int in the range \[1, 2\]"),
        (lambda: sample([0, 1], 1, method="best"), "'method' parameter of sample"),
        (lambda: sample([0, 1], 1, method="central"), "needs the rows"),
        (lambda: sample([0, -1], 1), "a fitted estimator"),
        (lambda: sample([0, 1], 1, levels=[1]), "an array of labels"),
        (lambda: coverage([["a"], ["b"]], [0]), "a fitted estimator"),
        (lambda: coverage([], [0]), "a fitted estimator"),
        (lambda: coverage([0, 1], [2]), r"row numbers in the range \[0, 1\]"),
        (lambda: coverage([0, 1], []), "row numbers"),
        (lambda: fit_levels(np.eye(3), []), "'levels' parameter of fit_levels"),
        (lambda: fit_levels(np.eye(3), [2], n_resample=-1), "n_resample"),
    ],
)
def test_parameters_are_checked(call: Any, message: str) -> None:
    with (
        pytest.raises(ParameterError, match=message)
        if "needs" not in message
        else pytest.raises(ValueError, match=message)
    ):
        call()


def test_levels_are_checked(tree: BisectingBoostKMeans) -> None:
    with pytest.raises(ParameterError, match=r"ints in the range \[1, 40\]"):
        sample(tree, 3, levels=[50])
