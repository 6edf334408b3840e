"""All pairs of near rows: the same as by comparing all rows, for any clusters, blocks and threads."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from boostkmeans._data import rows as rows_module
from boostkmeans._data.frame import Frame
from boostkmeans._data.row_source import ArraySource
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.streamed_rows import StreamedRows
from boostkmeans._pairs import blocks, links, plan, sparse_blocks
from boostkmeans._pairs.equal_rows import EqualRows, row_keys
from boostkmeans._pairs.limits import PairLimit
from boostkmeans._pairs.links import Links, RowGroups
from boostkmeans._pairs.search import NearRows, SearchOptions, find_near_rows
from boostkmeans._runtime.progress import ignore_progress

Array = NDArray[Any]


def search(
    rows: RowSet, limit: PairLimit, n_neighbours: int | None = None, threads: int = 2
) -> NearRows:
    return find_near_rows(rows, limit, SearchOptions(n_neighbours, 0, threads, ignore_progress))


def clustered(n: int, d: int, seed: int, dtype: Any = np.float32) -> Array:
    """Return rows in some clusters; the last fifth are changed or exact copies of the first."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, d))
    rows = centres[rng.integers(0, 8, n)] + 0.6 * rng.normal(size=(n, d))
    n_copies = n // 5
    noise = rng.choice([0.0, 0.02, 0.1], size=(n_copies, 1)) * rng.normal(size=(n_copies, d))
    rows[-n_copies:] = rows[:n_copies] + noise
    return rows.astype(dtype)


def all_near(rows: Array, limit: PairLimit) -> Array:
    """Return whether each two rows form a pair, by comparing all of them."""
    points = rows.astype(np.float64)
    lengths = np.sqrt(np.square(points).sum(axis=1))
    if limit.metric == "cosine":
        points = points / np.where(lengths > 0, lengths, 1)[:, None]
    square = limit.square_in(Frame(np.zeros(points.shape[1]), 0))
    near = np.array([np.square(points - one).sum(axis=1) <= square for one in points])
    if limit.metric == "cosine":  # rows of zeros have no cosine, but are equal
        zero = lengths == 0
        near[zero != zero[:, None]] = False
    np.fill_diagonal(near, False)
    return near


def check(found: NearRows, rows: Array, limit: PairLimit) -> None:
    near = all_near(rows, limit)
    assert found.is_exhaustive
    assert found.degrees.tolist() == near.sum(axis=1).tolist()
    assert found.n_pairs == near.sum() // 2
    labels = connected_components(near)[1]
    assert found.components.tolist() == [int(np.flatnonzero(labels == one)[0]) for one in labels]


CASES = {
    "cosine": PairLimit("cosine", 0.97),
    "low cosine": PairLimit("cosine", 0.6),
    "equal directions": PairLimit("cosine", 1.0),
    "distance": PairLimit("euclidean", 0.8),
    "equal rows": PairLimit("euclidean", 0.0),
}


@pytest.fixture
def many_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MAX_UNCLUSTERED", 10)
    monkeypatch.setattr(plan, "CLUSTERS_PER_ROOT", 2)


@pytest.mark.usefixtures("many_clusters")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("n", "d", "dtype"), [(700, 3, np.float64), (900, 40, np.float16)])
def test_pairs_of_clusters_are_all_pairs(case: str, n: int, d: int, dtype: Any) -> None:
    rows = clustered(n, d, seed=1, dtype=dtype)
    rows[[3, 5]] = 0
    rows[9] = 2 * rows[8]
    limit = CASES[case]
    check(search(Rows.in_own_frame(rows, limit.metric, 2), limit), rows, limit)


@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 60),
    st.integers(1, 20),
    st.sampled_from(sorted(CASES)),
    st.sampled_from([1e-6, 1.0, 1e6]),
    st.booleans(),
)
def test_any_rows(seed: int, n: int, d: int, case: str, scale: float, grid: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, size=(n, d)).astype(np.float64) if grid else rng.normal(size=(n, d))
    rows[rng.integers(0, n, 3)] *= rng.choice([0.0, 1.0, 100.0])  # zeros and outliers
    limit = CASES[case]
    if limit.metric == "euclidean":
        limit = PairLimit(limit.metric, limit.threshold * scale)
    rows = rows * scale
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "MAX_UNCLUSTERED", 4)
        patch.setattr(plan, "CLUSTERS_PER_ROOT", 1)
        check(search(Rows.in_own_frame(rows, limit.metric, 1), limit, threads=1), rows, limit)


