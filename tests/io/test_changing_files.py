"""Files that change while they are read, and interrupted reads."""

import gc
import gzip
import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from vector_samples import written

from boostkmeans import DataFormatError
from boostkmeans.io import open_vectors, write_vectors
from boostkmeans.io._access.spool import Spool
from processes import PATIENCE

X = np.random.default_rng(0).random((200, 4)).astype(np.float32)


def write_arrow(path: Path, rows: NDArray[Any]) -> None:
    table = pa.table({"v": rows.tolist()})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=50)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@pytest.mark.parametrize("has_proc", [True, False])
def test_opened_file_is_read_after_its_name_was_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, has_proc: bool
) -> None:
    write: Callable[[Path, NDArray[Any]], Any] = write_vectors if name == "a.parquet" else write_arrow
    if not has_proc:  # as on systems other than Linux
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


@pytest.mark.parametrize("name", ["a.npy", "a.fvecs", "a.fbin", "a.parquet", "a.h5"])
def test_modified_file_is_rejected(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.h5":
        with h5py.File(path, "w") as file:
            file.create_dataset("train", data=X[:4], chunks=(1, 4))
    else:
        write_vectors(path, X[:4])
    content = path.read_bytes()
    for length in (len(content) - 1, len(content) // 2, 0, len(content) + 1):
        path.write_bytes(content)
        with open_vectors(path) as vectors:
            os.truncate(path, length)
            with pytest.raises(DataFormatError, match="modified while it was being read"):
                vectors.read(0, 4)
            with pytest.raises(DataFormatError, match="modified while it was being read"):
                vectors.load()


def test_file_that_is_truncated_between_check_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npy"
    np.save(path, X[:4])
    with open_vectors(path) as vectors:
        monkeypatch.setattr(
            "boostkmeans.io._access.binary_file.BinaryFile.check_unchanged", lambda self: None
        )
        os.truncate(path, 150)
        with pytest.raises(DataFormatError, match="in the middle of its rows") as error:
            vectors.read(0, 4)
        assert error.value.place == "byte 150"


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError])
def test_interrupted_read_cannot_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    np.savetxt(tmp_path / "a.csv", np.vstack([X] * 20))
    os.mkfifo(tmp_path / "pipe.csv")
    writer = os.open(tmp_path / "pipe.csv", os.O_RDWR)  # keeps the rest of the content
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
        with pytest.raises(OSError, match=r"pipe\.csv: Reading was interrupted \(.*Open the file again"):
            _ = vectors.shape
    os.close(writer)


def n_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_errors_keep_no_file_open(tmp_path: Path) -> None:
    write_arrow(tmp_path / "a.arrow", X)
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
            before = n_descriptors()
            vectors = open_vectors(tmp_path / name)
            messages = []
            for _ in range(2):
                try:
                    vectors.load()
                except DataFormatError as error:
                    messages.append(str(error))
            assert len(messages) == 2
            assert messages[0] == messages[1]
            assert n_descriptors() == before, name
    finally:
        gc.enable()


def test_every_thread_gets_the_error(tmp_path: Path) -> None:
    vectors = open_vectors(written(tmp_path / "a.csv", "1,2\n3,x\n"))
    errors: list[str] = []

    def read() -> None:
        try:
            vectors.load()
        except DataFormatError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE)
    assert len(errors) == 4
    assert len(set(errors)) == 1
