"""Several files as one data set."""

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, save_npz

from boostkmeans import BoostKMeans, DataFormatError
from boostkmeans.io import list_files, open_vectors, write_vectors
from boostkmeans.io._access import store_pool
from conftest import blobs

X = np.random.default_rng(0).random((60, 4)).astype(np.float32)
SIZES = (13, 0, 27, 20)


def split(rows: NDArray[Any]) -> list[NDArray[Any]]:
    return np.split(rows, np.cumsum(SIZES)[:-1])


def write_hdf5(path: Path, rows: NDArray[Any]) -> None:
    with h5py.File(path, "w") as file:
        file["train"] = rows


def write_gzip(path: Path, rows: NDArray[Any]) -> None:
    np.save(path.with_suffix(""), rows)
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    path.with_suffix("").unlink()


def write_csv(path: Path, rows: NDArray[Any]) -> None:
    np.savetxt(path, rows, "%.17g", ",", header="a,b,c,d", comments="")


def write_arrow(path: Path, rows: NDArray[Any]) -> None:
    values = pa.FixedSizeListArray.from_arrays(rows.ravel(), rows.shape[1])
    table = pa.table({"v": values})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=8)


WRITERS: dict[str, Callable[[Path, NDArray[Any]], Any]] = {
    ".npy": np.save,
    ".fbin": write_vectors,
    ".parquet": write_vectors,
    ".h5": write_hdf5,
    ".npy.gz": write_gzip,
    ".csv": write_csv,
    ".arrow": write_arrow,
}


def write_parts(folder: Path, suffix: str, rows: NDArray[Any] = X) -> list[Path]:
    paths = [folder / f"part-{i:02}{suffix}" for i in range(len(SIZES))]
    for path, some in zip(paths, split(rows), strict=True):
        WRITERS[suffix](path, some)
    return paths


def count_open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize("suffix", list(WRITERS))
def test_files_are_one_data_set(tmp_path: Path, suffix: str) -> None:
    paths = write_parts(tmp_path, suffix)
    for given in (paths, f"{tmp_path}/part-*", tmp_path):
        with open_vectors(given) as vectors:
            assert (vectors.shape, len(vectors.files)) == (X.shape, len(SIZES))
            assert np.array_equal(vectors.load(), X.astype(vectors.dtype))
            assert np.array_equal(vectors.read(10, 45), X[10:45])
            assert np.array_equal(np.concatenate(list(vectors.batches(7))), X)
            assert np.array_equal(vectors[[-1, 0, 14, 13, 12]], X[[-1, 0, 14, 13, 12]])
            out = np.empty((9, 4), dtype=vectors.dtype)
            assert np.array_equal(vectors.read(8, 17, out), X[8:17])
            assert not vectors.is_sparse
            assert vectors.read(13, 13).shape == (0, 4)


def test_place_of_rows_in_files(tmp_path: Path) -> None:
    paths = [str(path) for path in write_parts(tmp_path, ".npy")]
    with open_vectors(paths) as vectors:
        assert vectors.name == f"{paths[0]} and 3 more"
        assert [file.name for file in vectors.files] == paths
        assert [(file.begin, file.end) for file in vectors.files] == [
            (0, 13),
            (13, 13),
            (13, 40),
            (40, 60),
        ]
        assert vectors.locate(12) == (paths[0], 12)
        assert vectors.locate(13) == (paths[2], 0)
        assert vectors.locate(59) == (paths[3], 19)
        with pytest.raises(IndexError, match="Row 60 is out of range"):
            vectors.locate(60)
        view = vectors.between(5, 41)
        assert [(file.begin, file.end) for file in view.files] == [(0, 8), (8, 8), (8, 35), (35, 36)]
        assert view.locate(35) == (paths[3], 0)
        assert vectors.file_bytes == sum(Path(path).stat().st_size for path in paths)


def test_single_file_of_a_pattern_is_still_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    for given in (f"{tmp_path}/*.npy", tmp_path, [tmp_path / "a.npy"]):
        with open_vectors(given) as vectors:
            assert vectors.is_mapped
            assert isinstance(vectors.load(), np.memmap)
            assert vectors.files == ((str(tmp_path / "a.npy"), 0, 60),)


def test_order_is_lexicographic_for_patterns_and_kept_for_sequences(tmp_path: Path) -> None:
    for i in (10, 9, 1):
        np.save(tmp_path / f"x{i}.npy", np.full((1, 2), i))
    np.save(tmp_path / "Y2.npy", np.full((1, 2), 2))
    for given in (tmp_path, f"{tmp_path}/*.npy"):
        assert open_vectors(given)[:][:, 0].tolist() == [2, 1, 10, 9]
    given_order = [tmp_path / "x9.npy", tmp_path / "x10.npy"]
    assert open_vectors(given_order)[:][:, 0].tolist() == [9, 10]
    both: list[str | Path] = [tmp_path / "Y2.npy", f"{tmp_path}/x1*.npy"]
    assert open_vectors(both)[:][:, 0].tolist() == [2, 1, 10]
    assert list_files(both) == [f"{tmp_path}/{name}.npy" for name in ("Y2", "x1", "x10")]


