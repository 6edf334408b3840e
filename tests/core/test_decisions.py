"""Decisions by several threads, and moves that are made at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reference
from boostkmeans import _core
from boostkmeans._data.rows import Rows
from boostkmeans._steps.candidates import CandidatePolicy, NeighbourLists
from boostkmeans._steps.partition import Partition
from factories import blank_partition, core_limits

Labels = NDArray[np.int32]


def data(n: int, d: int, k: int, seed: int) -> tuple[NDArray[np.float64], Labels]:
    """Return rows around k centres, half of them with wrong labels, so that many rows move."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, k, n)
    X = rng.normal(size=(k, d))[centres] + rng.normal(size=(n, d))
    labels = np.where(rng.random(n) < 0.5, centres, rng.integers(0, k, n))
    labels[:k] = np.arange(k)
    return X, labels.astype(np.int32)


def sweep(
    X: NDArray[np.float64],
    labels: Labels,
    k: int,
    n_threads: int,
    *,
    block: int,
    weights: NDArray[np.float64] | None = None,
    candidates: int | None = None,
    max_weight: float = np.inf,
    temperature: float = 0.0,
) -> tuple[Partition, _core.SweepResult]:
    """Sweep once in a fixed order, and check the reported gain."""
    rows = Rows.in_own_frame(X, "euclidean", 1)
    limits = {} if max_weight == np.inf else core_limits(k, most=max_weight)
    partition = blank_partition(labels.copy(), k, X.shape[1])
    before, _ = partition.recompute(rows, weights, 1)
    visit: _core.FullVisit | _core.CandidateVisit
    if candidates is None:
        order = np.random.default_rng(0).permutation(len(X))
        visit = _core.FullVisit(order=order, run_rows=1, block_rows=block)
    else:
        lists = NeighbourLists.build(partition, candidates, 1, 1)
        block_of_rows = next(iter(rows.blocks()))
        made = CandidatePolicy(lists).visit(block_of_rows, k, block, np.random.RandomState(0))
        assert isinstance(made, _core.CandidateVisit)
        visit = made
    found = _core.sweep(
        rows.core,
        weights,
        partition.view(),
        visit,
        _core.SweepOptions(**limits, temperature=temperature),
        n_threads=n_threads,
    )
    sums, weights_of_clusters = partition.composites.copy(), partition.weights.copy()
    after, drift = partition.recompute(rows, weights, 1)
    assert drift < 1e-10
    assert found.gain == pytest.approx(before - after, rel=1e-9, abs=1e-12 * before)
    np.testing.assert_allclose(weights_of_clusters, partition.weights, rtol=1e-10)
    partition.composites, partition.weights = sums, weights_of_clusters
    return partition, found


def assert_same(
    one: tuple[Partition, _core.SweepResult], other: tuple[Partition, _core.SweepResult]
) -> None:
    """Check that both results agree to the last bit."""
    np.testing.assert_array_equal(one[0].labels, other[0].labels)
    np.testing.assert_array_equal(one[0].composites, other[0].composites)
    np.testing.assert_array_equal(one[0].weights, other[0].weights)
    np.testing.assert_array_equal(one[0].counts, other[0].counts)
    assert (one[1].moves, one[1].gain) == (other[1].moves, other[1].gain)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_parallel_decisions_match_the_reference(n_threads: int, weighted: bool) -> None:
    X, labels = data(1200, 128, 80, seed=1)
    weights = np.random.default_rng(1).uniform(0.1, 5, len(X)) if weighted else None
    order = np.random.default_rng(0).permutation(len(X)).tolist()
    expected, n_moves = reference.sweep(X, labels, 80, order, 400, weights)
    partition, found = sweep(X, labels, 80, n_threads, block=400, weights=weights)
    np.testing.assert_array_equal(partition.labels, expected)
    assert found.moves == n_moves > 400


