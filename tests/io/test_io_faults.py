"""What happens to files and machines while vectors are read: replaced, cut, interrupted, full."""

import errno
import gc
import gzip
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.sparse import bsr_array, csr_array, dia_array, save_npz

from boostkmeans import DataFormatError
from boostkmeans.io import open_vectors, write_vectors
from boostkmeans.io._access.spool import Spool, max_spool_memory
from conftest import run_python

X = np.random.default_rng(0).random((200, 4)).astype(np.float32)


def arrow(path: Path, rows: NDArray[Any], *, stream: bool = False) -> None:
    table = pa.table({"v": rows.tolist()})
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=50)


def failure(path: Path, **options: Any) -> str:
    with (
        pytest.raises(DataFormatError, match=path.name) as raised,
        open_vectors(path, **options) as vectors,
    ):
        vectors.load()
    return str(raised.value)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


# The file that was opened is the one that is read


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@pytest.mark.parametrize("proc", [True, False])
def test_names_that_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, proc: bool
) -> None:
    write: Callable[[Path, NDArray[Any]], Any] = write_vectors if name == "a.parquet" else arrow
    if not proc:  # as on other systems
        monkeypatch.setattr(pa, "OSFile", lambda path: pa.memory_map("/nowhere"))
    write(tmp_path / name, X)
    (tmp_path / "new").mkdir()
    write(tmp_path / "new" / name, 1 - X)
    monkeypatch.chdir(tmp_path)
    with open_vectors(name) as vectors:
        (tmp_path / "new" / name).replace(tmp_path / name)
        monkeypatch.chdir("/")
        assert np.array_equal(vectors.load(), X)
        assert np.array_equal(vectors.read(3, 9), X[3:9])


# Interrupted


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError])
def test_what_was_interrupted_does_not_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    np.savetxt(tmp_path / "a.csv", np.vstack([X] * 20))
    os.mkfifo(tmp_path / "pipe.csv")
    writer = os.open(tmp_path / "pipe.csv", os.O_RDWR)  # holds what is left
    os.write(writer, (tmp_path / "a.csv").read_bytes()[:60_000])
    seen: list[Any] = []
    write = Spool.write

    def interrupted(self: Spool, piece: Any) -> None:
        seen.append(piece)
        if len(seen) == 2:
            raise error
        write(self, piece)

    monkeypatch.setattr("boostkmeans.io._readers.separated.PIECE_BYTES", 1000)
    monkeypatch.setattr(Spool, "write", interrupted)
    vectors = open_vectors(tmp_path / "pipe.csv")
    with pytest.raises(error):
        _ = vectors.shape
    for _ in range(2):
        with pytest.raises(OSError, match=r"pipe\.csv: reading was interrupted \(.*open it again"):
            _ = vectors.shape
    os.close(writer)


def test_errors_hold_nothing_open(tmp_path: Path) -> None:
    arrow(tmp_path / "a.arrow", X)
    content = (tmp_path / "a.arrow").read_bytes()
    values = X[7].astype(np.float64).tobytes()
    assert values in content
    (tmp_path / "a.arrow").write_bytes(content.replace(values, b""))
    (tmp_path / "a.csv").write_text("1,2\n3,x\n")
    (tmp_path / "a.fvecs.gz").write_bytes(gzip.compress(struct.pack("<i", 2) + bytes(9)))
    gc.collect()
    gc.disable()
    try:
        for name in ("a.arrow", "a.csv", "a.fvecs.gz"):
            before = descriptors()
            vectors = open_vectors(tmp_path / name)
            messages = []
            for _ in range(2):
                try:
                    vectors.load()
                except DataFormatError as error:
                    messages.append(str(error))
            assert messages[0] == messages[1]
            assert descriptors() == before, name
    finally:
        gc.enable()


# Cut short


def test_streams_have_to_end(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"v": np.full((40, 1), -1, dtype=np.int32).tolist()})
    for legacy in (False, True):
        options = pa.ipc.IpcWriteOptions(use_legacy_format=legacy) if legacy else None
        sink = pa.BufferOutputStream()
        ends = []
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            for batch in table.to_batches(9):
                writer.write_batch(batch)
                ends.append(sink.tell())
        content = sink.getvalue().to_pybytes()
        path.write_bytes(content)
        assert open_vectors(path).shape == (40, 1)
        for end in ends:
            path.write_bytes(content[:end])
            assert "does not end as it should" in failure(path)


# Full disks are no damage


def test_a_full_disk(tmp_path: Path) -> None:
    rows = np.vstack([X] * 50)
    np.savez_compressed(tmp_path / "a.npz", rows)
    arrow(tmp_path / "a.arrow", rows)
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


