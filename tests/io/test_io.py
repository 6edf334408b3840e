"""Files of vectors: every format against NumPy, every way to read them against each other."""

import gzip
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import feather
from scipy.io import mmwrite
from scipy.sparse import csr_array, issparse, save_npz
from sklearn.datasets import dump_svmlight_file

from boostkmeans.io import FORMATS, WRITABLE, Vectors, open_vectors, parse_bytes, write_vectors
from conftest import run_python

X = np.random.default_rng(0).integers(0, 100, (50, 6)).astype(np.float32)
SPARSE = np.where(X < 30, X, 0)
NAMES = list("abcdef")


def parquet_lists(path: Path) -> None:
    pq.write_table(pa.table({"id": range(50), "v": list(X)}), path, row_group_size=7)


def parquet_columns(path: Path) -> None:
    pq.write_table(pa.table(dict(zip(NAMES, X.T, strict=True))), path, row_group_size=11)


def arrow_file(path: Path) -> None:
    table = pa.table(dict(zip(NAMES, X.T, strict=True)))
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=8)


def arrow_stream(path: Path) -> None:
    table = pa.table({"v": pa.FixedSizeListArray.from_arrays(X.ravel(), 6)})
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=8)


def hdf5(path: Path, **options: Any) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("train", data=X, **options)
        file["test"] = X[:3]


def csv(path: Path) -> None:
    np.savetxt(path, X, "%g", ",", header=",".join(NAMES), comments="")