@pytest.mark.usefixtures("many_clusters", "isa")
def test_threads_calls_and_instruction_sets_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clustered(1200, 24, seed=2)
    limit = PairLimit("cosine", 0.9)
    framed = Rows.in_own_frame(rows, "cosine", 1)
    one = search(framed, limit, threads=1)
    monkeypatch.setattr(blocks, "N_CALLS", 3)
    other = search(Rows.in_own_frame(rows, "cosine", 3), limit, threads=3)
    for name in ("components", "degrees", "nearest"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    points = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    cosines = points @ points.T
    np.fill_diagonal(cosines, -1)
    assert one.n_pairs == (cosines >= 0.9).sum() // 2
    paired = one.degrees > 0
    found = limit.similarities(one.nearest[paired], framed.frame)
    np.testing.assert_allclose(found, cosines.max(axis=1)[paired])


@pytest.mark.usefixtures("many_clusters")
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_blocks_of_a_file_find_the_same(metric: str) -> None:
    rows = clustered(500, 20, seed=3)
    rows[[7, 450]] = 0
    limit = PairLimit(metric, 0.9)
    streamed = StreamedRows(ArraySource(rows), metric, 1, block_rows=130, max_sample=500)
    assert streamed.n_blocks == 4
    check(search(streamed, limit), rows, limit)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_sparse_rows(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "MAX_EXPANDED_CELLS", 0)
    monkeypatch.setattr(sparse_blocks, "BLOCK_ROWS", 37)
    rng = np.random.default_rng(4)
    dense = rng.integers(1, 4, size=(150, 60)) * (rng.random((150, 60)) < 0.08)
    dense[[2, 3]] = 0
    dense[100:120] = dense[20:40]
    matrix = sparse.csr_array(dense.astype(np.float64))
    limit = PairLimit(metric, 0.8 if metric == "cosine" else 3.0)
    sparse_rows = Rows.in_own_frame(matrix, metric, 1)
    assert sparse_rows.stays_sparse
    check(search(sparse_rows, limit), dense, limit)


@pytest.mark.usefixtures("many_clusters")
def test_few_neighbours_find_only_true_pairs() -> None:
    rows = clustered(900, 16, seed=5)
    limit = PairLimit("cosine", 0.9)
    near = all_near(rows, limit).sum(axis=1)
    row_set = Rows.in_own_frame(rows, "cosine", 1)
    counts = []
    for n_neighbours in (0, 2, 8):
        found = search(row_set, limit, n_neighbours)
        assert not found.is_exhaustive
        assert (found.degrees <= near).all()
        counts.append(found.n_pairs)
    assert counts[0] < counts[1] < counts[2] <= near.sum() // 2
    assert search(row_set, limit, 10_000).is_exhaustive, "more neighbours than clusters"


def test_many_equal_rows_are_compared_once() -> None:
    rows = np.repeat(clustered(10, 4, seed=6), 2000, axis=0)[:15_001]
    found = search(Rows.in_own_frame(rows, "cosine", 1), PairLimit("cosine", 0.9999))
    sizes = np.bincount(np.unique(rows, axis=0, return_inverse=True)[1].ravel())
    assert found.n_pairs >= sum(size * (size - 1) // 2 for size in sizes.tolist())
    assert (found.nearest[:15_000] == 0).all()


def test_keys_of_rows() -> None:
    rows = np.array([[1.0, 2], [2, 1], [1, 2], [0, 0], [-0.0, 0], [-1, -2], [1, np.nextafter(2, 3)]])
    keys, nonzero = row_keys(rows)
    equal = EqualRows.of_keys(keys)
    assert equal.first.tolist() == [0, 1, 0, 3, 3, 5, 6]
    assert equal.counts.tolist() == [2, 1, 2, 2, 2, 1, 1]
    assert nonzero.tolist() == [True, True, True, False, False, True, True]
    matrix = sparse.csr_array(rows)
    matrix.data[0] = 1.0
    sparse_keys, sparse_nonzero = row_keys(matrix)
    assert EqualRows.of_keys(sparse_keys).first.tolist() == equal.first.tolist()
    assert sparse_nonzero.tolist() == nonzero.tolist()


def test_links_are_merged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MAX_WAITING", 3)
    chain = Links(12)
    for place in (5, 4, 0, 1, 2, 9):
        chain.connect(np.array([place + 1]), np.array([place]))
    assert chain.components().tolist() == [0, 0, 0, 0, 4, 4, 4, 7, 8, 9, 9, 11]
    groups = RowGroups.of_components(chain.components())
    assert [group.tolist() for group in groups] == [[0, 1, 2, 3], [4, 5, 6], [9, 10]]
    assert (len(groups), groups[-1].tolist(), groups.sizes.tolist()) == (3, [9, 10], [4, 3, 2])
    with pytest.raises(IndexError, match="There are 3 groups"):
        groups[3]
    assert len(RowGroups.of_components(np.arange(3))) == 0
