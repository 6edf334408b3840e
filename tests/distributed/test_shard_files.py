"""`open_shards`: files as shards of a distributed fit."""

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array, save_npz, vstack

from boostkmeans import DataFormatError, ParameterError
from boostkmeans._runtime.errors import ParameterConflictError
from boostkmeans.distributed import open_shards
from boostkmeans.distributed._row_ranges import cut_rows
from boostkmeans.io import write_vectors
from boostkmeans.io._readers import sparse_store
from boostkmeans.io._vectors import Vectors

X = np.random.default_rng(0).random((100, 8)).astype(np.float32)


@pytest.mark.parametrize("suffix", [".npy", ".fvecs", ".fbin", ".parquet", ".csv"])
def test_files_are_shards(tmp_path: Path, suffix: str) -> None:
    for i, rows in enumerate(np.split(X, [30, 70])):
        path = tmp_path / f"emb-{i}{suffix}"
        np.savetxt(path, rows, "%.9g", ",") if suffix == ".csv" else write_vectors(path, rows)
    shards = open_shards(f"{tmp_path}/emb-*{suffix}")
    assert (len(shards), shards.shape, shards.is_sparse) == (3, X.shape, False)
    assert shards.dtype == (np.float64 if suffix == ".csv" else np.float32)
    assert [len(part) for part in shards.parts] == [30, 40, 30]
    assert shards.names == [f"{tmp_path}/emb-{i}{suffix}" for i in range(3)]
    copies = pickle.loads(pickle.dumps(shards)).parts
    found = [part.read() for part in copies]
    assert all(one.dtype == shards.dtype for one in found)
    assert np.array_equal(np.concatenate(found).astype(np.float32), X)
    assert len(pickle.dumps(shards.parts[0])) < 1000
    assert shards.parts[0].read_ids() is None


def test_opening_reads_only_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("rows were read")

    np.save(tmp_path / "a.npy", X)
    write_vectors(tmp_path / "a.parquet", X)
    save_npz(tmp_path / "a.npz", csr_array(X))
    monkeypatch.setattr(Vectors, "read", fail)
    monkeypatch.setattr(sparse_store, "read_labelled", fail)
    assert open_shards(tmp_path / "a.npy").shape == X.shape
    assert open_shards(tmp_path / "a.parquet").shape == X.shape
    sparse = open_shards(tmp_path / "a.npz")
    assert (sparse.shape, str(sparse.dtype), sparse.is_sparse) == (X.shape, "float32", True)


def test_large_files_are_cut(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    shards = open_shards(tmp_path / "a.npy", max_shard_bytes=40 * 8 * 4)
    assert [(part.begin, part.end) for part in shards.parts] == [(0, 33), (33, 66), (66, 100)]
    assert shards.names[1] == f"{tmp_path}/a.npy[33:66]"
    assert np.array_equal(np.concatenate([part.read() for part in shards.parts]), X)
    with pytest.raises(ValueError, match="positive number of bytes"):
        open_shards(tmp_path / "a.npy", max_shard_bytes=0)


def test_ranges_follow_row_groups(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": range(100), "v": list(X)}), tmp_path / "a.parquet", row_group_size=15)
    options = {"column": "v", "id_column": "id"}
    for n_bytes, ends in ((50 * 32, [30, 60, 100]), (64 * 32, [45, 100]), (14 * 32, [12, 25, 37, 50])):
        shards = open_shards(tmp_path / "a.parquet", max_shard_bytes=n_bytes, **options)
        assert [part.end for part in shards.parts][: len(ends)] == ends
        assert np.array_equal(np.concatenate([part.read() for part in shards.parts]), X)
        ids = [part.read_ids() for part in shards.parts]
        assert np.concatenate([one for one in ids if one is not None]).tolist() == list(range(100))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20), st.integers(1, 120), st.booleans())
