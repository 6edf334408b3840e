"""Sweeps that optimise CLUTO's criteria, compared with values recomputed from the labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import criterion_reference as reference
from boostkmeans import _core
from boostkmeans._steps.criteria.criterion import CRITERIA, ClusterNumbers, criterion_value
from boostkmeans._steps.criteria.term_partition import TermPartition, UnitRows

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


def documents(n: int, d: int, k: int, seed: int) -> tuple[Floats, Labels]:
    """Return rows of term weights around k topics, and labels of which half are wrong."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, k, n)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.5)
    X[np.arange(n), topics % (d - 1)] += 2
    # No two rows have the same direction, which would make gains equal up to rounding.
    X[:, -1] = 0.1 + rng.random(n)
    labels = np.where(rng.random(n) < 0.5, topics, rng.integers(0, k, n)).astype(np.int32)
    labels[:k] = np.arange(k)
    return X, labels


def native_sweep(
    X: Any,
    labels: Labels,
    k: int,
    criterion: str,
    order: NDArray[np.int64],
    block: int,
    w: Floats | None = None,
    n_threads: int = 1,
) -> tuple[TermPartition, _core.CriterionSweepResult]:
    data = UnitRows.of(X, w, n_threads)
    partition = TermPartition.from_labels(labels.copy(), k, data)
    found = _core.criterion_sweep(
        data.rows.core,
        data.weights,
        _core.TermComposites(
            labels=partition.labels,
            by_term=partition.by_term,
            weights=partition.weights,
            counts=partition.counts,
        ),
        criterion=getattr(_core.Criterion, criterion),
        order=order,
        block_rows=block,
        n_threads=n_threads,
    )
    return partition, found


@given(
    criterion=st.sampled_from(CRITERIA),
    k=st.integers(1, 5),
    n=st.integers(6, 14),
    block=st.sampled_from([1, 3, 20]),
    weighted=st.booleans(),
    as_sparse=st.booleans(),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_sweeps_equal_those_of_the_oracle(
    criterion: str, k: int, n: int, block: int, weighted: bool, as_sparse: bool, seed: int
) -> None:
    X, labels = documents(n, 4, k, seed)
    rng = np.random.default_rng(seed)
    w = rng.integers(0, 4, n).astype(float) if weighted else None
    if w is not None:
        w[:k] = 1
    order = rng.permutation(n)
    rows = sparse.csr_array(X) if as_sparse else X
    partition, found = native_sweep(rows, labels, k, criterion, order, block, w)
    expected = reference.sweep(reference.unit(X), labels, k, criterion, order, block, w)
    np.testing.assert_array_equal(partition.labels, expected)
    assert (found.moves > 0) == (expected != labels).any()
    value = reference.value(reference.unit(X), expected, criterion, w)
    assert partition.value(criterion) == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_composites_and_sums_follow_the_moves(criterion: str) -> None:
    X, labels = documents(300, 20, 6, seed=3)
    order = np.random.default_rng(0).permutation(300)
    partition, found = native_sweep(sparse.csr_array(X), labels, 6, criterion, order, 7)
    fresh = TermPartition.from_labels(partition.labels.copy(), 6, UnitRows.of(X, None, 1))
    np.testing.assert_allclose(partition.by_term, fresh.by_term, atol=1e-12)
    np.testing.assert_array_equal(partition.counts, fresh.counts)
    np.testing.assert_allclose(partition.weights, fresh.weights)
    assert found.moves > 50
    assert found.evaluations == 300 * 6
    within, between = found.within, found.between
    name = {"h1": "e1", "h2": "e1"}.get(criterion, criterion)
    if name in ("e1", "g1"):
        constant = 6 if name == "g1" else 0
        assert between == pytest.approx(fresh.value(name) + constant, rel=1e-12)
    if criterion in ("i1", "i2"):
        assert within == pytest.approx(fresh.value(criterion), rel=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_labels_do_not_depend_on_threads(criterion: str, as_sparse: bool) -> None:
    X, labels = documents(4000, 60, 10, seed=1)
    order = np.random.default_rng(0).permutation(4000)
    rows = sparse.csr_array(X) if as_sparse else X
    one, _ = native_sweep(rows, labels, 10, criterion, order, 400, n_threads=1)
    three, _ = native_sweep(rows, labels, 10, criterion, order, 400, n_threads=3)
    np.testing.assert_array_equal(one.labels, three.labels)
    assert (one.labels != labels).sum() > 500


def test_values_computed_by_hand() -> None:
    # Composites (2, 0) and (1, 1) of clusters of two rows; the sum of all rows is (3, 1).
    composites = np.array([[2.0, 0.0], [1.0, 1.0]])
    numbers = ClusterNumbers.of(composites, np.array([2.0, 2.0]))
    root = np.sqrt(2)
    expected = {
        "i1": 2 + 1,
        "i2": 2 + root,
        "e1": 2 * 6 / 2 + 2 * 4 / root,
        "g1": (6 - 4) / 4 + (4 - 2) / 2,
    }
    expected["h1"] = expected["i1"] / expected["e1"]
    expected["h2"] = expected["i2"] / expected["e1"]
    for criterion, value in expected.items():
        assert criterion_value(criterion, numbers) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_cluster_becomes_empty(criterion: str) -> None:
    X = np.tile([[1.0, 0.0, 0.5]], (8, 1))
    labels = np.array([0, 1, 2, 3, 3, 3, 3, 3], dtype=np.int32)
    partition, _ = native_sweep(X, labels, 4, criterion, np.arange(8), 2)
    assert (np.bincount(partition.labels, minlength=4) > 0).all()
    np.testing.assert_array_equal(np.bincount(partition.labels, minlength=4), partition.counts)


def test_a_cluster_that_shrinks_keeps_its_precision() -> None:
    # Cluster 0 has 2,000 rows of the kind of cluster 1, which leave it, and a few others, which stay.
    kinds = np.array([[1.0, 0.2, 0.0], [0.1, 0.0, 1.0]])
    X = kinds[np.repeat([0, 1, 0], [2000, 30, 2000])]
    labels = np.repeat([0, 0, 1], [2000, 30, 2000]).astype(np.int32)
    partition, found = native_sweep(sparse.csr_array(X), labels, 2, "h2", np.arange(4030), 64)
    assert found.moves == 2000
    composites = np.array([reference.unit(X)[partition.labels == c].sum(axis=0) for c in (0, 1)])
    lengths = np.linalg.norm(composites, axis=1)
    assert found.within == pytest.approx(lengths.sum(), rel=1e-13)
    products = composites @ composites.sum(axis=0)
    assert found.between == pytest.approx((partition.weights * products / lengths).sum(), rel=1e-13)