@settings(deadline=None, max_examples=12)
@given(
    seed=st.integers(0, 1000),
    k=st.integers(20, 150),
    block=st.sampled_from([200, 700, 2000]),
    weighted=st.booleans(),
    candidates=st.sampled_from([None, 5, 15]),
    limited=st.booleans(),
    temperature=st.sampled_from([0.0, 0.2]),
)
def test_decisions_do_not_depend_on_the_number_of_threads(
    seed: int,
    k: int,
    block: int,
    weighted: bool,
    candidates: int | None,
    limited: bool,
    temperature: float,
) -> None:
    X, labels = data(2000, 96, k, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 2, len(X)) if weighted else None
    total = len(X) if weights is None else float(weights.sum())
    # Half of the clusters are full, so that some moves fail.
    limit = 1.0 * total / k if limited else np.inf

    def run(n_threads: int) -> tuple[Partition, _core.SweepResult]:
        return sweep(
            X, labels, k, n_threads, block=block, weights=weights, candidates=candidates,
            max_weight=limit, temperature=temperature,
        )  # fmt: skip

    alone = run(1)
    for n_threads in (2, 3, 8):
        assert_same(alone, run(n_threads))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("temperature", [0.0, 0.15])
@pytest.mark.parametrize(("d", "k"), [(3, 4), (16, 16), (20, 9)])
def test_moves_at_once_have_the_reported_gain(
    d: int, k: int, temperature: float, weighted: bool
) -> None:
    X, labels = data(20_000, d, k, seed=d)
    weights = np.random.default_rng(1).uniform(0.1, 5, len(X)) if weighted else None
    alone = sweep(X, labels, k, 1, block=5000, weights=weights, temperature=temperature)
    assert alone[1].moves > 4000
    if temperature == 0:
        assert alone[1].gain > 0
    for n_threads in (2, 3, 8):
        assert_same(
            alone,
            sweep(X, labels, k, n_threads, block=5000, weights=weights, temperature=temperature),
        )


def test_moves_at_once_differ_from_decisions_in_sequence() -> None:
    # Otherwise, the tests above would not test them.
    X, labels = data(20_000, 16, 16, seed=16)
    order = np.random.default_rng(0).permutation(len(X)).tolist()
    expected, _ = reference.sweep(X, labels, 16, order, 5000)
    partition, _ = sweep(X, labels, 16, 2, block=5000)
    differences = np.count_nonzero(partition.labels != expected)
    assert 0 < differences < 0.05 * len(X)


def test_clusters_never_lose_all_rows_at_once() -> None:
    # Cluster 1 has the same centre as cluster 0, but all its rows are nearer to another centre.
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(4000, 2)) + 10, rng.normal(size=(4000, 2)) - 10])
    labels = np.zeros(len(X), dtype=np.int32)
    labels[:1000], labels[4000:5000], labels[1000:4000], labels[5000:] = 1, 1, 0, 2
    partition, found = sweep(X, labels, 3, 2, block=len(X))
    assert (partition.counts > 0).all()
    assert found.gain > 0


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_a_row_cannot_move_to_its_own_cluster(n_threads: int) -> None:
    X, labels = data(4000, 64, 40, 0)
    rows = Rows.in_own_frame(X, "euclidean", 1)
    partition = blank_partition(labels, 40, 64)
    before, _ = partition.recompute(rows, None, 1)
    own = np.arange(40, dtype=np.int32)
    lists = np.stack([own, (own + 1) % 40, (own + 7) % 40], axis=1)
    found = _core.sweep(
        rows.core,
        None,
        partition.view(),
        _core.CandidateVisit(
            lists=lists,
            changed=np.zeros(40, dtype=np.int64),
            visited=np.full(40, -1),
            clock=0,
            order=own,
            block_rows=4000,
        ),
        _core.SweepOptions(),
        n_threads=n_threads,
    )
    after, _ = partition.recompute(rows, None, 1)
    assert before - after == pytest.approx(found.gain)
