"""Unusual input gives a correct result or a clear error, never a crash or NaN."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from attacks import awkward_rows
from boostkmeans import BisectingBoostKMeans, BoostKMeans, baselines
from conftest import blobs, same_partition

INITS = ["auto", "random-partition", "random", "k-means++"]


def assert_sound(model: BoostKMeans, X: NDArray[Any]) -> None:
    assert model.labels_.shape == (len(X),)
    assert model.labels_.min() >= 0
    assert model.labels_.max() < model.n_clusters
    assert np.isfinite(model.cluster_centers_).all()
    assert model.inertia_ >= 0
    assert model.cluster_sizes_.sum() == len(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert not np.isnan(model.transform(X)).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_rejects_values_that_are_not_finite(value: float, dtype: Any) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(dtype)
    model = BoostKMeans(3, random_state=0).fit(X)
    X[17, 2] = value
    name = "NaN" if np.isnan(value) else "infinity"
    for call in (BoostKMeans(3).fit, model.predict, model.transform, model.score, model.partial_fit):
        with pytest.raises(ValueError, match=rf"Input X contains {name} .*row 17, column 2"):
            call(X)
    with pytest.raises(ValueError, match="row 17, column 2"):
        BoostKMeans(3, metric="cosine").fit(X)


def test_names_the_row_in_later_batches() -> None:
    X = np.zeros((9000, 2), dtype=np.float32)
    model = BoostKMeans(1).fit(X)
    X[8500, 1] = np.nan
    with pytest.raises(ValueError, match="row 8500, column 1"):
        model.transform(X)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_fits_equal_rows(init: str, metric: str) -> None:
    X = np.full((30, 4), 7.0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\) found smaller"):
        model = BoostKMeans(5, init=init, metric=metric, random_state=0).fit(X)
    assert_sound(model, X)
    assert model.inertia_ == pytest.approx(0, abs=1e-25)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("scale", [1.0, 0.1, 1e30])
def test_warns_about_more_clusters_than_distinct_rows(init: str, scale: float) -> None:
    X = np.repeat(np.array([[0.0, 1], [2, 3], [5, 8]]), 7, axis=0) * scale
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(3\)"):
        model = BoostKMeans(6, init=init, random_state=0, tol=0).fit(X)
    assert_sound(model, X)
    assert model.inertia_ == pytest.approx(0, abs=1e-20 * scale**2)
    assert same_partition(model.labels_, np.repeat([0, 1, 2], 7))


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("seed", range(10))
def test_finds_each_distinct_row(init: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 2))
    X = points[rng.permutation(np.r_[np.arange(6), rng.integers(0, 6, 50)])]
    model = BoostKMeans(6, init=init, random_state=seed).fit(X)
    assert_sound(model, X)
    assert model.inertia_ == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("init", INITS)
def test_one_cluster_and_one_cluster_per_row(init: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    each = BoostKMeans(40, init=init, random_state=0).fit(X)
    assert_sound(each, X)
    assert sorted(each.labels_) == list(range(40))
    assert each.inertia_ == pytest.approx(0, abs=1e-20)
    one = BoostKMeans(1, init=init, random_state=0).fit(X)
    assert_sound(one, X)
    np.testing.assert_allclose(one.cluster_centers_[0], X.mean(axis=0), rtol=1e-10)
    assert one.inertia_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


def test_predicts_rows_far_outside_of_the_training_data() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    far = np.array([[1e25, 0, 0], [0, 0, 0], [0, -1e300, 0]])
    np.testing.assert_array_equal(BoostKMeans(1).fit(X).predict(far), [0, 0, 0])
    labels = BoostKMeans(2, random_state=0).fit(X).predict(far)
    assert set(labels.tolist()) <= {0, 1}


def test_accepts_any_number_of_threads() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert BoostKMeans(2, n_threads=10**12, random_state=0).fit(X).inertia_ > 0


def test_fits_one_row_and_one_column() -> None:
    assert_sound(BoostKMeans(1).fit([[3.0, 4.0]]), np.array([[3.0, 4.0]]))
    X = np.r_[np.zeros(10), np.ones(10)][:, None]
    model = BoostKMeans(2, random_state=0).fit(X)
    assert_sound(model, X)
    assert sorted(model.cluster_centers_[:, 0]) == [0.0, 1.0]


def test_ignores_constant_columns() -> None:
    X, planted = blobs(300, 6, 4)
    X[:, 1] = 1e9
    X[:, 4] = 0
    model = BoostKMeans(4, random_state=0).fit(X)
    assert_sound(model, X)
    assert same_partition(model.labels_, planted)


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        (np.float32, 1e30), (np.float32, 1e-40), (np.float32, 1e-30), (np.float64, 1e200),
        (np.float64, 1e-200), (np.float64, 1e-310), (np.float64, 1e306), (np.float16, 3e-6),
        (np.float16, 600),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:The inertia is too large:RuntimeWarning")
def test_fits_huge_and_tiny_values(dtype: Any, scale: float) -> None:
    X, planted = blobs(400, 5, 6)
    X = (X * scale).astype(dtype)
    model = BoostKMeans(6, random_state=0).fit(X)
    assert_sound(model, X)
    assert same_partition(model.labels_, planted)
    members = [X[planted == r].astype(np.float64) for r in range(6)]
    expected = np.array([(points / len(points)).sum(axis=0) for points in members])
    found = model.cluster_centers_[np.lexsort(model.cluster_centers_.T)]
    np.testing.assert_allclose(found, expected[np.lexsort(expected.T)], rtol=1e-5, atol=1e-3 * scale)


def test_warns_about_an_inertia_that_overflows() -> None:
    X, _ = blobs(400, 5, 6)
    with pytest.warns(RuntimeWarning, match="inertia is too large"):
        model = BoostKMeans(6, random_state=0).fit(X * 1e200)
    assert model.inertia_ == np.inf


def test_fits_values_at_both_ends_of_float64() -> None:
    X = np.array([[1.7e308], [1.6e308], [-1.7e308], [-1.6e308]])
    with pytest.warns(RuntimeWarning, match="inertia is too large"):
        model = BoostKMeans(2, random_state=0).fit(X)
    assert_sound(model, X)
    assert same_partition(model.labels_, np.array([0, 0, 1, 1]))


def test_outlier_gets_its_own_cluster() -> None:
    X, _ = blobs(300, 3, 4)
    X[5] = 1e18
    for dtype in (np.float64, np.float32):
        model = BoostKMeans(5, random_state=0).fit(X.astype(dtype))
        assert_sound(model, X.astype(dtype))
        assert model.cluster_sizes_[model.labels_[5]] == 1


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint16, np.longdouble]
)
def test_accepts_other_dtypes(dtype: Any) -> None:
    X = np.random.default_rng(0).integers(0, 2, (100, 8)).astype(dtype)
    model = BoostKMeans(4, random_state=0).fit(X)
    assert_sound(model, X)
    np.testing.assert_array_equal(
        model.labels_, BoostKMeans(4, random_state=0).fit(X.astype(np.float64)).labels_
    )


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros((0, 3)), ValueError, "0 sample"),
        (np.zeros((3, 0)), ValueError, "0 feature"),
        (np.zeros(10), ValueError, "Expected 2D array"),
        (np.zeros((2, 3, 4)), ValueError, "dim 3"),
        (np.ones((10, 2)) * 1j, ValueError, "Complex data not supported"),
        (np.array([["a", "b"]] * 9), ValueError, "could not convert"),
        (np.array([[object(), 1.0]] * 9), TypeError, "float"),
    ],
)
def test_rejects_input_that_is_not_a_table_of_numbers(
    X: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        BoostKMeans(2).fit(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_accepts_data_frames(library: str) -> None:
    module = pytest.importorskip(library)
    X, planted = blobs(200, 3, 4)
    frame = module.DataFrame({f"column{j}": X[:, j] for j in range(3)})
    model = BoostKMeans(4, random_state=0).fit(frame)
    assert same_partition(model.labels_, planted)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_fits_zero_rows_under_cosine() -> None:
    X = np.array([[1.0, 0], [2, 0], [0, 3], [0, 1], [0, 0]])
    model = BoostKMeans(2, metric="cosine", random_state=0).fit(X)
    assert_sound(model, X)
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]


def test_rejects_rows_too_short_for_a_direction() -> None:
    with pytest.raises(ValueError, match="Row 1 of X has length 1e-310"):
        BoostKMeans(1, metric="cosine").fit([[1.0, 0.0], [1e-310, 0.0]])
    with pytest.raises(ValueError, match="Row 1 of X has length inf"):
        BoostKMeans(1, metric="cosine").fit([[1.0, 0.0], [1.7e308, 1.7e308]])


def test_fits_weights_of_very_different_size() -> None:
    X, _ = blobs(300, 3, 4)
    w = 10.0 ** np.random.default_rng(0).uniform(-30, 30, 300)
    model = BoostKMeans(4, random_state=0, tol=0).fit(X, sample_weight=w)
    assert_sound(model, X)
    assert np.isfinite(model.inertia_)


def test_rejects_prediction_before_fit_and_wrong_width() -> None:
    with pytest.raises(NotFittedError):
        BoostKMeans(2).predict([[1.0]])
    by_hand = BoostKMeans(2)
    by_hand.cluster_centers_ = np.zeros((2, 1))
    with pytest.raises(NotFittedError):
        by_hand.predict([[1.0]])
    model = BoostKMeans(2).fit(np.random.default_rng(0).normal(size=(9, 3)))
    with pytest.raises(ValueError, match="X has 2 features, but BoostKMeans is expecting 3"):
        model.predict(np.zeros((4, 2)))


def test_failed_fit_leaves_the_model_unchanged() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = BoostKMeans(3, random_state=0).fit(X)
    centres = model.cluster_centers_.copy()
    for call in (model.partial_fit, model.fit):
        with pytest.raises(ValueError, match="NaN"):
            call(np.full((50, 3), np.nan))
        np.testing.assert_array_equal(model.cluster_centers_, centres)
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("kind", [BoostKMeans, BisectingBoostKMeans, baselines.KMeans])
@pytest.mark.parametrize("wrong", [np.full((9, 2), np.nan), np.zeros((1, 2)), np.zeros((9, 0))])
def test_failed_fit_keeps_the_fitted_attributes(kind: Any, wrong: NDArray[Any]) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = kind(3, random_state=0).fit(X)
    labels = model.predict(X)
    with pytest.raises(ValueError, match=r"NaN|n_samples|minimum"):
        model.fit(wrong)
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(X), labels)


@pytest.mark.filterwarnings("ignore")
def test_awkward_data_sets_are_fitted_or_refused() -> None:
    """`make hostile` tries more of them."""
    for number in range(300):
        assert not awkward_rows.fit(number), number


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", ["labels are out of range", "labels differ", "inertia is"])
def test_faults_of_awkward_data_sets_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: BoostKMeans, X: Any, **_: Any) -> BoostKMeans:
        fit(self, X)
        if fault == "inertia is":
            self.inertia_ += 1.0
        else:
            n_labels = self.cluster_centers_.shape[0] if fault == "labels differ" else 1000
            self.labels_ = (self.labels_ + n_labels - 1) % n_labels
        return self

    fit = BoostKMeans.fit
    monkeypatch.setattr(BoostKMeans, "fit", broken)
    assert any(fault in awkward_rows.fit(number) for number in range(60))