def test_existing_names_are_not_patterns(tmp_path: Path) -> None:
    np.save(tmp_path / "a[1].npy", X)
    np.save(tmp_path / "a1.npy", X[:3])
    assert open_vectors(tmp_path / "a[1].npy").shape == X.shape
    (tmp_path / "a[1].npy").unlink()
    assert len(open_vectors(f"{tmp_path}/a[1].npy")) == 3
    (tmp_path / "deep").mkdir()
    np.save(tmp_path / "deep" / "b.npy", X)
    assert len(open_vectors(f"{tmp_path}/**/*.npy")) == 63


def test_folder(tmp_path: Path) -> None:
    write_parts(tmp_path, ".npy")
    for name in ("_SUCCESS", ".part-00.npy.crc", "README", ".hidden.npy", "_meta.parquet"):
        (tmp_path / name).write_text("no data")
    (tmp_path / "sub.npy").mkdir()
    assert open_vectors(tmp_path).shape == X.shape
    write_vectors(tmp_path / "z.fvecs", X)
    with pytest.raises(
        DataFormatError, match=r"several formats: 'z.fvecs' \(fvecs\), 'part-00.npy' \(npy\)"
    ):
        open_vectors(tmp_path)
    assert open_vectors(tmp_path, format="npy").shape == X.shape
    assert list_files(tmp_path, format="fvecs") == [str(tmp_path / "z.fvecs")]
    with pytest.raises(FileNotFoundError, match=r"without files of vectors of format 'csv'"):
        open_vectors(tmp_path, format="csv")


def test_nothing_is_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"emb-\*\.npy matches no file"):
        open_vectors(f"{tmp_path}/emb-*.npy")
    (tmp_path / "a.pdf").touch()
    with pytest.raises(FileNotFoundError, match=r"a folder without files of vectors\. It has 'a\.pdf'"):
        open_vectors(tmp_path)
    with pytest.raises(ValueError, match="sequence of at least one path"):
        open_vectors([])
    with pytest.raises(ValueError, match="sequence of at least one path"):
        open_vectors([3])  # type: ignore[list-item]
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(ValueError, match="Standard input cannot be one of several"):
        open_vectors(["-", tmp_path / "a.npy"])
    with pytest.raises(FileNotFoundError, match=r"missing\.npy"):
        open_vectors([tmp_path / "a.npy", tmp_path / "missing.npy"])


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".npy.gz", ".csv", ".arrow"])
def test_other_width_is_an_error(tmp_path: Path, suffix: str) -> None:
    WRITERS[suffix](tmp_path / f"a{suffix}", X)
    if suffix == ".csv":
        np.savetxt(tmp_path / "b.csv", X[:, :3], "%g", ",")
    else:
        WRITERS[suffix](tmp_path / f"b{suffix}", X[:, :3])
    with pytest.raises(DataFormatError, match=rf"b{suffix}: The rows have 3 values.*a{suffix} have 4"):
        open_vectors(tmp_path).load()
    if suffix in (".npy", ".parquet", ".npy.gz"):  # the width is in the header
        with pytest.raises(DataFormatError):
            open_vectors(tmp_path)


@pytest.mark.parametrize(
    ("types", "common"),
    [
        (("float32", "float16"), "float32"),
        (("uint8", "int8"), "int16"),
        (("float32", "int32"), "float64"),
        (("uint8", "float16"), "float16"),
        (("float32", ">f8"), "float64"),
        (("int64", "int32"), "int64"),
    ],
)
def test_types_are_promoted_without_loss(tmp_path: Path, types: tuple[str, str], common: str) -> None:
    rows = [(100 * X).astype(one) for one in types]
    for i, some in enumerate(rows):
        np.save(tmp_path / f"{i}.npy", some)
    expected = np.concatenate([some.astype(common) for some in rows])
    for path in (tmp_path / "0.npy", tmp_path / "0.npy.gz"):  # at their places, and spooled
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress((tmp_path / "0.npy").read_bytes()))
        with open_vectors([path, tmp_path / "1.npy"]) as vectors:
            assert vectors.dtype == common
            assert np.array_equal(vectors.load(), expected)
            assert np.array_equal(vectors.read(50, 70), expected[50:70])
            assert vectors.read(50, 70).dtype == common


