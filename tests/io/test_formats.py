"""Reading of every file format, compared with the arrays that were written."""

import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy.sparse import bsr_array, csr_array, dia_array, save_npz
from vector_samples import (
    DENSE_FILES,
    NAMES,
    SPARSE,
    SPARSE_FILES,
    X,
    check_all_accesses,
    failure,
    write_samples,
)

from boostkmeans.io import FORMATS, Vectors, open_vectors, write_vectors


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_samples(tmp_path_factory.mktemp("vectors"))


@pytest.mark.parametrize("name", DENSE_FILES)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_dense_formats(folder: Path, name: str, ending: str) -> None:
    with open_vectors(folder / (name + ending)) as vectors:
        check_all_accesses(vectors, X)
        assert not vectors.is_sparse
        assert vectors.name.endswith(name + ending)
        assert vectors.format in FORMATS
        columns = name in ("columns.parquet", "a.arrow", "a.csv")
        assert vectors.feature_names == (NAMES if columns else None)


@pytest.mark.parametrize("name", SPARSE_FILES)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_sparse_formats(folder: Path, name: str, ending: str) -> None:
    with open_vectors(folder / (name + ending)) as vectors:
        assert vectors.is_sparse
        check_all_accesses(vectors, SPARSE)
        with pytest.raises(TypeError, match=r"Use load\(\), which returns a CSR matrix"):
            np.asarray(vectors)
        with pytest.raises(ValueError, match="only supported for dense rows"):
            vectors.read(0, 1, out=np.empty((1, 6)))
        assert sum(batch.shape[0] for batch in vectors.batches()) == 50


