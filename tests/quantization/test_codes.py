"""Search among codes, encoding and exact neighbours, compared with NumPy."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from boostkmeans import _core, instruction_sets
from boostkmeans._data.rows import Rows
from boostkmeans.metrics import exact_neighbors
from boostkmeans.quantization import _codes

Floats = NDArray[Any]
Codes = NDArray[Any]


def sums_of(tables: Floats, codes: Codes) -> Floats:
    """Add up table entries in float32, in the order of the subspaces."""
    sums = np.zeros((len(tables), len(codes)), dtype=np.float32)
    for j in range(codes.shape[1]):
        sums += tables[:, j][:, codes[:, j]]
    return sums


def smallest(sums: Floats, k: int) -> tuple[NDArray[np.int64], Floats]:
    """Return the k smallest sums of each row; ties are ordered by number."""
    numbers = np.broadcast_to(np.arange(sums.shape[1]), sums.shape)
    ids = np.lexsort((numbers, sums), axis=1)[:, :k]
    return ids, np.take_along_axis(sums, ids, axis=1)


def found(
    tables: Floats, codes: Codes, k: int, isa: str, threads: int = 2
) -> tuple[NDArray[np.int64], Floats]:
    ids = np.empty((len(tables), k), dtype=np.int64)
    distances = np.empty((len(tables), k), dtype=np.float32)
    _core.search_codes(tables, codes, ids, distances, isa, threads)
    return ids, distances


SHAPES = [(5000, 8, 5, 10), (20_000, 3, 40, 7), (100, 4, 3, 100), (30_001, 16, 33, 1), (9000, 70, 2, 3)]


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize(("n_centroids", "dtype"), [(256, np.uint8), (17, np.uint8), (300, np.uint16)])
@pytest.mark.parametrize(("n", "m", "n_queries", "k"), SHAPES)
def test_search_returns_smallest_sums(
    isa: str, n_centroids: int, dtype: DTypeLike, n: int, m: int, n_queries: int, k: int
) -> None:
    rng = np.random.default_rng(n + m)
    tables = rng.random((n_queries, m, n_centroids), dtype=np.float32) ** 3
    if n % 2 == 0:  # small integers, so that many sums are equal
        tables = np.round(tables * 3)
    codes: Codes = rng.integers(0, n_centroids, (n, m)).astype(dtype)
    ids, distances = found(tables, codes, k, isa)
    expected, sums = smallest(sums_of(tables, codes), k)
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_array_equal(distances, sums)


@pytest.mark.parametrize("isa", instruction_sets())
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_search_is_exact_for_tables_of_any_scale(isa: str, data: st.DataObject) -> None:
    """The 8-bit lower bounds skip only codes that are too far, whatever the scale of the distances."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    m = data.draw(st.integers(1, 12))
    n = data.draw(st.integers(8200, 9000))  # more than one block: bounds are not used in the first
    k = data.draw(st.integers(1, 40))
    scale = 10.0 ** data.draw(st.integers(-45, 34))
    tables = rng.random((3, m, 256)) ** data.draw(st.sampled_from([0.01, 1, 8]))
    offset = data.draw(st.sampled_from([0.0, 1.0, 1000.0]))
    tables = ((tables + offset) * scale).astype(np.float32)
    if data.draw(st.booleans()):
        tables[:, :, : data.draw(st.integers(1, 256))] = tables.flat[0]
    codes = rng.integers(0, 256, (n, m)).astype(np.uint8)
    ids, distances = found(tables, codes, k, isa)
    expected, sums = smallest(sums_of(tables, codes), k)
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_array_equal(distances, sums)


def test_search_with_zero_and_infinite_tables() -> None:
    codes = np.random.default_rng(0).integers(0, 256, (10_000, 4)).astype(np.uint8)
    for value in (0.0, np.inf):
        tables = np.full((2, 4, 256), value, dtype=np.float32)
        if value:
            tables[:, :, 0] = 0.0
        ids, distances = found(tables, codes, 3, "")
        expected, sums = smallest(sums_of(tables, codes), 3)
        np.testing.assert_array_equal(ids, expected)
        np.testing.assert_array_equal(distances, sums)


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_search_is_exact_when_nearly_all_codes_are_skipped(isa: str, offset: float) -> None:
    """With many blocks on one thread, the bound becomes tight and skips nearly all codes."""
    rng = np.random.default_rng(4)
    tables = (offset + rng.random((130, 6, 256)) ** 2).astype(np.float32)
    codes = rng.integers(0, 256, (60_000, 6)).astype(np.uint8)
    ids, distances = found(tables, codes, 100, isa, threads=1)
    for query in range(0, 130, 10):
        expected, sums = smallest(sums_of(tables[query : query + 1], codes), 100)
        np.testing.assert_array_equal(ids[query], expected[0])
        np.testing.assert_array_equal(distances[query], sums[0])


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("m", [1, 2, 8, 16, 40])
def test_search_finds_code_just_below_the_bound(isa: str, m: int) -> None:
    """In later blocks, distances are rounded down to 8 bits, never up."""
    # With 130 queries, one span holds all codes. Within a span, the bound only decreases.
    tables = np.full((130, m, 256), 5.0, dtype=np.float32)
    tables[:, :, 0], tables[:, :, 1], tables[:, :, 3] = 0.0, 1.0, 0.9999
    codes = np.full((40_000, m), 2, dtype=np.uint8)
    codes[17], codes[30_000] = 1, 3
    ids, _ = found(tables, codes, 1, isa, threads=1)
    assert (ids == 30_000).all()