@pytest.mark.parametrize("types", [("float32", "int64"), ("uint64", "int8"), ("int64", "float64")])
def test_types_without_a_lossless_common_type(tmp_path: Path, types: tuple[str, str]) -> None:
    for i, one in enumerate(types):
        np.save(tmp_path / f"{i}.npy", X.astype(one))
    with pytest.raises(DataFormatError, match=rf"1\.npy: The values of type {types[1]}"):
        open_vectors(tmp_path)


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    columns = dict(zip("abcd", X.T, strict=True))
    turned = {name: columns[name] for name in "cdab"}
    pq.write_table(pa.table(columns), tmp_path / "0.parquet")
    pq.write_table(pa.table(turned), tmp_path / "1.parquet")
    twice = np.concatenate([X, X])
    with open_vectors(tmp_path) as vectors:
        assert vectors.feature_names == list("abcd")
        assert np.array_equal(vectors.load(), twice)
    for i, table in enumerate((columns, turned)):
        np.savetxt(
            tmp_path / f"{i}.csv", np.stack(list(table.values()), axis=1), "%.17g", ",",
            header=",".join(table), comments="",
        )  # fmt: skip
    with open_vectors(f"{tmp_path}/*.csv") as vectors:
        assert np.array_equal(vectors.load(), twice)
        assert vectors.feature_names == list("abcd")
    pq.write_table(pa.table({**turned, "e": X[:, 0]}).drop_columns("b"), tmp_path / "1.parquet")
    with pytest.raises(
        DataFormatError, match=r"1\.parquet: .* no column 'b' and an additional column 'e'"
    ):
        open_vectors(f"{tmp_path}/*.parquet")
    with pytest.raises(DataFormatError, match=r"1\.parquet: The file has no column 'b'\. Available"):
        open_vectors(f"{tmp_path}/*.parquet", key=["a", "b"])


def test_sparse_files(tmp_path: Path) -> None:
    sparse = np.where(X < 0.3, X, 0)
    for i, rows in enumerate(split(sparse)):
        save_npz(tmp_path / f"{i}.npz", csr_array(rows.astype(np.float64 if i else np.float32)))
    with open_vectors(tmp_path) as vectors:
        assert vectors.is_sparse
        assert (vectors.shape, str(vectors.dtype)) == (X.shape, "float64")
        assert np.array_equal(vectors.load().toarray(), sparse)
        assert np.array_equal(vectors.read(10, 45).toarray(), sparse[10:45])
        assert [file.end for file in vectors.files] == [13, 13, 40, 60]
        labels = BoostKMeans(3, random_state=0).fit(vectors).labels_
    assert np.array_equal(labels, BoostKMeans(3, random_state=0).fit(csr_array(sparse)).labels_)
    save_npz(tmp_path / "9.npz", csr_array(sparse[:, :3]))
    with pytest.raises(DataFormatError, match=r"9\.npz: The rows have 3 values"):
        open_vectors(tmp_path)
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(
        DataFormatError, match=r"a\.npy: The rows are dense, but those of .*0\.npz are sparse"
    ):
        open_vectors([tmp_path / "0.npz", tmp_path / "a.npy"])


def test_many_files_do_not_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_pool, "MAX_OPEN", 3)
    for i in range(20):
        np.save(tmp_path / f"{i:02}.npy", X[3 * i : 3 * i + 3])
    before = count_open_files()
    with open_vectors(tmp_path) as vectors:
        assert count_open_files() <= before + 4
        order = np.random.default_rng(0).permutation(54)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda begin: vectors.read(begin, begin + 6), order.tolist()))
        for begin, rows in zip(order, found, strict=True):
            assert np.array_equal(rows, X[begin : begin + 6])
        assert count_open_files() <= before + 4
        np.save(tmp_path / "00.npy", 1 - X[:3])
        with pytest.raises(DataFormatError, match=r"00\.npy: The file was modified"):
            vectors.load()
    assert count_open_files() == before


def test_fit_in_parts_equals_a_fit_of_one_file(tmp_path: Path) -> None:
    rows = blobs(70_000, 64, 5)[0].astype(np.float32)
    np.save(tmp_path / "whole.npy", rows)
    (tmp_path / "parts").mkdir()
    for i, some in enumerate(np.array_split(rows, 7)):
        write_vectors(tmp_path / "parts" / f"{i}.{('npy', 'fvecs')[i % 2]}", some)
    model = BoostKMeans(5, random_state=0, quality="fast", max_iter=3)
    options = {"max_memory": "272MiB"}
    with open_vectors(tmp_path / "whole.npy", **options) as vectors:  # type: ignore[arg-type]
        expected = model.fit(vectors).labels_
        assert "sample" in str(model.history_[0].note)
    with open_vectors(f"{tmp_path}/parts/*", **options) as vectors:  # type: ignore[arg-type]
        assert vectors.format == "npy, fvecs"
        assert np.array_equal(model.fit(vectors).labels_, expected)
