"""Measures of clusterings: values computed by hand, identities, errors."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.metrics.cluster import contingency_matrix

import criterion_reference
from boostkmeans import BoostKMeans, metrics
from boostkmeans.metrics import _labelled_rows
from conftest import blobs

# Cluster 0 has (0,0), (2,0), (1,3): mean (1,1), squared distances 2, 2, 4.
# Cluster 1 has (5,5), (5,7): mean (5,6), squared distances 1, 1. Cluster 2 has (9,9) alone.
X = np.array([[0.0, 0], [5, 5], [2, 0], [9, 9], [1, 3], [5, 7]])
LABELS = np.array([0, 1, 0, 2, 0, 1])

# Class a has 3 rows in cluster 0, class b 1 in cluster 0 and 2 in cluster 1, class c 2 in cluster 1.
CLASSES = ["a", "b", "a", "c", "b", "a", "c", "b"]
CLUSTERS = [0, 1, 0, 1, 1, 0, 1, 0]


def random_case(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Return rows with many zeros, labels with a gap, and weights with some zeros."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 9)) * (rng.random((60, 9)) < 0.3)
    labels = rng.choice([0, 1, 2, 4, 7], size=60)
    return rows, labels, rng.integers(0, 4, size=60).astype(float)


# ---- criteria


@pytest.mark.parametrize("criterion", ["i1", "i2", "e1", "g1", "h1", "h2"])
def test_document_criterion(criterion: str) -> None:
    rows, labels, weights = random_case(3)
    rows = abs(rows)
    kept = rows.any(axis=1)  # Rows of zeros do not count.
    assert not kept.all()
    expected = criterion_reference.value(
        criterion_reference.unit(rows[kept]), labels[kept], criterion, weights[kept]
    )
    for X in (rows, sparse.csr_array(rows)):
        found = metrics.document_criterion(X, labels, criterion, sample_weight=weights)
        assert found == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="'criterion' parameter of document_criterion"):
        metrics.document_criterion(rows, labels, "i3")


def test_i1_of_unit_rows_is_the_criterion_i1() -> None:
    rows = abs(random_case(4)[0]) + 0.1
    unit = criterion_reference.unit(rows)
    labels = np.arange(60) % 4
    value = metrics.document_criterion(rows, labels, "i1")
    assert value == pytest.approx(metrics.i1(unit, labels), rel=1e-12)


# ---- distortion


def test_average_distortion_by_hand() -> None:
    assert metrics.average_distortion(X, LABELS) == pytest.approx((2 + 2 + 4 + 1 + 1 + 0) / 6)


def test_average_distortion_to_given_centres_by_hand() -> None:
    # To (0,0): 0, 4, 10. To (5,5): 0, 4. To (9,8): 1.
    found = metrics.average_distortion(X, LABELS, centers=[[0, 0], [5, 5], [9, 8]])
    assert found == pytest.approx((0 + 4 + 10 + 0 + 4 + 1) / 6)


def test_average_distortion_with_weights_by_hand() -> None:
    # (0,0) three times and (4,0) once: mean (1,0), (3 * 1 + 1 * 9) / 4 = 3.
    assert metrics.average_distortion([[0.0, 0.0], [4.0, 0.0]], [0, 0], sample_weight=[3, 1]) == 3.0
    # A cluster of weight 0 does not count.
    rows, weights = [[0.0], [4.0], [99.0], [77.0]], [3, 1, 0, 0]
    assert metrics.average_distortion(rows, [0, 0, 1, 1], sample_weight=weights) == 3.0


def test_average_distortion_equals_that_of_fitted_model() -> None:
    rows, _ = blobs(200, 5, 4)
    weights = np.random.default_rng(0).uniform(0.5, 2, 200)
    model = BoostKMeans(4, random_state=0).fit(rows, sample_weight=weights)
    found = metrics.average_distortion(
        rows, model.labels_, centers=model.cluster_centers_, sample_weight=weights
    )
    assert found == pytest.approx(model.distortion_, rel=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_average_distortion_of_values_whose_squares_overflow(make: Any) -> None:
    rows = np.zeros((4, 3))
    rows[:2], rows[2:, 0] = 1e200, [3.0, 5.0]
    assert metrics.average_distortion(make(rows), [0, 0, 1, 1]) == pytest.approx(0.5)
    assert metrics.average_distortion(make(rows), [0, 1, 0, 1]) == math.inf


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_measures_of_values_whose_sums_overflow(make: Any) -> None:
    with np.errstate(over="ignore"):
        assert metrics.average_distortion(make(np.full((3, 2), 1e308)), [0, 0, 0]) == math.inf
        assert metrics.i2(make(np.full((3, 2), 1e308)), [0, 0, 0]) == math.inf


@pytest.mark.parametrize("bad", [None, math.nan, math.inf])
def test_refuses_invalid_values_beside_integers_beyond_int64(bad: float | None) -> None:
    rows: Any = [[2**70, 1], [3, bad]]
    for measure in (metrics.average_distortion, metrics.i1, metrics.i2):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            measure(rows, [0, 1])


def test_average_distortion_far_from_origin() -> None:
    rows = X + 1e8
    assert metrics.average_distortion(rows, LABELS) == pytest.approx(10 / 6, rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8, np.int64, np.bool_])
def test_accepts_rows_of_any_type(dtype: Any) -> None:
    rows = np.eye(4, dtype=dtype)
    # Two rows per cluster: mean (1/2, 1/2), every squared distance is 1/4 + 1/4.
    assert metrics.average_distortion(rows, [0, 0, 1, 1]) == 0.5
    assert metrics.average_distortion(rows.tolist(), [0, 0, 1, 1]) == 0.5


# ---- objectives


def test_i1_by_hand() -> None:
    # D_0 = (3,3): 18/3. D_1 = (10,12): 244/2. D_2 = (9,9): 162.
    assert metrics.i1(X, LABELS) == pytest.approx(6 + 122 + 162)


def test_i1_with_weights_by_hand() -> None:
    # D = 3 * 0 + 1 * 4 + 2 * 1 = 6 of weight 6: 36/6.
    assert metrics.i1([[0.0], [4.0], [1.0]], [0, 0, 0], sample_weight=[3, 1, 2]) == 6.0


@pytest.mark.parametrize("seed", range(5))
def test_i1_and_inertia_add_up_to_sum_of_squares(seed: int) -> None:
    rows, labels, weights = random_case(seed)
    for w in (None, weights, np.full(60, 3.0)):
        ones = np.ones(60) if w is None else w
        total = ones @ (rows**2).sum(axis=1)
        rest = total - metrics.i1(rows, labels, sample_weight=w)
        distortion = metrics.average_distortion(rows, labels, sample_weight=w)
        assert rest == pytest.approx(ones.sum() * distortion, rel=1e-12)


def test_i2_by_hand() -> None:
    # Cluster 0: pairs 4, 10, 10, mean 8, times 3. Cluster 1: 4, times 2. Cluster 2 has no pair.
    assert metrics.i2(X, LABELS) == pytest.approx(3 * 8 + 2 * 4)


@pytest.mark.parametrize("seed", range(3))
def test_i2_equals_mean_over_pairs(seed: int) -> None:
    rows, labels, _ = random_case(seed)
    expected = 0.0
    for label in np.unique(labels):
        members = rows[labels == label]
        pairs = pairwise_distances(members, metric="sqeuclidean")
        expected += pairs.sum() / (len(members) - 1)  # n times the mean over n (n - 1) ordered pairs
    assert metrics.i2(rows, labels) == pytest.approx(expected, rel=1e-10)


def test_i2_of_single_rows_is_zero() -> None:
    assert metrics.i2(X, np.arange(6)) == 0.0


# ---- dense and sparse


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("block_values", [_labelled_rows.BLOCK_VALUES, 40])
@pytest.mark.parametrize("seed", range(3))
def test_dense_and_sparse_agree(
    form: Any, block_values: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, labels, weights = random_case(seed)
    centres = np.random.default_rng(seed).normal(size=(8, 9))
    expected = all_of(rows, labels, weights, centres)
    monkeypatch.setattr(_labelled_rows, "BLOCK_VALUES", block_values)
    np.testing.assert_allclose(all_of(rows, labels, weights, centres), expected, rtol=1e-12)
    np.testing.assert_allclose(all_of(form(rows), labels, weights, centres), expected, rtol=1e-12)


def all_of(rows: Any, labels: Any, weights: Any, centres: Any) -> list[float]:
    return [
        metrics.average_distortion(rows, labels),
        metrics.average_distortion(rows, labels, sample_weight=weights),
        metrics.average_distortion(rows, labels, centers=centres, sample_weight=weights),
        metrics.i1(rows, labels),
        metrics.i1(rows, labels, sample_weight=weights),
        metrics.i2(rows, labels),
    ]


def test_large_sparse_column_does_not_hide_small_distances() -> None:
    # The mean is (1e8, 1/2): every row has distance 1/2 to it.
    rows = np.array([[1e8, 0], [1e8, 0], [1e8, 1], [1e8, 1]])
    assert metrics.average_distortion(sparse.csr_array(rows), [0] * 4) == 0.25
    assert metrics.i2(sparse.csr_array(rows), [0] * 4) == pytest.approx(2 * 4 / 3)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1.0, 1e9, 1e140])
def test_sparse_rows_near_their_centres_are_accurate(scale: float) -> None:
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((60, 300)) < 0.1, rng.normal(size=(60, 300)), 0.0)
    rows[:, ::3] = 1e10 * rng.normal(size=100)  # equal in all rows
    rows *= scale
    centre = rows.copy()[:1]
    centre[0, 0] *= 1 + 1e-15
    for centres in (rows.mean(axis=0)[None], centre, np.zeros((1, 300))):
        labels = np.zeros(60, dtype=int)
        expected = metrics.average_distortion(rows, labels, centers=centres)
        found = metrics.average_distortion(sparse.csr_array(rows), labels, centers=centres)
        assert found == pytest.approx(expected, rel=1e-6, abs=0)


def test_duplicate_entries_of_csr_are_added() -> None:
    # One row (1 + 2, 0) and one row (0, 0), both in cluster 0: mean (1.5, 0).
    rows = sparse.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 2))
    assert metrics.average_distortion(rows, [0, 0]) == 2.25
    assert rows.nnz == 2, "X must not be modified"


def test_long_sparse_rows_are_not_made_dense() -> None:
    n, d = 1000, 3_000_000  # 24 GB if dense
    rows = sparse.csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, d))
    # Orthogonal unit rows: the squared norm of the mean is 1/n, every squared distance 1 - 1/n.
    assert metrics.average_distortion(rows, np.zeros(n, dtype=int)) == pytest.approx(1 - 1 / n)


# ---- classes


def test_entropy_by_hand() -> None:
    # Cluster 0: a 3, b 1. Cluster 1: b 2, c 2. Each cluster has half of the rows.
    first = -(3 / 4 * math.log(3 / 4) + 1 / 4 * math.log(1 / 4))
    second = math.log(2)
    expected = (first / 2 + second / 2) / math.log(3)
    assert metrics.entropy(CLASSES, CLUSTERS) == pytest.approx(expected, rel=1e-12)


def test_entropy_minimum_and_maximum() -> None:
    assert metrics.entropy(["x"] * 4, [0, 1, 2, 2]) == 0.0
    assert metrics.entropy([3, 3, 8, 8], ["p", "p", "q", "q"]) == 0.0
    assert metrics.entropy(list("abcabc"), [0, 0, 0, 1, 1, 1]) == pytest.approx(1.0)
    assert not math.copysign(1, metrics.entropy([0, 1], [0, 1])) < 0, "the result must not be -0.0"


def test_purity_by_hand() -> None:
    # Cluster 0 has 3 rows of class a, cluster 1 has 2 of class b (or c), out of 8 rows.
    assert metrics.purity(CLASSES, CLUSTERS) == 5 / 8


@pytest.mark.parametrize("seed", range(5))
def test_entropy_and_purity_agree_with_plain_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, clusters = rng.choice(list("abcde"), 80), rng.integers(0, 7, 80) * 3 - 5
    table = contingency_matrix(classes, clusters)
    assert metrics.purity(classes, clusters) == pytest.approx(table.max(axis=0).sum() / 80)
    mixed = 0.0
    for cluster in set(clusters.tolist()):
        counts = Counter(classes[clusters == cluster].tolist())
        size = sum(counts.values())
        mixed -= size / 80 * sum(m / size * math.log(m / size) for m in counts.values())
    expected = mixed / math.log(len(set(classes.tolist())))
    assert metrics.entropy(classes, clusters) == pytest.approx(expected, rel=1e-12)


# ---- search


def test_recall_by_hand() -> None:
    found = [[4, 1, 9], [2, 8, 7], [5, 6, 3], [0, 1, 2]]
    truth = [4, 7, 6, 9]  # ranks 1, 3, 2 and not found
    assert metrics.recall_at(1, found, truth) == 1 / 4
    assert metrics.recall_at(2, found, truth) == 2 / 4
    assert metrics.recall_at(3, found, truth) == 3 / 4
    several = metrics.recall_at([1, 2, 3], found, truth)
    np.testing.assert_array_equal(several, [1 / 4, 2 / 4, 3 / 4])
    two: Any = np.int64(2)
    assert isinstance(metrics.recall_at(two, found, truth), float)


def test_only_first_column_of_truth_counts() -> None:
    assert metrics.recall_at(2, [[4, 1], [2, 8]], [[4, 7], [8, 5]]) == 1.0


# ---- sizes


def test_size_imbalance_by_hand() -> None:
    # Sizes 3, 2, 1 of 6 rows: 3 * (9 + 4 + 1) / 36.
    assert metrics.size_imbalance(LABELS) == pytest.approx(42 / 36)
    # With two empty clusters: 5 * 14 / 36.
    assert metrics.size_imbalance(LABELS, n_clusters=5) == pytest.approx(70 / 36)
    assert metrics.size_imbalance(["a", "b", "b", "a"]) == 1.0


# ---- errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.average_distortion(X, LABELS[:5]), "labels has 5 entries, but X has 6 rows"),
        (lambda: metrics.i1(X, np.zeros(7)), "labels has 7 entries, but X has 6 rows"),
        (lambda: metrics.i2(X, np.zeros((6, 1))), r"1D array .* Got shape \(6, 1\)"),
        (lambda: metrics.average_distortion(np.empty((0, 2)), []), "0 sample"),
        (lambda: metrics.average_distortion(X * np.nan, LABELS), "NaN"),
        (lambda: metrics.average_distortion(X, LABELS, sample_weight=[1, 2]), r"expected \(6,\)"),
        (lambda: metrics.i1(X, LABELS, sample_weight=-np.ones(6)), "Negative"),
        (lambda: metrics.average_distortion(X, LABELS, centers=np.eye(3)), "3 columns, but X has 2"),
        (lambda: metrics.average_distortion(X, LABELS, centers=np.eye(2)), r"\[0, 2\). Got 0 to 2"),
        (lambda: metrics.average_distortion(X, LABELS - 1, centers=np.eye(2)), r"Got -1 to 1"),
        (lambda: metrics.average_distortion(X, LABELS / 1, centers=np.eye(2)), "Got type float64"),
        (lambda: metrics.average_distortion(X, LABELS, centers=[[0, np.nan]]), "centers contains NaN"),
        (lambda: metrics.entropy([0, 1], [0]), "labels_true has 2 entries, but labels_pred has 1"),
        (lambda: metrics.purity([], []), r"Got shape \(0,\)"),
        (lambda: metrics.entropy([], []), r"Got shape \(0,\)"),
        (lambda: metrics.recall_at(-1, [[0, 1]], [0]), r"range \[1, 2\].* Got -1"),
        (lambda: metrics.recall_at(0, [[0, 1]], [0]), "'r' parameter of recall_at must be"),
        (lambda: metrics.recall_at(3, [[0, 1]], [0]), "found has 2 columns"),
        (lambda: metrics.recall_at([1, 9], [[0, 1]], [0]), "Got"),
        (lambda: metrics.recall_at(1.0, [[0, 1]], [0]), "must be an int"),  # type: ignore[call-overload]
        (lambda: metrics.recall_at(1, [0, 1], [0]), "found must be a 2D array"),
        (lambda: metrics.recall_at(1, np.empty((0, 2)), []), "found must be a 2D array"),
        (lambda: metrics.recall_at(1, [[0, 1]], [0, 1]), r"each of the 1 queries. Got shape \(2,\)"),
        (lambda: metrics.size_imbalance([]), r"Got shape \(0,\)"),
        (lambda: metrics.size_imbalance(LABELS, n_clusters=2), r"lie in \[0, 2\)"),
    ],
)  # fmt: skip
def test_rejects_invalid_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