@pytest.mark.parametrize("n_queries", [1, 3, 100])
def test_search_does_not_depend_on_threads(n_queries: int) -> None:
    rng = np.random.default_rng(1)
    tables = np.round(rng.random((n_queries, 4, 256), dtype=np.float32) * 9)
    codes = rng.integers(0, 256, (60_000, 4)).astype(np.uint8)
    one = found(tables, codes, 20, "", 1)
    for threads in (2, 3, 8):
        many = found(tables, codes, 20, "", threads)
        np.testing.assert_array_equal(one[0], many[0])
        np.testing.assert_array_equal(one[1], many[1])


def test_search_rejects_mismatched_arrays() -> None:
    tables = np.zeros((1, 2, 4), dtype=np.float32)
    for codes, k in ((np.zeros((5, 3)), 1), (np.zeros((5, 2)), 6)):
        with pytest.raises(ValueError, match="must"):
            found(tables, codes.astype(np.uint8), k, "")
    with pytest.raises(ValueError, match="codes cannot hold the number of centroids"):
        found(np.zeros((1, 2, 5000), dtype=np.float32), np.zeros((5, 2), dtype=np.uint8), 1, "")


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8, np.int8])
@pytest.mark.parametrize(("n_centroids", "width"), [(16, 3), (256, 8), (300, 20)])
def test_codes_are_nearest_centroids(
    monkeypatch: pytest.MonkeyPatch, isa: str, dtype: DTypeLike, n_centroids: int, width: int
) -> None:
    monkeypatch.setenv("BOOSTKMEANS_ISA", isa)
    rng = np.random.default_rng(width)
    X: NDArray[Any] = rng.normal(scale=20, size=(700, 4 * width)).astype(dtype)
    books = rng.normal(scale=20, size=(4, n_centroids, width)).astype(np.float32)
    books[:, 5] = books[:, 2]  # the code is the first of equal centroids
    codes = _codes.encode(X, books, 2)
    parts = X.astype(np.float64).reshape(-1, 4, 1, width)
    distances = ((parts - books.astype(np.float64)) ** 2).sum(axis=3)
    np.testing.assert_array_equal(codes, distances.argmin(axis=2))
    assert codes.dtype == (np.uint8 if n_centroids <= 256 else np.uint16)


