"""Sample files of every format, and helper functions for the tests of `boostkmeans.io`."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from pyarrow import feather
from scipy.io import mmwrite
from scipy.sparse import csr_array, issparse, save_npz
from sklearn.datasets import dump_svmlight_file

from boostkmeans import DataFormatError
from boostkmeans.io import WRITABLE, Vectors, open_vectors, write_vectors

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


DENSE_FILES: dict[str, Callable[[Path], Any]] = {
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
    **{f"a.{name}": lambda path: write_vectors(path, X) for name in WRITABLE},
}
SPARSE_FILES: dict[str, Callable[[Path], Any]] = {
    "a.npz": lambda path: save_npz(path, csr_array(SPARSE)),
    "a.mtx": lambda path: mmwrite(path, csr_array(SPARSE)),
    "a.svm": lambda path: dump_svmlight_file(SPARSE, np.zeros(50), str(path), zero_based=False),
    "a.mat": lambda path: path.write_text(
        "50 6\n" + "".join(" ".join(map(str, row)) + "\n" for row in SPARSE)
    ),
}


def write_samples(folder: Path) -> Path:
    """Write every sample file, and each of them compressed."""
    for name, make in {**DENSE_FILES, **SPARSE_FILES}.items():
        make(folder / name)
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    return folder


def check_all_accesses(vectors: Vectors, expected: NDArray[Any]) -> None:
    """Check that every way of reading the rows gives the expected ones."""
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


def read_all(path: Path, **options: Any) -> None:
    """Read all rows of a file in two ways."""
    with open_vectors(path, **options) as vectors:
        vectors.read(0, len(vectors))
        vectors.load()


def failure(path: Path, **options: Any) -> str:
    """Return the message of the DataFormatError that reading raises, without the name of the file."""
    with pytest.raises(DataFormatError) as raised:
        read_all(path, **options)
    assert raised.value.file == str(path)
    return str(raised.value).removeprefix(f"{path}: ")


def written(path: Path, content: str | bytes) -> Path:
    """Write a file and return its path."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
