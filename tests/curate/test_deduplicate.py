"""`deduplicate`: kept rows, groups, ids, the estimate of missed pairs, and shards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from attacks.invalid_input import REFUSED
from boostkmeans import ParameterError
from boostkmeans._data import memory
from boostkmeans._pairs import plan
from boostkmeans.curate import Deduplication, MissedPairs, coverage, deduplicate, fit_levels, sample
from boostkmeans.curate._duplicates import keeping, missed_pairs
from boostkmeans.distributed import open_shards
from boostkmeans.io import open_vectors, write_vectors

pytest_plugins = ("cluster_fixtures",)
Array = NDArray[Any]


def planted(n: int, d: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    n_copies = n // 4
    rows[-n_copies:] = rows[:n_copies] * 2 + 0.05 * rng.normal(size=(n_copies, d))
    return rows.astype(np.float32)


def cosines(rows: Array) -> Array:
    units = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    found: Array = units @ units.T
    np.fill_diagonal(found, -1)
    return found


def same(a: Deduplication, b: Deduplication) -> bool:
    groups = [[group.tolist() for group in one.groups] for one in (a, b)]
    return a.keep.tolist() == b.keep.tolist() and groups[0] == groups[1] and a.n_pairs == b.n_pairs


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 80),
    st.integers(1, 6),
    st.sampled_from([0.5, 0.9, 0.99, 1.0]),
    st.sampled_from(["central", "first", "all", "last"]),
)
def test_no_two_kept_rows_are_near_unless_reported(
    seed: int, n: int, d: int, threshold: float, keep: str
) -> None:
    rows = np.random.default_rng(seed).normal(size=(n, d))
    chosen: Any = {"all": lambda group: group, "last": lambda group: int(group[-1])}.get(keep, keep)
    found = deduplicate(rows, threshold, keep=chosen, n_checked=0)
    similar = cosines(rows)
    reported = {tuple(pair) for pair in found.kept_pairs.tolist()}
    near = np.triu(similar[np.ix_(found.keep, found.keep)] >= threshold + 1e-9)
    assert {(found.keep[i], found.keep[j]) for i, j in zip(*np.nonzero(near), strict=True)} <= reported
    if keep != "all":
        assert not reported
        assert len(found.keep) == n - sum(len(group) - 1 for group in found.groups)
    assert found.keep.dtype == np.int64
    assert (np.diff(found.keep) > 0).all()


def test_kept_rows() -> None:
    angles = np.deg2rad([0, 10, 20, 90, 180, 185])
    rows = 7 * np.column_stack([np.cos(angles), np.sin(angles)])
    threshold = float(np.cos(np.deg2rad(12)))
    found = deduplicate(rows, threshold)
    assert [group.tolist() for group in found.groups] == [[0, 1, 2], [4, 5]]
    assert found.keep.tolist() == [1, 3, 4], "nearest to the mean, and the first of two"
    assert (found.n_pairs, found.n_groups, found.n_removed) == (3, 2, 3)
    assert deduplicate(rows, threshold, keep="first").keep.tolist() == [0, 3, 4]
    expected = [*[np.cos(np.deg2rad(10))] * 3, *[np.cos(np.deg2rad(5))] * 2]
    np.testing.assert_allclose(found.similarities, expected)
    several = deduplicate(rows, threshold, keep=lambda group: group[:2])
    assert several.kept_pairs.tolist() == [[0, 1], [4, 5]]
    assert repr(found).startswith("<Deduplication: 3 of 6 rows kept, 2 groups, 3 pairs with cosine >= ")
    distances = deduplicate(np.array([[0.0], [1], [3]]), 1.0, metric="euclidean")
    assert [group.tolist() for group in distances.groups] == [[0, 1]]
    assert distances.similarities.tolist() == [1.0, 1.0]


def test_central_rows_of_large_groups_are_found_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = np.repeat(np.eye(4), [30, 7, 3, 2], axis=0) + 0.01 * rng.normal(size=(42, 4))
    mixed = rows[rng.permutation(42)]
    whole = deduplicate(mixed, 0.9)
    for at_once in (1, 10, 35):
        monkeypatch.setattr(keeping, "BYTES_AT_ONCE", 8 * 4 * at_once)
        assert same(deduplicate(mixed, 0.9), whole)
    units = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    group = next(one for one in whole.groups if len(one) == 30)
    nearest = np.square(units[group] - units[group].mean(axis=0)).sum(axis=1).argmin()
    assert group[nearest] in whole.keep


@pytest.mark.parametrize("answer", [[], [3], "a", [0.5]])
def test_results_of_functions_are_checked(answer: Any) -> None:
    with pytest.raises(ParameterError, match="returns at least one of the row numbers"):
        deduplicate(np.array([[1.0, 0], [1, 0], [0, 1], [1, 1]]), keep=lambda group: answer)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"threshold": 1.5},
            r"'threshold' parameter of deduplicate must be a float in the range \(0, 1\]",
        ),
        ({"threshold": True}, "threshold"),
        ({"threshold": -1.0, "metric": "euclidean"}, r"a float in the range \[0, inf\)"),
        ({"metric": "l1"}, "'metric' parameter"),
        ({"keep": "last"}, "'central', 'first' or a function"),
        ({"n_neighbours": -1}, "n_neighbours"),
        ({"n_checked": 1.5}, "n_checked"),
        ({"ids": [1, 2]}, "ids must have one value per row"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deduplicate(np.eye(3), **parameters)


def test_bad_values_are_reported() -> None:
    with pytest.raises(ValueError, match="NaN"):
        deduplicate(np.array([[1, np.nan], [1, 1]]))
    with pytest.raises(ValueError, match="0 sample"):
        deduplicate(np.empty((0, 3)))


def test_ids() -> None:
    rows = np.array([[1.0, 0], [0, 1], [2, 0]])
    assert deduplicate(rows).ids is None
    with pytest.raises(ValueError, match="no ids"):
        _ = deduplicate(rows).keep_ids
    assert deduplicate(rows, ids=["a", "b", "c"]).keep_ids.tolist() == ["a", "b"]
    frame = pd.DataFrame(rows, index=["x", "y", "z"])
    table = deduplicate(frame).table()
    assert table["id"].tolist() == ["x", "z"]
    assert list(table) == ["group", "row", "id", "similarity", "kept"]
    assert table["kept"].tolist() == [True, False]
    assert deduplicate(pd.DataFrame(rows)).ids is None, "a default index is no id"
    column = pd.Series(list(rows), index=["x", "y", "z"])
    assert deduplicate(column).keep_ids.tolist() == ["x", "y"]


def test_missed_pairs_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MAX_UNCLUSTERED", 100)
    rows = planted(1000, 6, seed=1)
    total = int((cosines(rows) >= 0.95).sum()) // 2
    reports: set[str] = set()
    whole = deduplicate(rows, 0.95, n_checked=300)
    assert whole.n_pairs == total
    assert whole.missed is not None
    assert whole.missed.is_guaranteed
    assert (whole.missed.n_checked, whole.missed.interval, whole.missed.recall) == (300, (0, 0), 1)
    proven = deduplicate(rows, 0.95, progress=lambda what, *_: reports.add(what))
    assert proven.missed == MissedPairs(0, 0, 0, 0.0, (0.0, 0.0), is_guaranteed=True)
    assert proven.missed.recall == 1
    assert "none missed" in repr(proven)
    assert "checking pairs" not in reports, "no row is compared if no pair can be missed"
    assert deduplicate(rows, 0.95, n_neighbours=0, n_checked=0).missed is None
    default = deduplicate(rows, 0.95, n_neighbours=0).missed
    assert default is not None
    assert default.n_checked == 1000
    part = deduplicate(rows, 0.95, n_neighbours=0, n_checked=1000)
    assert part.missed is not None
    assert part.n_pairs < total
    assert part.missed.n_pairs_checked == 2 * total
    assert part.missed.n_missed_checked == 2 * (total - part.n_pairs)
    assert part.missed.estimate == pytest.approx(total - part.n_pairs)
    few = deduplicate(rows, 0.95, n_neighbours=0, n_checked=500).missed
    assert few is not None
    assert few.interval[0] < total - part.n_pairs < few.interval[1]
    assert "missed (" in repr(part)


def test_check_decides_near_the_threshold_in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.array([[0.0, 0], [1, 0], [1 + 1e-7, 0]])
    assert missed_pairs.count_near(points[:1], points, 1.0, 1).tolist() == [1]
    assert missed_pairs.count_near(points[:1], points, 1.0 + 1e-8, 1).tolist() == [2]
    assert missed_pairs.count_near(points[:1], points, 1.0 + 1e-6, 1).tolist() == [3]


def test_files_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "MIN_BLOCK_ROWS", 100)
    rows = planted(1500, 24, seed=2)
    write_vectors(tmp_path / "x.npy", rows)
    whole = deduplicate(rows, 0.99, n_checked=50)
    with open_vectors(tmp_path / "x.npy", max_memory=600_000) as vectors:
        totals: dict[str, int | None] = {}
        found = deduplicate(
            vectors, 0.99, n_checked=50, progress=lambda what, _, total: totals.update({what: total})
        )
    assert same(found, whole)
    assert (totals["comparing equal rows"] or 0) > 1, "there are several blocks"
    assert found.missed == whole.missed


def test_little_memory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "MIN_BLOCK_ROWS", 3)
    rows = planted(600, 24, seed=2)
    write_vectors(tmp_path / "x.npy", rows)
    with (
        open_vectors(tmp_path / "x.npy", max_memory=1000) as vectors,
        pytest.raises(
            MemoryError, match="Finding near duplicates among 600 rows with 24 features needs"
        ),
    ):
        deduplicate(vectors, 0.99)
    fixed = 600 * (12 + 128) + 24 * 96 + 2048
    with (
        open_vectors(tmp_path / "x.npy", max_memory=fixed + 8000) as vectors,
        pytest.warns(UserWarning, match=r"120 blocks of 5 rows, so .* read about 60 times"),
    ):
        assert same(deduplicate(vectors, 0.99), deduplicate(rows, 0.99))


def test_blocks_are_larger_than_those_of_a_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A fit reads each block once per sweep, but each two blocks are compared with each other.
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "MAX_BLOCK_BYTES", 20_000)
    monkeypatch.setattr(memory, "MIN_BLOCK_ROWS", 100)
    write_vectors(tmp_path / "x.npy", planted(1500, 24, seed=2))
    totals: dict[str, int | None] = {}
    with open_vectors(tmp_path / "x.npy", max_memory=1_000_000) as vectors:
        deduplicate(vectors, 0.99, progress=lambda what, _, total: totals.update({what: total}))
    assert 1 < (totals["comparing equal rows"] or 0) < 10


def test_sparse_and_dense_rows_give_the_same() -> None:
    rng = np.random.default_rng(3)
    dense = rng.integers(1, 3, size=(200, 30)) * (rng.random((200, 30)) < 0.2)
    found = deduplicate(sparse.csr_matrix(dense.astype(np.float64)), 0.9, n_checked=20)
    assert same(found, deduplicate(dense.astype(np.float64), 0.9, n_checked=20))
    assert found.missed is not None
    assert found.missed.is_guaranteed


@pytest.mark.slow
def test_dask_gives_the_same_as_one_array(dask_client: Any) -> None:
    import dask.array as da

    rows = planted(900, 12, seed=5)
    lazy = da.from_array(rows, chunks=(250, 12))
    options: dict[str, Any] = {"n_checked": 100, "ids": np.arange(900) + 7}
    with dask_client.as_current():
        found = deduplicate(lazy, 0.95, engine="dask", **options)
    whole = deduplicate(rows, 0.95, **options)
    assert whole.n_pairs > 0
    assert same(found, whole)
    np.testing.assert_allclose(found.similarities, whole.similarities)
    assert found.missed == whole.missed
    assert np.array_equal(found.keep_ids, whole.keep_ids)
    part = deduplicate(lazy, 0.95, keep="first", n_neighbours=0, engine=dask_client)
    assert same(part, deduplicate(rows, 0.95, keep="first", n_neighbours=0))


def test_shards_give_the_same_as_one_array(tmp_path: Path) -> None:
    rows = planted(300, 12, seed=4)
    rows[[2, 290]] = 0
    for number, part in enumerate(np.array_split(rows, 3)):
        np.save(tmp_path / f"part-{number}.npy", part)
    whole = deduplicate(rows, 0.95, n_checked=100)
    shards = open_shards(f"{tmp_path}/part-*.npy")
    for found in (deduplicate(shards, 0.95, n_checked=100), deduplicate(rows, 0.95, engine="local")):
        assert same(found, whole)
        np.testing.assert_allclose(found.similarities, whole.similarities)
    assert deduplicate(shards, 0.95, n_checked=100).missed == whole.missed
    with pytest.raises(ValueError, match="dense rows"):
        deduplicate(sparse.random_array((300, 20_000), density=0.001, format="csr"), engine="local")


@pytest.mark.parametrize("kind", ["dense", "small CSR", "large CSR"])
@pytest.mark.parametrize("exponent", [600, 1000, -600, -1040])
def test_distances_do_not_depend_on_the_unit(exponent: int, kind: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 9, (60, 5)) * 1.0
    rows[7:9] = rows[3]
    rows[8, 0] += 2.0**-20
    X: Any = np.ldexp(rows, exponent)
    if kind != "dense":
        X = sparse.csr_array(X)
    if kind == "large CSR":
        X = sparse.csr_array((X.data, X.indices, X.indptr), (60, 100_000))
    threshold = float(np.ldexp(0.001, exponent))
    for n_checked in (None, 60):
        neighbours = None if n_checked is None else 1
        found = deduplicate(
            X, threshold, metric="euclidean", n_neighbours=neighbours, n_checked=n_checked
        )
        assert [group.tolist() for group in found.groups] == [[3, 7, 8]]
        np.testing.assert_allclose(np.ldexp(found.similarities, -exponent), [0, 0, 2.0**-20])
    plain = coverage(np.arange(60) % 3, [0, 1, 2], X=rows)
    scaled = coverage(np.arange(60) % 3, [0, 1, 2], X=X)
    assert plain.max_distance is not None
    assert scaled.max_distance == pytest.approx(np.ldexp(plain.max_distance, exponent), rel=1e-9)


def test_a_threshold_beyond_all_distances() -> None:
    found = deduplicate(planted(40, 4, 0), 1e300, metric="euclidean")
    assert found.n_pairs == 40 * 39 // 2


@pytest.mark.parametrize("name", [name for name, (X, _) in REFUSED.items() if sparse.issparse(X)])
def test_refuses_invalid_matrices(name: str) -> None:
    X, match = REFUSED[name]
    calls: list[Callable[[], Any]] = [
        lambda: deduplicate(X),
        lambda: fit_levels(X, [2]),
        lambda: sample(np.zeros(6, dtype=int), 2, method="central", X=X),
        lambda: sample(np.zeros(6, dtype=int), 2, method="diverse", X=X),
        lambda: coverage(np.zeros(6, dtype=int), [1], X=X),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=match):
            call()