MADE: dict[str, Callable[[Path], Any]] = {
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(X)),
    "big-endian.npy": lambda path: np.save(path, X.astype(">f8")),
    "stored.npz": lambda path: np.savez(path, X),
    "deflated.npz": lambda path: np.savez_compressed(path, train=X, test=X),
    "lists.parquet": parquet_lists,
    "columns.parquet": parquet_columns,
    "a.feather": lambda path: feather.write_feather(pa.table({"v": list(X)}), path),
    "a.arrow": arrow_file,
    "a.ipc": arrow_stream,
    "a.h5": hdf5,
    "a.hdf5": lambda path: hdf5(path, chunks=(8, 4), compression="gzip", shuffle=True),
    "a.csv": csv,
    "a.tsv": lambda path: np.savetxt(path, X, "%g", "\t"),
    **{f"a.{kind}": lambda path: write_vectors(path, X) for kind in WRITABLE},
}
MADE_SPARSE: dict[str, Callable[[Path], Any]] = {
    "a.npz": lambda path: save_npz(path, csr_array(SPARSE)),
    "a.mtx": lambda path: mmwrite(path, csr_array(SPARSE)),
    "a.svm": lambda path: dump_svmlight_file(SPARSE, np.zeros(50), str(path), zero_based=False),
    "a.mat": lambda path: path.write_text(
        "50 6\n" + "".join(" ".join(map(str, row)) + "\n" for row in SPARSE)
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of each kind, and each of them compressed."""
    made = tmp_path_factory.mktemp("vectors")
    for name, make in {**MADE, **MADE_SPARSE}.items():
        make(made / name)
        (made / f"{name}.gz").write_bytes(gzip.compress((made / name).read_bytes()))
    return made


def check(vectors: Vectors, expected: NDArray[Any]) -> None:
    """All ways to read them."""
    n, d = expected.shape

    def same(some: Any, rows: NDArray[Any]) -> None:
        assert issparse(some) == vectors.is_sparse
        assert some.dtype == vectors.dtype
        assert np.array_equal(some.toarray() if issparse(some) else some, rows)

    assert (vectors.shape, len(vectors), vectors.ndim) == (expected.shape, n, 2)
    assert vectors.nbytes == n * d * vectors.dtype.itemsize
    assert vectors.dtype.isnative
    same(vectors.read(0, n), expected)
    same(vectors.load(), expected)
    for size in (1, 7, n, 1000):
        batches = list(vectors.batches(size))
        assert [batch.shape[0] for batch in batches[:-1]] == [size] * (len(batches) - 1)
        dense = [batch.toarray() if issparse(batch) else batch for batch in batches]
        assert np.array_equal(np.concatenate(dense), expected)
    for rows in (slice(10, 20), slice(None, None, -3), slice(40, 3, -7), slice(5, 5), slice(-4, None)):
        same(vectors[rows], expected[rows])
    for some in ([3, 1, 1, -1], np.arange(n)[::-1], expected[:, 0] > 50, np.array([4], dtype=np.uint8)):
        same(vectors[some], expected[np.asarray(some)])
    same(vectors[[]], expected[:0])
    same(vectors.read(3, 3), expected[3:3])
    if vectors.is_sparse:
        same(vectors[-2], expected[-2:-1])
        return
    assert np.array_equal(vectors[-2], expected[-2])
    assert vectors[np.int64(4)].shape == (d,)
    assert vectors.read(2, 9).flags.c_contiguous
    out = np.ones((9, d), dtype=vectors.dtype)
    found = vectors.read(2, 9, out=out)
    assert np.shares_memory(found, out)
    assert np.array_equal(out[:7], expected[2:9])
    assert (out[7:] == 1).all()
    assert np.array_equal(np.asarray(vectors), expected)
    assert np.asarray(vectors, dtype=np.float16).dtype == np.float16


# Every format


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_dense(folder: Path, name: str, ending: str) -> None:
    with open_vectors(folder / (name + ending)) as vectors:
        check(vectors, X)
        assert not vectors.is_sparse
        assert vectors.name.endswith(name + ending)
        assert vectors.format in FORMATS
        columns = name in ("columns.parquet", "a.arrow", "a.csv")
        assert vectors.feature_names == (NAMES if columns else None)


@pytest.mark.parametrize("name", MADE_SPARSE)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_sparse(folder: Path, name: str, ending: str) -> None:
    with open_vectors(folder / (name + ending)) as vectors:
        assert vectors.is_sparse
        check(vectors, SPARSE)
        with pytest.raises(TypeError, match=r"load\(\) gives them as CSR"):
            np.asarray(vectors)
        with pytest.raises(ValueError, match="out is for dense rows"):
            vectors.read(0, 1, out=np.empty((1, 6)))
        assert sum(batch.shape[0] for batch in vectors.batches()) == 50


@pytest.mark.parametrize(
    "name",
    ["a.npy", "stored.npz", "a.fvecs", "a.bvecs", "a.ivecs", "a.fbin", "a.u8bin", "a.i8bin", "a.h5"],
)
def test_maps_copy_nothing(folder: Path, name: str) -> None:
    with open_vectors(folder / name) as vectors:
        assert vectors.is_mapped
        every = vectors.load()
    assert isinstance(every, np.memmap)
    assert not every.flags.writeable
    assert np.array_equal(every, X)  # after the file was closed


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", ">f4", "i1", "u1", "i2", ">u2", "i4", "u4", "i8", ">i8", "u8", "?"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_orders_of_npy(tmp_path: Path, dtype: str, order: Any) -> None:
    array = np.asarray(X > 50 if dtype == "?" else X, dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    with open_vectors(tmp_path / "a.npy") as vectors:
        check(vectors, array)
        assert vectors.dtype == np.dtype(dtype).newbyteorder("=")
        assert vectors.is_mapped == (order == "C" and np.dtype(dtype).isnative)


@given(
    begin=st.none() | st.integers(-60, 60),
    end=st.none() | st.integers(-60, 60),
    step=st.none() | st.integers(-9, 9).filter(bool),
    index=st.lists(st.integers(-50, 49)),
    name=st.sampled_from(["a.npy", "a.fvecs", "lists.parquet", "fortran.npy", "a.npz"]),
)
def test_indices_are_those_of_numpy(
    folder: Path, begin: int | None, end: int | None, step: int | None, index: list[int], name: str
) -> None:
    with open_vectors(folder / name) as vectors:
        expected = SPARSE if vectors.is_sparse else X
        for rows in (slice(begin, end, step), np.array(index, dtype=int)):
            found = vectors[rows]
            assert np.array_equal(found.toarray() if issparse(found) else found, expected[rows])


@pytest.mark.parametrize("index", [50, -51, [50], [-51], [[1]], (1, 2), 1.5, [1.5], [True], None, "a"])
def test_indices_that_are_none(folder: Path, index: Any) -> None:
    with open_vectors(folder / "a.npy") as vectors, pytest.raises((IndexError, TypeError)):
        vectors[index]


def test_reading_what_is_not_there(folder: Path) -> None:
    vectors = open_vectors(folder / "a.npy")
    for begin, end in ((-1, 3), (0, 51), (4, 3)):
        with pytest.raises(IndexError, match="not within the 50"):
            vectors.read(begin, end)
    for wrong in (np.empty((3, 6)), np.empty((2, 6), "f4"), np.empty((3, 7), "f4"), X[:6:2]):
        with pytest.raises(ValueError, match="out must be C-contiguous"):
            vectors.read(0, 3, out=wrong)
    with pytest.raises(ValueError, match="n_rows must be at least 1"):
        next(vectors.batches(0))
    vectors.close()
    vectors.close()
    with pytest.raises(ValueError, match="was closed"):
        vectors.read(0, 1)


def test_a_thread_that_reads_ahead(folder: Path) -> None:
    for name in MADE:
        with open_vectors(folder / name) as vectors:
            found: list[bool] = []

            def read(vectors: Vectors = vectors, found: list[bool] = found) -> None:
                found.extend(np.array_equal(vectors.read(i, i + 5), X[i : i + 5]) for i in range(45))

            threads = [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [True] * 180, name


# Which array, dataset or columns


def test_keys(folder: Path, tmp_path: Path) -> None:
    with open_vectors(folder / "a.h5", key="test") as vectors:
        assert vectors.shape == (3, 6)
    with open_vectors(folder / "deflated.npz", key="test") as vectors:
        check(vectors, X)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/deep"] = X
    assert open_vectors(tmp_path / "a.h5", key="group/deep").shape == X.shape
    for name in ("columns.parquet", "a.arrow", "a.csv"):
        with open_vectors(folder / name, key=["e", "b"]) as vectors:
            assert np.array_equal(vectors.load(), X[:, [4, 1]])
            assert vectors.feature_names == ["e", "b"]
        with open_vectors(folder / name, key="c") as vectors:
            assert np.array_equal(vectors[:], X[:, [2]])
    with open_vectors(folder / "lists.parquet", key="id") as vectors:
        assert np.array_equal(vectors.load()[:, 0], np.arange(50))
    with open_vectors(folder / "a.tsv", key=["2", "1"]) as vectors:
        assert np.array_equal(vectors.load(), X[:, [1, 0]])
    for name, key in (
        ("a.npy", "a"),
        ("a.npz", ["a", "b"]),
        ("a.csv", []),
        ("a.csv", [1]),
        ("a.csv", ["a", "a"]),
    ):
        with pytest.raises(ValueError, match=r"key|keys"):
            open_vectors(folder / name, key=key)  # type: ignore[arg-type]


def test_types_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.array([1, 2], "int8"), "b": pa.array([0.5, 1], "float32")}), path)
    with open_vectors(path) as vectors:
        assert vectors.dtype == np.float32
        assert vectors.load().tolist() == [[1, 0.5], [2, 1]]
    pq.write_table(pa.table({"v": pa.array([[True, False]] * 3)}), path)
    assert open_vectors(path).load().tolist() == [[True, False]] * 3
    pq.write_table(pa.table({"v": pa.array([[1, 2]] * 3, pa.large_list(pa.uint8()))}), path)
    assert open_vectors(path).dtype == np.uint8
    tensors = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float32(), [2, 3]), pa.FixedSizeListArray.from_arrays(X.ravel(), 6)
    )
    pq.write_table(pa.table({"v": tensors}), path)
    assert np.array_equal(open_vectors(path).load(), X)


def test_large_row_groups_are_put_down_once(tmp_path: Path) -> None:
    pq.write_table(pa.table({"v": list(X)}), tmp_path / "a.parquet")
    with open_vectors(tmp_path / "a.parquet", max_memory=1000) as vectors:
        check(vectors, X)


# Tables as text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2.5\n-3,4e1\n", None),
        ("a,b\n1,2.5\n-3,4e1\n", ["a", "b"]),
        ("a;b\n1;2.5\n-3;4e1\n", ["a", "b"]),
        ("a\tb\n1\t2.5\n-3\t4e1\n", ["a", "b"]),
        ("1 2.5\n-3  4e1\n", None),
        ('"a","b"\n"1","2.5"\n"-3","4e1"\n', ["a", "b"]),
        ("\ufeffa,b\r\n1,2.5\r\n\r\n-3,4e1", ["a", "b"]),
        (" a , b \n 1 , +2.5 \n -3 , 4e1 \n\n", ["a", "b"]),
    ],
)
def test_csv_variants(tmp_path: Path, text: str, names: list[str] | None) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode())
    with open_vectors(tmp_path / "a.csv") as vectors:
        assert vectors.load().tolist() == [[1, 2.5], [-3, 40]]
        assert vectors.feature_names == names
        assert vectors.dtype == np.float64


def test_csv_with_texts_beside_the_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('name,x,y\n"a, ""b""",1,2\n"two\n\nlines",3,nan\n')
    with open_vectors(tmp_path / "a.csv", key=["x", "y"]) as vectors:
        assert np.array_equal(vectors.load(), np.array([[1, 2], [3, np.nan]]), equal_nan=True)


def test_csv_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.io._readers.separated.PIECE_BYTES", 100)
    numbers = np.random.default_rng(0).normal(size=(1000, 7))
    np.savetxt(tmp_path / "a.csv", numbers, "%.17g", ",")
    with open_vectors(tmp_path / "a.csv") as vectors:
        assert np.array_equal(vectors.load(), numbers)
    (tmp_path / "b.csv").write_text("1,2\n" * 500 + "1,x\n" + "1,2\n" * 500)
    with pytest.raises(ValueError, match="line 501, column 2"):
        open_vectors(tmp_path / "b.csv").load()


# Standard input, and files that do not tell what they are


def from_stdin(content: bytes, options: str = "") -> str:
    code = f"""
from boostkmeans.io import open_vectors
with open_vectors("-"{options}) as vectors:
    assert vectors.name == "standard input"
    print(vectors.format, vectors.shape, vectors.load().sum(), vectors.read(1, 3).sum())
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], input=content, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode().strip()


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("a.npy", "", "npy"),
        ("a.npy.gz", "", "npy"),
        ("a.csv", "", "csv"),
        ("a.fvecs", ", format='fvecs'", "fvecs"),
        ("a.h5.gz", "", "hdf5"),
    ],
)
def test_standard_input(folder: Path, name: str, options: str, kind: str) -> None:
    expected = f"{kind} (50, 6) {X.sum()} {X[1:3].sum()}"
    assert from_stdin((folder / name).read_bytes(), options) == expected


def test_endings_that_tell_nothing(folder: Path, tmp_path: Path) -> None:
    for name in ("a.npy", "stored.npz", "lists.parquet", "a.arrow", "a.h5", "a.npy.gz"):
        path = tmp_path / "unknown"
        path.write_bytes((folder / name).read_bytes())
        with open_vectors(path) as vectors:
            check(vectors, X)
    path.write_bytes((folder / "a.fvecs").read_bytes())
    with pytest.raises(ValueError, match=r"Give its format: format=\.\.\."):
        open_vectors(path)
    with open_vectors(path, format="fvecs") as vectors:
        check(vectors, X)
    with pytest.raises(ValueError, match="format must be one of"):
        open_vectors(path, format="xyz")
    with pytest.raises(FileNotFoundError):
        open_vectors(tmp_path / "missing.csv")
    with pytest.raises(IsADirectoryError):
        open_vectors(tmp_path)


def test_a_named_pipe(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.npy")
    content = (folder / "a.npy").read_bytes()
    thread = threading.Thread(target=lambda: (tmp_path / "a.npy").write_bytes(content))
    thread.start()
    with open_vectors(tmp_path / "a.npy") as vectors:
        check(vectors, X)
    thread.join()


# Memory


@pytest.mark.parametrize("amount", [7, "7", "7B", " 7 b "])
def test_sizes(amount: int | str) -> None:
    assert parse_bytes(amount) == 7


def test_units_of_sizes() -> None:
    assert [parse_bytes(f"2{unit}") for unit in ("kB", "MB", "GB", "TB")] == [
        2 * 10**n for n in (3, 6, 9, 12)
    ]
    assert [parse_bytes(f"1.5 {u}") for u in ("K", "MiB", "g", "TiB")] == [
        3 << n for n in (9, 19, 29, 39)
    ]
    for wrong in ("", "GB", "-1GB", "1XB", "1e9", "1,5GB", 0, -1, True, 1.5, None, "0.1B"):
        with pytest.raises(ValueError, match="such as '2GB'"):
            parse_bytes(wrong)  # type: ignore[arg-type]


def test_the_limit_is_kept(folder: Path) -> None:
    assert open_vectors(folder / "a.npy").max_memory is None
    assert open_vectors(folder / "a.npy", max_memory="2GB").max_memory == 2 * 10**9


def test_what_does_not_fit_goes_to_a_file_without_a_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made: list[bool] = []
    nameless = tempfile.TemporaryFile

    def noted(**how: Any) -> Any:
        made.append(True)
        return nameless(**how)

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    for name in ("a.csv", "a.npy.gz", "deflated.npz", "a.arrow"):
        for max_memory, expected in ((None, []), (1000, [True])):
            made.clear()
            with open_vectors(folder / name, max_memory=max_memory) as vectors:
                check(vectors, X)
                assert made == expected, name
                assert list(tmp_path.iterdir()) == []


def test_what_is_known_without_reading_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "boostkmeans.io._access.spool.Spool.write", lambda self, piece: pytest.fail("it was read")
    )
    for name in ("a.npy.gz", "deflated.npz"):
        with open_vectors(folder / name) as vectors:
            assert vectors.shape == (50, 6)
            assert vectors.dtype == np.float32
    with open_vectors(folder / "a.csv") as vectors:
        assert vectors.dtype == np.float64


def with_a_hole(path: Path, n: int, d: int) -> None:
    """A file of zeros that hardly take room on the disk."""
    write_vectors(path, np.zeros((1, d), dtype=np.float32))
    with path.open("r+b") as file:
        if path.suffix == ".npy":
            shape = {"descr": "<f4", "fortran_order": False, "shape": (n, d)}
            np.lib.format.write_array_header_1_0(file, shape)
            file.truncate(128 + n * 4 * d)
        elif path.suffix == ".fbin":
            file.write(np.array([n, d], dtype=np.uint32).tobytes())
            file.truncate(8 + n * 4 * d)
        else:
            file.truncate(n * (4 * d + 4))
            rows = np.memmap(file, dtype=np.int32, mode="r+", shape=(n, d + 1))
            rows[:, 0] = d


def test_files_larger_than_the_addresses_that_are_left(tmp_path: Path) -> None:
    """256 MB, read with 64 MB to spare."""
    n, d = 1 << 14, 4001
    for name in ("a.npy", "a.fvecs", "a.fbin"):
        with_a_hole(tmp_path / name, n, d)
    result = run_python(f"""
import resource
from pathlib import Path
import numpy as np
from boostkmeans.io import open_vectors
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
out = np.empty((500, {d}), dtype=np.float32)
for name in ("a.npy", "a.fvecs", "a.fbin"):
    with open_vectors({str(tmp_path)!r} + "/" + name) as vectors:
        assert vectors.nbytes > 256e6, vectors.nbytes
        assert sum(len(batch) for batch in vectors.batches()) == {n}
        assert vectors[[0, 7777, -1]].sum() == 0
        assert not any(vectors.read(i, i + 500, out).any() for i in range(0, 16_000, 500))
        try:
            vectors.load()
        except OSError:
            print("no room for a map")
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "no room for a map\n" * 3


# Writing


@pytest.mark.parametrize("kind", WRITABLE)
def test_what_is_written_is_read(folder: Path, tmp_path: Path, kind: str) -> None:
    for given_ in (X, np.asfortranarray(X), X.astype(">f8"), X.astype(np.uint8), X.tolist()):
        write_vectors(tmp_path / f"a.{kind}", given_, force=True)
        with open_vectors(tmp_path / f"a.{kind}") as vectors:
            check(vectors, X)
    for name in ("a.fvecs", "a.csv", "lists.parquet", "fortran.npy"):
        with open_vectors(folder / name) as vectors:
            write_vectors(tmp_path / "converted", vectors, format=kind, force=True)
        with open_vectors(tmp_path / "converted", format=kind) as vectors:
            check(vectors, X)


def test_types_stay_where_the_format_has_them(tmp_path: Path) -> None:
    for dtype in ("f2", "f4", "f8", "i1", "u2", "i8", "?"):
        for kind in ("npy", "parquet"):
            write_vectors(tmp_path / "a", (X > 50).astype(dtype), format=kind, force=True)
            assert open_vectors(tmp_path / "a", format=kind).dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "kind"),
    [
        (0.5, "f8", "bvecs"),
        (-1, "i4", "bvecs"),
        (256, "i4", "u8bin"),
        (128, "u1", "i8bin"),
        (2**31, "i8", "ivecs"),
        (2**32 - 1, "u4", "ibin"),
        (np.nan, "f4", "ivecs"),
        (np.inf, "f4", "ibin"),
        (2**24 + 1, "i4", "fvecs"),
        (2**63, "u8", "ivecs"),
        (1e300, "f8", "fbin"),
    ],
)
def test_values_that_would_be_lost(tmp_path: Path, value: float, dtype: str, kind: str) -> None:
    array = np.zeros((5, 3), dtype=dtype)
    array[3, 1] = value
    with pytest.raises(ValueError, match=r"Row 3, column 1: .* Choose another format"):
        write_vectors(tmp_path / f"a.{kind}", array)
    assert list(tmp_path.iterdir()) == []