def test_codes_do_not_depend_on_layout_or_threads() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 12)).astype(np.float32)
    books = rng.normal(size=(3, 64, 4)).astype(np.float32)
    codes = _codes.encode(X, books, 1)
    np.testing.assert_array_equal(codes, _codes.encode(np.asfortranarray(X), books, 3))
    wide = np.zeros((5000, 40), dtype=np.float32)
    wide[:, 5:29:2] = X
    np.testing.assert_array_equal(codes, _codes.encode(wide[:, 5:29:2], books, 2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("isa", instruction_sets())
def test_exact_neighbors_agree_with_numpy(
    monkeypatch: pytest.MonkeyPatch, dtype: DTypeLike, isa: str
) -> None:
    monkeypatch.setenv("BOOSTKMEANS_ISA", isa)
    rng = np.random.default_rng(3)
    X: NDArray[Any] = (rng.random((5000, 33)) * 200).astype(dtype)
    X[1000:1100] = X[:100]  # equal rows are ordered by their number
    queries = np.concatenate([X[:40], (rng.random((30, 33)) * 200).astype(dtype)])
    distances, indices = exact_neighbors(X, queries, k=10, n_threads=2)
    gaps = ((X[None].astype(np.float64) - queries[:, None]) ** 2).sum(axis=2)
    expected, nearest = smallest(gaps, 10)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(distances, nearest, rtol=1e-12, atol=1e-9)


def test_exact_neighbors_of_close_rows_far_from_zero() -> None:
    """In float32, all distances would be equal."""
    rng = np.random.default_rng(5)
    X = 1e6 + rng.random((3000, 4)) * 1e-3
    queries = 1e6 + rng.random((20, 4)) * 1e-3
    indices = exact_neighbors(X, queries, k=5).indices
    gaps = (((X - 1e6)[None] - (queries - 1e6)[:, None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(indices, smallest(gaps, 5)[0])


def test_exact_neighbors_of_distant_queries_among_close_rows() -> None:
    """In the frame of the queries, float32 cannot distinguish the rows."""
    rng = np.random.default_rng(8)
    X = 1 + rng.random((3000, 4)) * 1e-6
    near, far = X[:20] + rng.random((20, 4)) * 1e-6, rng.normal(50, 20, size=(60, 4))
    queries = np.concatenate([near, far])
    indices = exact_neighbors(X, queries, k=5).indices
    gaps = ((X[None] - queries[:, None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(indices[:20], smallest(gaps, 5)[0][:20])


def test_exact_neighbors_with_overflowing_distances() -> None:
    found_there = exact_neighbors([[1e200], [0.0], [2e200]], [[0.0]], k=3)
    assert found_there.indices.tolist() == [[1, 0, 2]]
    assert found_there.distances.tolist() == [[0.0, np.inf, np.inf]]


def test_exact_neighbors_do_not_depend_on_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from boostkmeans.quantization import _exact_neighbors

    rng = np.random.default_rng(6)
    X, queries = rng.normal(size=(1000, 8)), rng.normal(size=(50, 8))
    whole = exact_neighbors(X, queries, k=1000)
    monkeypatch.setattr(_exact_neighbors, "BLOCK_VALUES", 8 * 7)
    seen: list[int] = []
    parts = exact_neighbors(X, queries, k=1000, progress=lambda what, done, total: seen.append(done))
    np.testing.assert_array_equal(whole.indices, parts.indices)
    np.testing.assert_array_equal(whole.distances, parts.distances)
    assert seen[-1] == 1000
    assert len(seen) == 143


def test_exact_neighbors_of_file(tmp_path: Path) -> None:
    from boostkmeans.io import open_vectors, write_vectors

    rng = np.random.default_rng(7)
    X = rng.normal(size=(500, 8)).astype(np.float32)
    write_vectors(tmp_path / "x.fvecs", X)
    with open_vectors(tmp_path / "x.fvecs") as vectors:
        found_there = exact_neighbors(vectors, X[:9], k=3)
    np.testing.assert_array_equal(found_there.indices, exact_neighbors(X, X[:9], k=3).indices)
    np.testing.assert_array_equal(found_there.indices[:, 0], np.arange(9))


def test_exact_neighbors_reject_invalid_input() -> None:
    X = np.zeros((5, 3))
    with pytest.raises(ValueError, match="queries have 2 features, but X has 3"):
        exact_neighbors(X, np.zeros((1, 2)), k=1)
    wrong: list[Any] = [0, 6, 1.5, True]
    for k in wrong:
        with pytest.raises(ValueError, match=r"an int in the range \[1, 5\] \(the number of rows\)"):
            exact_neighbors(X, X, k=k)
    threads: list[Any] = [0, -1, 1.5, "a"]
    for n_threads in threads:
        with pytest.raises(ValueError, match=r"n_threads.*None or an int in the range \[1, inf\)"):
            exact_neighbors(X, X, k=1, n_threads=n_threads)
    with pytest.raises(ValueError, match="2D array"):
        exact_neighbors(X[0], X, k=1)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN \(first at row 3, column 1"):
        exact_neighbors(bad, X, k=1)
    with pytest.raises(ValueError, match=r"NaN \(first at row 3, column 1"):
        exact_neighbors(X, bad, k=1)


def test_nearest_rows_keeps_nearer_rows_of_earlier_blocks() -> None:
    rows = Rows.in_own_frame(np.array([[0.0], [10.0]]), "euclidean", 1)
    ids = np.array([[7], [7]])
    distances = np.array([[0.25], [0.25]])
    points = rows.frame.enter(np.array([[10.0], [3.0]]))
    gap = rows.frame.enter(np.array([[0.0]])) - rows.frame.enter(np.array([[3.0]]))
    distances[0] = gap[0, 0] ** 2 / 2
    before = float(distances[0, 0])
    _core.nearest_rows(rows.core, points, 100, ids, distances, 1)
    assert ids.tolist() == [[7], [100]]
    assert distances.tolist() == [[before], [0.0]]


def test_unpickles_search_results_of_0_7() -> None:
    """Version 0.7 defined `Neighbors` in `boostkmeans._codes`."""
    result = exact_neighbors([[0.0], [1.0]], [[0.1]], k=1)
    pickled = pickle.dumps(result, protocol=0)
    old = pickled.replace(b"boostkmeans.quantization._neighbors", b"boostkmeans._codes")
    assert old != pickled
    assert pickle.loads(old) == result
