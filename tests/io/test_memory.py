"""Memory limits, temporary files, and files that declare more than they hold."""

import errno
import gzip
import struct
import tempfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from vector_samples import DENSE_FILES, X, check_all_accesses, failure

from boostkmeans import DataFormatError
from boostkmeans.io import open_vectors, parse_bytes, write_vectors
from boostkmeans.io._access.spool import max_spool_memory
from conftest import run_python


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vectors")
    for name in ("a.npy", "a.csv", "deflated.npz", "a.arrow"):
        DENSE_FILES[name](made / name)
    (made / "a.npy.gz").write_bytes(gzip.compress((made / "a.npy").read_bytes()))
    return made


@pytest.mark.parametrize("amount", [7, "7", "7B", " 7 b "])
def test_parse_bytes_without_factor(amount: int | str) -> None:
    assert parse_bytes(amount) == 7


def test_parse_bytes_units() -> None:
    decimal = [parse_bytes(f"2{unit}") for unit in ("kB", "MB", "GB", "TB")]
    assert decimal == [2 * 10**n for n in (3, 6, 9, 12)]
    binary = [parse_bytes(f"1.5 {unit}") for unit in ("K", "MiB", "g", "TiB")]
    assert binary == [3 << n for n in (9, 19, 29, 39)]


@pytest.mark.parametrize(
    "amount", ["", "GB", "-1GB", "1XB", "1e9", "1,5GB", 0, -1, True, 1.5, None, "0.1B"]
)
def test_parse_bytes_rejects_invalid_amounts(amount: Any, folder: Path) -> None:
    with pytest.raises(ValueError, match=r"amount must be a positive number of bytes .* such as '2GB'"):
        parse_bytes(amount)
    if amount is not None:
        with pytest.raises(ValueError, match="max_memory must be a positive number of bytes"):
            open_vectors(folder / "a.npy", max_memory=amount)


def test_max_memory_is_stored(folder: Path) -> None:
    assert open_vectors(folder / "a.npy").max_memory is None
    assert open_vectors(folder / "a.npy", max_memory="2GB").max_memory == 2 * 10**9


def test_memory_of_machine_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.io._access.spool.default_memory_limit", lambda: 4000)
    assert [max_spool_memory(limit) for limit in (None, 400, 10**9)] == [1000, 100, 1000]


@pytest.mark.parametrize("name", ["a.csv", "a.npy.gz", "deflated.npz", "a.arrow"])
def test_content_above_limit_goes_to_nameless_file(
    folder: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made: list[bool] = []
    nameless = tempfile.TemporaryFile

    def noted(**options: Any) -> Any:
        made.append(True)
        return nameless(**options)

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    for max_memory, expected in ((None, []), (1000, [True])):
        made.clear()
        with open_vectors(folder / name, max_memory=max_memory) as vectors:
            check_all_accesses(vectors, X)
            assert made == expected
            assert list(tmp_path.iterdir()) == []


def test_large_row_groups_are_spooled(tmp_path: Path) -> None:
    pq.write_table(pa.table({"v": list(X)}), tmp_path / "a.parquet")
    with open_vectors(tmp_path / "a.parquet", max_memory=1000) as vectors:
        check_all_accesses(vectors, X)


def test_shape_is_known_without_reading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "boostkmeans.io._access.spool.Spool.write", lambda self, piece: pytest.fail("rows were read")
    )
    for name in ("a.npy.gz", "deflated.npz"):
        with open_vectors(folder / name) as vectors:
            assert vectors.shape == (50, 6)
            assert vectors.dtype == np.float32
    with open_vectors(folder / "a.csv") as vectors:
        assert vectors.dtype == np.float64


def write_file_of_zeros(path: Path, n: int, d: int) -> None:
    """Write a file with a hole, which takes hardly any room on the disk."""
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


@pytest.mark.process
@pytest.mark.slow
def test_file_larger_than_address_space(tmp_path: Path) -> None:
    """Files of 256 MB are read with 64 MB of free address space."""
    n, d = 1 << 14, 4001
    for name in ("a.npy", "a.fvecs", "a.fbin"):
        write_file_of_zeros(tmp_path / name, n, d)
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