@pytest.mark.parametrize(
    "name",
    ["a.npy", "stored.npz", "a.fvecs", "a.bvecs", "a.ivecs", "a.fbin", "a.u8bin", "a.i8bin", "a.h5"],
)
def test_load_returns_memory_map(folder: Path, name: str) -> None:
    with open_vectors(folder / name) as vectors:
        assert vectors.is_mapped
        every = vectors.load()
    assert isinstance(every, np.memmap)
    assert not every.flags.writeable
    assert np.array_equal(every, X)  # the map stays valid after the file was closed


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", ">f4", "i1", "u1", "i2", ">u2", "i4", "u4", "i8", ">i8", "u8", "?"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_types_and_orders(tmp_path: Path, dtype: str, order: Any) -> None:
    array = np.asarray(X > 50 if dtype == "?" else X, dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    with open_vectors(tmp_path / "a.npy") as vectors:
        check_all_accesses(vectors, array)
        assert vectors.dtype == np.dtype(dtype).newbyteorder("=")
        assert vectors.is_mapped == (order == "C" and np.dtype(dtype).isnative)


def test_suffix_before_other_suffixes(tmp_path: Path) -> None:
    header = struct.pack("<II", *X.shape)
    (tmp_path / "base.1B.fbin.crop_nb_50").write_bytes(header + X.tobytes())
    assert np.array_equal(open_vectors(tmp_path / "base.1B.fbin.crop_nb_50").load(), X)


def test_float16_bin(tmp_path: Path) -> None:
    rows = X.astype(np.float16)
    (tmp_path / "a.f16bin").write_bytes(struct.pack("<II", *X.shape) + rows.tobytes())
    assert np.array_equal(open_vectors(tmp_path / "a.f16bin").load(), rows)


# Threads, pipes and standard input


@pytest.mark.parametrize("name", DENSE_FILES)
def test_several_threads_can_read(folder: Path, name: str) -> None:
    with open_vectors(folder / name) as vectors:
        found: list[bool] = []

        def read(vectors: Vectors = vectors) -> None:
            found.extend(np.array_equal(vectors.read(i, i + 5), X[i : i + 5]) for i in range(45))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [True] * 180


@pytest.mark.parametrize(
    ("name", "options", "format_name"),
    [
        ("a.npy", {}, "npy"),
        ("a.npy.gz", {}, "npy"),
        ("a.csv", {}, "csv"),
        ("a.fvecs", {"format": "fvecs"}, "fvecs"),
        ("a.h5.gz", {}, "hdf5"),
    ],
)
def test_standard_input(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    options: dict[str, Any],
    format_name: str,
) -> None:
    reading, writing = os.pipe()
    content = (folder / name).read_bytes()
    assert len(content) < 65_536  # the pipe has room for it
    os.write(writing, content)
    os.close(writing)
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with open_vectors("-", **options) as vectors:
            assert (vectors.name, vectors.format) == ("standard input", format_name)
            check_all_accesses(vectors, X)


@pytest.mark.process
@pytest.mark.slow
def test_standard_input_of_a_process(folder: Path) -> None:
    code = """
from boostkmeans.io import open_vectors
with open_vectors("-") as vectors:
    print(vectors.format, vectors.shape, vectors.load().sum(), vectors.read(1, 3).sum())
"""
    command = [sys.executable, "-W", "error", "-c", code]
    content = (folder / "a.npy").read_bytes()
    result = subprocess.run(command, input=content, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.decode() == f"npy (50, 6) {X.sum()} {X[1:3].sum()}\n"


def test_named_pipe(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.npy")
    content = (folder / "a.npy").read_bytes()
    thread = threading.Thread(target=lambda: (tmp_path / "a.npy").write_bytes(content))
    thread.start()
    with open_vectors(tmp_path / "a.npy") as vectors:
        check_all_accesses(vectors, X)
    thread.join()


# Detection of the format


@pytest.mark.parametrize("name", ["a.npy", "stored.npz", "lists.parquet", "a.arrow", "a.h5", "a.npy.gz"])
def test_format_is_detected_by_content(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "unknown").write_bytes((folder / name).read_bytes())
    with open_vectors(tmp_path / "unknown") as vectors:
        check_all_accesses(vectors, X)


def test_unknown_format_must_be_named(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "unknown"
    path.write_bytes((folder / "a.fvecs").read_bytes())
    with pytest.raises(ValueError, match="Pass format, which must be one of 'npy', 'npz'"):
        open_vectors(path)
    with open_vectors(path, format="fvecs") as vectors:
        check_all_accesses(vectors, X)
    with pytest.raises(ValueError, match="format must be one of"):
        open_vectors(path, format="xyz")


def test_rejects_suffix_that_contradicts_content(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.parquet", X)
    (tmp_path / "a.parquet").rename(tmp_path / "a.npy")
    message = failure(tmp_path / "a.npy")
    assert "the first bytes are those of 'parquet'" in message
    assert "pass format='parquet'" in message
    assert open_vectors(tmp_path / "a.npy", format="parquet").shape == X.shape


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", X)
    assert open_vectors(b"a.npy").shape == X.shape
    with pytest.raises(ValueError, match="path must be the name of a file"):
        open_vectors("")
    with pytest.raises(ValueError, match=r"q3://b/x\.parquet: Protocol not known"):
        open_vectors("q3://b/x.parquet")
    with pytest.raises(FileNotFoundError):
        open_vectors("missing.csv")


# Choice of an array, a dataset or columns


def test_key_selects_array_or_columns(folder: Path, tmp_path: Path) -> None:
    with open_vectors(folder / "a.h5", key="test") as vectors:
        assert vectors.shape == (3, 6)
    with open_vectors(folder / "deflated.npz", key="test") as vectors:
        check_all_accesses(vectors, X)
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


@pytest.mark.parametrize(
    ("name", "key", "match"),
    [
        ("a.npy", "a", "holds a single matrix, so key is not allowed"),
        ("a.npz", ["a", "b"], "key must name one array"),
        ("a.csv", [], "key must be a name or a sequence of names"),
        ("a.csv", [1], "key must be a name or a sequence of names"),
        ("a.csv", ["a", "a"], "key must be names without duplicates"),
    ],
)
def test_rejects_invalid_keys(folder: Path, name: str, key: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        open_vectors(folder / name, key=key)


# Layouts of HDF5


@pytest.mark.parametrize("size", [512, 2048])
def test_hdf5_with_user_block(tmp_path: Path, size: int) -> None:
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=size) as file:
        file["x"] = X
    assert np.array_equal(open_vectors(tmp_path / "a.h5").load(), X)


def test_hdf5_compact_dataset(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple(X.shape)
        dataset = h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_FLOAT, space, compact)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, X)
    with open_vectors(tmp_path / "a.h5") as vectors:
        assert np.array_equal(vectors.read(3, 7), X[3:7])


@pytest.mark.parametrize("chunks", [None, (5, 4)])
def test_hdf5_without_rows(tmp_path: Path, chunks: tuple[int, int] | None) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", (0, 4), "f4", chunks=chunks, maxshape=(None, 4) if chunks else None)
    assert open_vectors(tmp_path / "a.h5").load().shape == (0, 4)


def test_hdf5_datasets_in_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["g/deep/x"] = X
        file["g/again"] = file["g"]  # a cycle
    assert np.array_equal(open_vectors(path, key="g/deep/x").load(), X)
    assert "The file has several datasets: 'g/again/again" in failure(path)
    with h5py.File(path, "w") as file:
        file["g/deep/x"] = X
    assert np.array_equal(open_vectors(path).load(), X)
    with h5py.File(path, "a") as file:
        file["g/y"] = X
    assert "'g/deep/x', 'g/y'. Name one of them: key='g/deep/x'" in failure(path)


def test_hdf5_chunks_are_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.zeros((40_000, 16), dtype=np.float32)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=rows, chunks=(40_000, 8), compression="gzip")
    made: list[dict[str, Any]] = []
    opened = h5py.File

    def noted(*args: Any, **options: Any) -> Any:
        made.append(options)
        return opened(*args, **options)

    monkeypatch.setattr(h5py, "File", noted)
    open_vectors(tmp_path / "a.h5").close()
    assert made[-1]["rdcc_nbytes"] == rows.nbytes
    open_vectors(tmp_path / "a.h5", max_memory=rows.nbytes).close()
    assert "rdcc_nbytes" not in made[-1]


# Layouts of sparse matrices


def test_matrix_market_symmetries(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    text = "%%MatrixMarket matrix coordinate real {}\n2 2 2\n{} 1 1\n2 1 3\n"
    for symmetry, first, expected in (
        ("symmetric", 1, [[1, 3], [3, 0]]),
        ("skew-symmetric", 2, [[0, -4], [4, 0]]),
        ("general", 1, [[1, 0], [3, 0]]),
    ):
        path.write_text(text.format(symmetry, first))
        assert open_vectors(path).load().toarray().tolist() == expected
    path.write_text(text.format("symmetric", 1).replace("2 1 3", "1 2 3"))
    assert "entries above the diagonal" in failure(path)
    path.write_text(text.format("hermitian", 1))
    assert "Got 'coordinate real hermitian'" in failure(path)
    path.write_text("%%MatrixMarket matrix coordinate real general\n0 5 0\n")
    assert open_vectors(path).load().shape == (0, 5)


def test_npz_layouts_of_sparse_matrices(tmp_path: Path) -> None:
    dense = np.diag(X[:4, 0]) + np.diag(X[:3, 1], 1)
    for matrix in (bsr_array(csr_array(dense), blocksize=(2, 2)), dia_array(dense)):
        save_npz(tmp_path / "a.npz", matrix)
        assert np.array_equal(open_vectors(tmp_path / "a.npz").load().toarray(), dense)
    np.savez(tmp_path / "a.npz", format="dia", shape=(4, 4), data=X[:2], offsets=[1])
    assert "The diagonals do not match their offsets" in failure(tmp_path / "a.npz")