def test_faults_of_the_machine_and_of_this_package_stay_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vectors(tmp_path / "a.parquet", X)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=X, chunks=(9, 4))
    np.savez_compressed(tmp_path / "a.npz", X)
    for error in (OSError(errno.EIO, "broken"), MemoryError("all"), AttributeError("a bug")):

        def broken(*_: Any, error: Exception = error, **__: Any) -> Any:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr("boostkmeans.io._readers.arrow_files.choose_columns", broken)
            patch.setattr("boostkmeans.io._readers.hdf5._find_dataset", broken)
            patch.setattr("boostkmeans.io._readers.npz.choose_name", broken)
            for name in ("a.parquet", "a.h5", "a.npz"):
                with pytest.raises(type(error), match=str(error.args[-1])) as raised:
                    open_vectors(tmp_path / name)
                assert raised.value is error


def test_the_memory_of_the_machine_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.io._access.spool.default_memory_limit", lambda: 4000)
    assert [max_spool_memory(limit) for limit in (None, 400, 10**9)] == [1000, 100, 1000]


# First bytes before all others


@pytest.mark.parametrize(
    "name", ["b.mtx", "b.svm", "b.mat", "b.fvecs", "b.parquet", "b.npz", "b.h5", "b.fbin", "b.csv"]
)
def test_bombs_are_not_uncompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
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


def test_no_more_is_uncompressed_than_is_promised(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.fbin", X)
    path = tmp_path / "a.fbin.gz"
    path.write_bytes(gzip.compress((tmp_path / "a.fbin").read_bytes()))
    with open_vectors(path) as vectors:
        assert (vectors.shape, vectors.dtype) == (X.shape, X.dtype)
        assert np.array_equal(vectors.load(), X)
    path.write_bytes(gzip.compress((tmp_path / "a.fbin").read_bytes() + bytes(1 << 24)))
    message = failure(path)
    assert "200 whole rows" not in message
    assert int(message.split("but the file has ")[1].split(",")[0]) < 4 << 20
    path.write_bytes(gzip.compress(struct.pack("<II", 2**31, 2**10)))
    with pytest.raises(DataFormatError, match="more than can be compressed"):
        open_vectors(path)


def test_a_matrix_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    path.write_text("500 1\n" + "1\n" * 500)
    assert open_vectors(path, max_memory=2000).load().shape == (500, 1)
    with pytest.raises(MemoryError, match=r"a\.mat: .* 900 bytes .* Raise the limit"):
        open_vectors(path, max_memory=900).load()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.arrow", b"ARROW1junk"),
        ("a.mtx", b"x"),
        ("a.mat", b"x"),
        ("a.svm", b"1 2:3 x\n"),
        ("a.csv", b"1,2,x\n"),
        ("a.fvecs.gz", gzip.compress(bytes(3), mtime=0)),
    ],
)
def test_the_beginning_is_checked_at_once(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataFormatError, match=name):
        open_vectors(tmp_path / name)


def test_keys_are_checked_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    arrow(tmp_path / "a.arrow", X)
    for name in ("a.csv", "a.arrow"):
        with pytest.raises(DataFormatError, match="no column 'z'"):
            open_vectors(tmp_path / name, key="z")


# Messages


def test_endings_that_lie(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.parquet", X)
    (tmp_path / "a.parquet").rename(tmp_path / "a.npy")
    assert "first bytes are those of 'parquet'" in failure(tmp_path / "a.npy")
    assert open_vectors(tmp_path / "a.npy", format="parquet").shape == X.shape


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", X)
    assert open_vectors(b"a.npy").shape == X.shape
    for path, what in (("", "path must name a file"), ("s3://b/x.parquet", "download it first")):
        with pytest.raises(ValueError, match=what):
            open_vectors(path)
    Path("parts.parquet").mkdir()
    write_vectors("parts.parquet/part-0.parquet", X)
    with pytest.raises(IsADirectoryError, match="parts of a table"):
        open_vectors("parts.parquet")


def test_other_names_and_types(tmp_path: Path) -> None:
    rows = X.astype(np.float16)
    header = struct.pack("<II", *X.shape)
    (tmp_path / "base.1B.fbin.crop_nb_200").write_bytes(header + X.tobytes())
    assert np.array_equal(open_vectors(tmp_path / "base.1B.fbin.crop_nb_200").load(), X)
    (tmp_path / "a.f16bin").write_bytes(header + rows.tobytes())
    assert np.array_equal(open_vectors(tmp_path / "a.f16bin").load(), rows)


def test_what_arrays_are_not(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 2), dtype="M8[s]"))
    assert "these are datetime64[s]" in failure(tmp_path / "a.npy")
    with (tmp_path / "a.npy").open("wb") as file:
        np.save(file, X)
        np.save(file, X)
    assert "if a second array follows" in failure(tmp_path / "a.npy")
    (tmp_path / "a.fbin").write_bytes(struct.pack("<II", 10**9, 4) + X.tobytes())
    assert "enough for 200 whole rows" in failure(tmp_path / "a.fbin")