def test_float64_becomes_float32_where_there_is_nothing_else(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.fvecs", np.array([[0.1, np.inf, np.nan]]))
    found = open_vectors(tmp_path / "a.fvecs").load()
    assert np.array_equal(found, np.array([[0.1, np.inf, np.nan]], dtype=np.float32), equal_nan=True)


def test_what_is_not_written(tmp_path: Path) -> None:
    for vectors, what in (
        (csr_array(X), "sparse"),
        (X[0], "2 dimensions"),
        (X[:, :0], "2 dimensions"),
        (X.astype(complex), "real numbers"),
        ([["a"]], "real numbers"),
    ):
        with pytest.raises(ValueError, match=what):
            write_vectors(tmp_path / "a.npy", vectors)
    for name in ("a.csv", "a", "a.npy.gz", "a.npz"):
        with pytest.raises(ValueError, match="is not written"):
            write_vectors(tmp_path / name, X)
    with pytest.raises(ValueError, match="format must be one of"):
        write_vectors(tmp_path / "a.npy", X, format="csv")
    with pytest.raises(ValueError, match="without rows"):
        write_vectors(tmp_path / "a.fvecs", X[:0])
    write_vectors(tmp_path / "a.npy", X)
    with pytest.raises(FileExistsError):
        write_vectors(tmp_path / "a.npy", X)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_progress(folder: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    write_vectors(tmp_path / "a.npy", X, progress=lambda *what: seen.append(what))
    assert seen[-1] == ("writing", 50, 50)
    for name in ("a.csv", "a.npy.gz"):
        seen.clear()
        open_vectors(folder / name, progress=lambda *what: seen.append(what)).load()
        assert {what for what, _, _ in seen} == {"reading"}
