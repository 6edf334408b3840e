"""Sums and inertia computed from the labels: row by row for few clusters, otherwise by cluster."""

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from boostkmeans._data.rows import Rows
from factories import blank_partition

CASES = [  # Values of n, d, k.
    (20_001, 3, 7),  # Parts of unequal lengths.
    (3_000, 130, 11),
    (90_000, 1, 2),  # Row by row. By cluster, these would be summed in parts.
    (2_000, 5, 4),  # By cluster, because there are too few rows for several parts.
    (9_000, 64, 3_000),  # By cluster, because there are many clusters.
]
LARGE = [  # Large enough for several threads.
    (60_000, 170, 9),
    (60_000, 170, 2_000),
]


def awkward(
    n: int, d: int, k: int
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float64]]:
    """Return rows far from the origin, labels and weights; clusters 1 and 2 have no weight."""
    rng = np.random.default_rng(n)
    X = (rng.normal(size=(n, d)) + 100).astype(np.float32)
    labels = rng.integers(0, k, n).astype(np.int32)
    labels[labels == 1] = 0
    weights = rng.uniform(0.5, 2, n)
    weights[rng.random(n) < 0.1] = 0
    if k > 2:
        weights[labels == 2] = 0
    return X, labels, weights


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(("n", "d", "k"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_and_inertia_match_numpy(n: int, d: int, k: int, weighted: bool) -> None:
    X, labels, all_weights = awkward(n, d, k)
    w = all_weights if weighted else np.ones(n)
    rows = Rows.in_own_frame(X, "euclidean", 2)
    partition = blank_partition(labels, k, d)
    partition.composites[1] = 5.0
    inertias = np.full(k, np.nan)
    total, _ = partition.recompute(rows, w if weighted else None, 2, inertias=inertias)

    framed = rows.frame.enter(X.astype(np.float64))
    composites, weights = reference.composites_of(framed, labels, k, w)
    composites[1] = 5.0  # A cluster without rows keeps its position.
    if weighted and k > 2:
        composites[2] = 0.0
    np.testing.assert_allclose(partition.composites, composites, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(partition.weights, weights, rtol=1e-12)
    np.testing.assert_array_equal(partition.counts, np.bincount(labels[w > 0], minlength=k))
    gaps = framed - (partition.centres)[labels]
    expected = np.bincount(labels, w * (gaps**2).sum(axis=1), minlength=k)
    np.testing.assert_allclose(inertias, expected, rtol=1e-11, atol=1e-11)
    assert total == pytest.approx(expected.sum(), rel=1e-12)


@pytest.mark.parametrize(("n", "d", "k"), LARGE)
def test_result_does_not_depend_on_threads(n: int, d: int, k: int) -> None:
    X, labels, weights = awkward(n, d, k)
    rows = Rows.in_own_frame(np.asfortranarray(X), "euclidean", 1)
    found = []
    for n_threads in (1, 2, 5):
        partition = blank_partition(labels, k, d)
        total, drift = partition.recompute(rows, weights, n_threads)
        found.append((total, drift, partition.composites.tobytes(), partition.weights.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(("n", "d", "k"), CASES)
def test_reports_how_far_the_old_sums_were_off(n: int, d: int, k: int) -> None:
    """The error is relative to the largest possible sum of the members."""
    X, labels, _ = awkward(n, d, k)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    partition = blank_partition(labels, k, d)
    partition.recompute(rows, None, 1)
    assert partition.recompute(rows, None, 1)[1] == 0.0
    partition.composites[0, d - 1] += 0.25
    members = rows.frame.enter(X.astype(np.float64))[labels == 0]
    size = len(members) * np.sqrt((members**2).sum(axis=1).mean())
    assert partition.recompute(rows, None, 1)[1] == pytest.approx(0.25 / size)