def test_a_list_that_is_null(tmp_path: Path) -> None:
    table = pa.table({"v": pa.array([None, [1.0, 2.0]])})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    assert "row 0, column 'v': a null" in failure(tmp_path / "a.arrow")


# Layouts that are rare


def test_layouts_of_hdf5(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    for size in (512, 2048):
        with h5py.File(path, "w", userblock_size=size) as file:
            file["x"] = X
        assert np.array_equal(open_vectors(path).load(), X)
    with h5py.File(path, "w") as file:
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple(X.shape)
        dataset = h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_FLOAT, space, compact)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, X)
    with open_vectors(path) as vectors:
        assert np.array_equal(vectors.read(3, 7), X[3:7])
    for chunks in (None, (5, 4)):
        with h5py.File(path, "w") as file:
            file.create_dataset("x", (0, 4), "f4", chunks=chunks, maxshape=(None, 4) if chunks else None)
        assert open_vectors(path).load().shape == (0, 4)


def test_datasets_in_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["g/deep/x"] = X
        file["g/again"] = file["g"]  # in a circle
    assert np.array_equal(open_vectors(path, key="g/deep/x").load(), X)
    assert "which dataset is meant? There are 'g/again/again" in failure(path)
    with h5py.File(path, "w") as file:
        file["g/deep/x"] = X
    assert np.array_equal(open_vectors(path).load(), X)
    with h5py.File(path, "a") as file:
        file["g/y"] = X
    assert "There are 'g/deep/x', 'g/y'. Name one: key='g/deep/x'" in failure(path)


def test_chunks_are_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_symmetric_matrices(tmp_path: Path) -> None:
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
    assert "below the diagonal" in failure(path)
    path.write_text(text.format("hermitian", 1))
    assert "this one is 'coordinate real hermitian'" in failure(path)
    path.write_text("%%MatrixMarket matrix coordinate real general\n0 5 0\n")
    assert open_vectors(path).load().shape == (0, 5)


def test_layouts_of_sparse_matrices(tmp_path: Path) -> None:
    dense = np.diag(X[:4, 0]) + np.diag(X[:3, 1], 1)
    for matrix in (bsr_array(csr_array(dense), blocksize=(2, 2)), dia_array(dense)):
        save_npz(tmp_path / "a.npz", matrix)
        assert np.array_equal(open_vectors(tmp_path / "a.npz").load().toarray(), dense)
    np.savez(tmp_path / "a.npz", format="dia", shape=(4, 4), data=X[:2], offsets=[1])
    assert "do not fit" in failure(tmp_path / "a.npz")


# Rows by number


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "u8"])
def test_small_types_of_indices(tmp_path: Path, dtype: str) -> None:
    rows = np.arange(3000.0).reshape(1000, 3)
    np.save(tmp_path / "a.npy", rows)
    with open_vectors(tmp_path / "a.npy") as vectors:
        index = np.array([1, 5, 100], dtype=dtype)
        assert np.array_equal(vectors[index], rows[index])
        with pytest.raises(IndexError, match="There is no row"):
            vectors[np.array([2**64 - 1], dtype=np.uint64)]
        assert np.array_equal(vectors[...], rows)
        for wrong in (True, np.False_):
            with pytest.raises(IndexError, match="A mask needs a value for each"):
                vectors[wrong]
        with pytest.raises(ValueError, match="has to be converted"):
            np.array(vectors, dtype="f4", copy=False)
        assert np.array_equal(np.array(vectors, dtype="f8", copy=False), rows)
        out = np.empty((2, 3))
        out.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            vectors.read(0, 2, out=out)


def test_near_rows_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).random((20_000, 25))
    write_vectors(tmp_path / "a.npy", rows)
    calls: list[int] = []
    preadv = os.preadv

    def counted(*what: Any) -> int:
        calls.append(1)
        return preadv(*what)

    monkeypatch.setattr(os, "preadv", counted)
    with open_vectors(tmp_path / "a.npy") as vectors:
        mask = rows[:, 0] > 0.5
        some = np.random.default_rng(2).integers(0, 20_000, 5000)
        for index in (slice(None, None, 2), slice(None, None, -1), mask, some, [19_999, 0, 0, 7]):
            calls.clear()
            assert np.array_equal(vectors[index], rows[index])
            assert len(calls) <= 5
        monkeypatch.setattr("boostkmeans.io._vectors.WINDOW_BYTES", 700)
        monkeypatch.setattr("boostkmeans.io._vectors.GAP_BYTES", 400)
        for index in (slice(5, 900, 3), some[:50], [5, 7, 6, 6]):
            assert np.array_equal(vectors[index], rows[index])