def test_ranges_cover_all_rows_within_the_limit(groups: list[int], limit: int, has_groups: bool) -> None:
    n, starts = sum(groups), np.cumsum([0, *groups])[:-1].tolist()
    ranges = cut_rows(n, limit, starts if has_groups else None)
    assert [begin for begin, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
    assert ranges[-1][1] == n
    sizes = [end - begin for begin, end in ranges]
    assert 0 < min(sizes) <= max(sizes) <= limit
    if has_groups and max(groups) <= limit:
        assert all(begin in starts for begin, _ in ranges)
    else:
        assert max(sizes) - min(sizes) <= 1


def test_sparse_files(tmp_path: Path) -> None:
    sparse = csr_array(np.where(X < 0.2, X, 0))
    for i in range(2):
        save_npz(tmp_path / f"{i}.npz", sparse[50 * i : 50 * i + 50])
    shards = open_shards(tmp_path)
    assert (len(shards), shards.shape, shards.is_sparse) == (2, X.shape, True)
    smaller = open_shards(tmp_path, max_shard_bytes=600)
    assert len(smaller) > 2
    for one in (shards, smaller):
        assert (vstack([part.read() for part in one.parts]) != sparse).nnz == 0


def test_common_type_and_columns(tmp_path: Path) -> None:
    columns = dict(zip("abcdefgh", X.T, strict=True))
    pq.write_table(pa.table(columns), tmp_path / "0.parquet")
    wide = {name: columns[name].astype(np.float64) for name in reversed(columns)}
    pq.write_table(pa.table(wide), tmp_path / "1.parquet")
    shards = open_shards(tmp_path)
    assert (str(shards.dtype), shards.feature_names) == ("float64", list("abcdefgh"))
    for part in shards.parts:
        assert part.read().dtype == np.float64
        assert np.array_equal(part.read(), X)


def test_disagreement_is_found_at_once(tmp_path: Path) -> None:
    np.save(tmp_path / "0.npy", X)
    np.save(tmp_path / "1.npy", X[:, :5])
    with pytest.raises(DataFormatError, match=r"1\.npy: The rows have 5 values.*0\.npy have 8"):
        open_shards(tmp_path)
    write_vectors(tmp_path / "0.parquet", X)
    pq.write_table(pa.table({"w": list(X)}), tmp_path / "1.parquet")
    with pytest.raises(DataFormatError, match=r"1\.parquet: The file has no column 'vector'"):
        open_shards(f"{tmp_path}/*.parquet", column="vector")
    with pytest.raises(FileNotFoundError, match=r"emb-\*\.parquet matches no file"):
        open_shards(f"{tmp_path}/emb-*.parquet")


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".fvecs", ".npz"])
def test_files_that_change_after_opening(tmp_path: Path, suffix: str) -> None:
    def write(rows: NDArray[np.float32]) -> None:
        if suffix == ".npz":
            save_npz(path, csr_array(rows))
        else:
            write_vectors(path, rows, force=True)

    path = tmp_path / f"a{suffix}"
    write(X)
    part = open_shards(path, max_shard_bytes=1000).parts[-1]
    write(X[:90])
    message = rf"a{suffix}: The file had 100 rows of 8 values .* it has 90 rows of 8 values"
    with pytest.raises(DataFormatError, match=message):
        part.read()
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(DataFormatError, match=rf"a{suffix}"):
        part.read()
    path.unlink()
    with pytest.raises(DataFormatError, match=rf"a{suffix}: The file is missing on .*It existed when"):
        part.read()


def test_bad_value_is_reported_with_its_row(tmp_path: Path) -> None:
    rows = [*X[:60].tolist(), [None, *X[60].tolist()[1:]], *X[61:].tolist()]
    kind = pa.list_(pa.float32(), 8)
    pq.write_table(pa.table({"v": pa.array(rows, kind)}), tmp_path / "a.parquet", row_group_size=20)
    last = open_shards(tmp_path, max_shard_bytes=40 * 32).parts[1]
    with pytest.raises(DataFormatError, match=r"a\.parquet: row 60, column 'v': Expected a number"):
        last.read()


def test_errors_about_columns_name_the_parameter(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b"], "x": [1.0, 2.0]}), tmp_path / "x.parquet")
    with pytest.raises(DataFormatError, match="Name the columns to read with column") as error:
        open_shards(tmp_path / "x.parquet")
    assert "with --key" in error.value.render("--{}".format)


def test_errors_about_parameters_name_those_of_open_shards(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ParameterConflictError, match="so column is not allowed") as error:
        open_shards(tmp_path / "x.npy", column="a")
    assert error.value.render("--{}".format).endswith("so --key is not allowed.")
    with pytest.raises(ParameterError, match="column must be a name") as wrong:
        open_shards(tmp_path / "x.npy", column=[3])  # type: ignore[list-item]
    assert wrong.value.option_names == {"column": "--key"}
    with pytest.raises(ParameterError, match="max_shard_bytes must be a positive number"):
        open_shards(tmp_path / "x.npy", max_shard_bytes=0)