@pytest.mark.process
@pytest.mark.slow
def test_full_disk_is_not_a_damaged_file(tmp_path: Path) -> None:
    rows = np.vstack([X] * 100)
    np.savez_compressed(tmp_path / "a.npz", rows)
    write_arrow(tmp_path / "a.arrow", rows)
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",")
    write_vectors(tmp_path / "a.parquet", rows)
    np.save(tmp_path / "plain", rows)
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress((tmp_path / "plain.npy").read_bytes()))
    result = run_python(f"""
import resource, signal
from boostkmeans.io import open_vectors
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
for name in ("a.npz", "a.arrow", "a.csv", "a.npy.gz", "a.parquet"):
    try:
        open_vectors({str(tmp_path)!r} + "/" + name, max_memory=1000).read(0, 1)
    except OSError as error:
        print(error.errno, error)
""")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 5
    for line in lines:
        assert line.startswith(f"{errno.EFBIG} ")
        assert "no room in /" in line
        assert "Set TMPDIR" in line


def write_arrow(path: Path, rows: Any) -> None:
    table = pa.table({"v": rows.tolist()})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=50)


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "broken"), MemoryError("all"), AttributeError("a bug")], ids=repr
)
def test_errors_of_machine_and_package_are_not_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    write_vectors(tmp_path / "a.parquet", X)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=X, chunks=(9, 4))
    np.savez_compressed(tmp_path / "a.npz", X)

    def broken(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("boostkmeans.io._readers.arrow.parquet_store.choose_columns", broken)
    monkeypatch.setattr("boostkmeans.io._readers.hdf5._find_dataset", broken)
    monkeypatch.setattr("boostkmeans.io._readers.npz.choose_name", broken)
    for name in ("a.parquet", "a.h5", "a.npz"):
        with pytest.raises(type(error), match=str(error.args[-1])) as raised:
            open_vectors(tmp_path / name)
        assert raised.value is error


# Compressed content


@pytest.mark.parametrize(
    "name", ["b.mtx", "b.svm", "b.mat", "b.fvecs", "b.parquet", "b.npz", "b.h5", "b.fbin", "b.csv"]
)
def test_content_of_another_format_is_not_decompressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(bytes(8) + b"hello\n" * (1 << 20)))
    read = gzip.GzipFile.read1
    total = []

    def noted(self: Any, size: int = -1) -> bytes:
        found = read(self, size)
        total.append(len(found))
        return found

    monkeypatch.setattr(gzip.GzipFile, "read1", noted)
    with pytest.raises(DataFormatError, match=name):
        open_vectors(path)
    assert sum(total) < 100_000


def test_no_more_is_decompressed_than_declared(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.fbin", X)
    content = (tmp_path / "a.fbin").read_bytes()
    path = tmp_path / "a.fbin.gz"
    path.write_bytes(gzip.compress(content))
    with open_vectors(path) as vectors:
        assert (vectors.shape, vectors.dtype) == (X.shape, X.dtype)
        assert np.array_equal(vectors.load(), X)
    path.write_bytes(gzip.compress(content + bytes(1 << 24)))
    message = failure(path)
    n_read = int(message.split("but the file has ")[1].split(" bytes")[0].replace(",", ""))
    assert len(content) < n_read < 4 << 20
    path.write_bytes(gzip.compress(struct.pack("<II", 2**31, 2**10)))
    with pytest.raises(DataFormatError, match="more than a compressed file of this size can contain"):
        open_vectors(path)


def test_sparse_matrix_must_fit_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    path.write_text("500 1\n" + "1\n" * 500)
    assert open_vectors(path, max_memory=2000).load().shape == (500, 1)
    with pytest.raises(MemoryError, match=r"a\.mat: .* limit of 900 bytes\. Raise the limit"):
        open_vectors(path, max_memory=900).load()


def test_small_parquet_file_of_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million values, nearly all zeros, are hundreds of times as long as their file: not too much."""
    values = np.zeros(1 << 20)
    values[:1000] = np.random.default_rng(0).random(1000)
    pq.write_table(pa.table({"a": values}), tmp_path / "a.parquet", row_group_size=1 << 26)
    assert open_vectors(tmp_path / "a.parquet").load().shape == (1 << 20, 1)
    monkeypatch.setattr("boostkmeans.io._readers.arrow.parquet_store.MAX_EXPANSION", 100)
    assert "bytes should hold" in failure(tmp_path / "a.parquet")
