"""Files that are made to waste memory, disk or time, and file names that are made to mislead."""

import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array, save_npz

from boostkmeans import BoostKMeans, DataFormatError, ParameterError, load_model
from boostkmeans._storage import tensors
from boostkmeans.io import open_vectors, write_vectors
from boostkmeans.io._access import byte_source, pipe, spool
from boostkmeans.io._access.spool import NoRoomError, Room, Spool
from boostkmeans.io._access.urls import is_url
from boostkmeans.io._readers import separated

# Length of a name in a hostile file, and the longest message about it.
LONG = 1 << 17
MAX_MESSAGE = 6000
ESCAPE = "\x1b[31m"


def failure(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises((ValueError, OSError, MemoryError)) as caught:
        call(*arguments, **options)
    return str(caught.value)


def message(call: Any, *arguments: Any, **options: Any) -> str:
    """Return the message of an error, or "" if there is none."""
    try:
        call(*arguments, **options)
    except (ValueError, OSError, MemoryError, TypeError) as error:
        return str(error)
    return ""


def read(path: Path, **options: Any) -> Any:
    with open_vectors(path, **options) as vectors:
        return vectors.load()


def test_messages_are_short(tmp_path: Path) -> None:
    name = "n" * LONG
    (tmp_path / "a.csv").write_text(f"{name},b\n1,x\n")
    (tmp_path / "b.csv").write_text(f"{name},{name}\n1,2\n")
    (tmp_path / "c.csv").write_text("1," + "x" * LONG + "\n")
    (tmp_path / "d.jsonl").write_text(json.dumps({name: [1], "b": [2]}))
    (tmp_path / "e.svm").write_text("1 1:1\n1 " + "9" * LONG + ":1\n")
    (tmp_path / "f.mat").write_text("9" * LONG + " 3 3\n")
    pq.write_table(pa.table({name: [[1.0]], "other": [[1.0]]}), tmp_path / "g.parquet")
    arrays: dict[str, Any] = {"a" * 9_000 + str(i): np.eye(2) for i in range(40)}
    np.savez(tmp_path / "h.npz", **arrays)
    save_npz(tmp_path / "i.npz", csr_array(np.eye(2)))
    with h5py.File(tmp_path / "j.hdf5", "w") as file:
        for i in range(30):
            file[f"{'d' * 9_000}{i}"] = np.arange(3)
    for path in sorted(tmp_path.iterdir()):
        for key in (None, name, [name, "b"]):
            assert len(message(read, path, key=key)) < MAX_MESSAGE + len(str(path)), path.name
    model = BoostKMeans(1).fit(np.eye(2))
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    (tmp_path / "k.csv").write_text(f"{name},b\n1,2\n")
    assert len(failure(model.predict, open_vectors(tmp_path / "k.csv"))) < MAX_MESSAGE


def test_headers_of_models_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.st"
    model = BoostKMeans(1).fit(np.eye(2))
    model.save(path)
    monkeypatch.setattr(tensors, "MAX_HEADER_BYTES", 300)
    assert "The format allows at most 300" in failure(load_model, path)
    assert "The format allows at most 300" in failure(model.save, tmp_path / "n.st")
    assert tensors.MAX_HEADER_BYTES < 40_000_000


def test_wide_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All columns of a wide table are read as one type, which takes no memory per column."""
    monkeypatch.setattr(separated, "MAX_MIXED_COLUMNS", 20)
    monkeypatch.setattr(separated, "PIECE_BYTES", 1000)
    rows = np.random.default_rng(0).random((9, 50))
    path = tmp_path / "x.csv"
    np.savetxt(path, rows, "%.17g", ",", header=",".join(f"c{i}" for i in range(50)), comments="")
    np.testing.assert_array_equal(read(path), rows)
    np.testing.assert_array_equal(read(path, key=["c1", "c0", "c2:c49"])[:, :2], rows[:, [1, 0]])
    assert "50 columns" in failure(read, path, drop="c1")
    assert "50 columns" in failure(read, path, id_column="c1")
    lines = path.read_text().splitlines()
    for line in range(2, 11):
        for broken in (lines[line - 1] + ",7", lines[line - 1].rpartition(",")[0]):
            path.write_text("\n".join([*lines[: line - 1], broken, *lines[line:]]))
            got = 51 if broken.endswith(",7") else 49
            assert f"line {line}: Expected 50 columns, as in the first line. Got {got}." in failure(
                read, path
            )
        broken = "x," + lines[line - 1].partition(",")[2]
        path.write_text("\n".join([*lines[: line - 1], broken, *lines[line:]]))
        assert f"line {line}, column 1 ('c0'): Expected a number" in failure(read, path)


def test_temporary_files_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, np.zeros((1 << 16, 8)))  # 4 MB, from a few kB
    limits: dict[str, Any] = {"max_memory": "1MB", "max_disk": "1MB"}
    reports: list[tuple[int, int | None]] = []

    def progress(_: str, done: int, total: int | None) -> None:
        reports.append((done, total))

    assert read(path, max_memory="1MB", progress=progress).shape == (1 << 16, 8)
    assert reports[-1] == (reports[-1][1], reports[-1][1])
    monkeypatch.setattr(Spool, "write", lambda *_: pytest.fail("nothing must be written"))
    found = failure(read, path, **limits)
    assert "more than the limit of 1,000,000 bytes on the disk" in found
    assert "--max-disk" in found
    array = tmp_path / "bomb.npy.gz"
    np.save(tmp_path / "x.npy", np.zeros((1 << 16, 8)))
    array.write_bytes(gzip.compress((tmp_path / "x.npy").read_bytes()))
    assert "limit of 1,000,000" in failure(read, array, **limits)


def test_small_files_cannot_fill_the_disk_under_a_memory_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, np.zeros((1 << 16, 8)))  # 4 MB, from a few kB
    monkeypatch.setattr(spool, "MIN_DISK", 1 << 20)
    assert read(path).shape == (1 << 16, 8)
    assert read(path, max_memory="3MB").shape == (1 << 16, 8)
    assert read(path, max_memory="1MB", max_disk="5MB").shape == (1 << 16, 8)
    np.savez_compressed(
        tmp_path / "ordinary.npz", np.random.default_rng(0).integers(9, size=(1 << 16, 8))
    )
    assert read(tmp_path / "ordinary.npz", max_memory="1MB").shape == (1 << 16, 8)
    monkeypatch.setattr(Spool, "write", lambda *_: pytest.fail("nothing must be written"))
    assert "more than the limit of 2,000,000 bytes on the disk" in failure(read, path, max_memory="1MB")
    assert "limit of 2,000,000" in failure(read, [path, path], max_memory="1MB")


def test_memory_is_checked_before_content_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, np.zeros((1 << 16, 8)))
    monkeypatch.setattr(Spool, "write", lambda *_: pytest.fail("nothing must be written"))
    expected = pytest.raises(MemoryError, match=r"needs at least .* The limit is 191 MiB")
    with open_vectors(path, max_memory="200MB") as vectors, expected:
        BoostKMeans(8).fit(vectors)


def test_content_of_unknown_size_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.csv").write_text("1,2,3,4\n" * 1000)
    (tmp_path / "x.jsonl").write_text("[1,2,3,4]\n" * 1000)
    for name in ("x.csv", "x.jsonl"):
        assert "on the disk" in failure(read, tmp_path / name, max_memory="20kB", max_disk="20kB")
        assert read(tmp_path / name, max_memory="20kB", max_disk="40kB").shape == (1000, 4)
    monkeypatch.setattr(spool, "default_disk_limit", lambda: 10)
    with pytest.raises(NoRoomError):
        Spool(Room(memory=400), 101)
    Spool(Room(memory=400), 100)
    assert "max_disk must be a positive number" in failure(read, tmp_path / "x.csv", max_disk="lots")


def test_file_names_cannot_control_a_terminal(tmp_path: Path) -> None:
    folder = tmp_path / f"f{ESCAPE}"
    folder.mkdir()
    empty, bad, good = (folder / f"{one}{ESCAPE}.npy" for one in ("empty", "bad", "good"))
    empty.touch()
    bad.write_bytes(b"\x93NUMPY")
    np.save(good, np.eye(2))
    np.save(folder / f"wide{ESCAPE}.npy", np.eye(3))
    sparse = folder / f"s{ESCAPE}.npz"
    save_npz(sparse, csr_array(np.eye(2)))
    vectors = open_vectors(good)
    vectors.close()
    text = folder / f"t{ESCAPE}.mtx"
    text.write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
    calls: list[tuple[Any, ...]] = [
        (open_vectors, empty),
        (open_vectors, bad),
        (open_vectors, folder / f"missing{ESCAPE}*"),
        (open_vectors, folder / f"missing{ESCAPE}.npy"),
        (open_vectors, tmp_path),
        (open_vectors, folder / f"*{ESCAPE[:2]}*.np[yz]"),
        (open_vectors, [good, folder / f"wide{ESCAPE}.npy"]),
        (open_vectors, [good, sparse]),
        (write_vectors, folder / f"x{ESCAPE}.xyz", np.eye(2)),
        (vectors.load,),
        (open_vectors(sparse, max_memory=10**9).read_ids, 0, 1),
        (read, text, ),
        (load_model, bad),
    ]  # fmt: skip
    for call in calls:
        found = message(*call)
        assert found or call[0] is read
        assert "\x1b" not in found
    with pytest.raises(MemoryError) as caught:
        open_vectors(text, max_memory=10).load()
    assert "\x1b" not in str(caught.value)


def test_parameters_cannot_control_a_terminal() -> None:
    assert "\x1b" not in str(ParameterError("path", f"a{ESCAPE}", "b"))
    assert "\x1b" not in str(DataFormatError(f"a{ESCAPE}", remedy=f"b{ESCAPE}"))


@pytest.mark.parametrize("column", [2**31, 2**63, 10**40])
def test_columns_of_svmlight_are_limited(tmp_path: Path, column: int) -> None:
    path = tmp_path / "x.svm"
    path.write_text(f"1 1:1\n0 3:2 {column}:1\n")
    message = failure(read, path)
    assert (
        f"line 2: The largest column that is supported is {2**31 - 1}. Got {str(column)[:20]}" in message
    )
    path.write_text("1 1:1\n0 3:2 2:1\n")
    assert "line 2: Expected 'label column:value" in failure(read, path)


@pytest.mark.parametrize("scheme", ["", "s3://", "file://"])
def test_long_paths_are_not_repeated(tmp_path: Path, scheme: str) -> None:
    name = scheme + ESCAPE + "x" * 2_000_000
    rows = np.eye(2)
    model = BoostKMeans(2, random_state=0).fit(rows)
    calls: list[tuple[Any, ...]] = [
        (open_vectors, name),
        (write_vectors, name + ".npy", rows),
        (load_model, name),
        (model.save, name),
    ]
    for call, *arguments in calls:
        with pytest.raises(OSError, match="File name too long") as caught:
            call(*arguments)
        assert len(str(caught.value)) < MAX_MESSAGE
        assert "\x1b" not in str(caught.value)


def test_long_queries_of_urls_are_no_file_names() -> None:
    """The query of a signed URL is longer than the name of any file."""
    assert is_url("https://host/x.npy?" + "x" * 1000)


def test_errors_of_targets_are_escaped(tmp_path: Path) -> None:
    rows, folder = np.eye(2), tmp_path / ESCAPE
    model = BoostKMeans(2, random_state=0).fit(rows)
    expected = r"\x1b[31m"
    assert expected in failure(model.save, folder / "m.st")
    assert expected in failure(write_vectors, folder / "m.npy", rows)
    folder.mkdir()
    for found in (failure(model.save, folder), failure(write_vectors, tmp_path / ESCAPE, rows)):
        assert "\x1b" not in found
    write_vectors(folder / "m.npy", rows)
    assert expected in failure(write_vectors, folder / "m.npy", rows)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", [f"pipe{ESCAPE}", f"pipe{ESCAPE}.csv"])
def test_pipes_without_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    monkeypatch.setattr(pipe, "MAX_SECONDS", 0.05)
    waits: list[str] = []

    def open_counted(path: str) -> Any:
        waits.append(path)
        return pipe.open_pipe(path)

    monkeypatch.setattr(byte_source, "open_pipe", open_counted)
    found = failure(read, path)
    assert len(waits) == 1  # each of them takes MAX_SECONDS
    assert "No program has opened the pipe for writing within 0.05 seconds" in found
    assert "\x1b" not in found
    assert not [one for one in threading.enumerate() if "wait_for_writer" in one.name]
    monkeypatch.setattr(pipe, "MAX_SECONDS", 60.0)
    writer = threading.Thread(target=path.write_text, args=("1,2\n3,4\n",))
    writer.start()
    assert read(path).tolist() == [[1, 2], [3, 4]]
    writer.join()
