"""Binary files that are damaged or forged: reading raises an error that names the place."""

import gzip
import io
import re
import struct
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
from numpy.lib import format as npy
from vector_samples import failure, written

import fuzz
from boostkmeans import DataFormatError
from boostkmeans.io import Vectors, open_vectors, write_vectors
from conftest import run_python

X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.process
@pytest.mark.slow
def test_systematic_damage(tmp_path: Path) -> None:
    """Change each byte of the headers, truncate to each length, and forge numbers: see fuzz.py."""
    (tmp_path / "names").mkdir()
    # Lists of variable length are tested in a stream here, and in Parquet by the random files.
    names = sorted(fuzz.valid_files(tmp_path / "names").keys() - {"lists.parquet"})
    # The formats of large libraries take most of the time: each process gets one half of them.
    slow = [name for name in names if name.endswith((".parquet", ".hdf5", ".feather", ".arrow"))]
    quick = [name for name in names if name not in slow]
    halves = [[*slow[0::2], *quick[0::2]], [*slow[1::2], *quick[1::2]]]

    def run(half: list[str]) -> dict[str, Any]:
        folder = tmp_path / half[0]
        folder.mkdir()
        return fuzz.run(folder, "--only", *half)

    with ThreadPoolExecutor(len(halves)) as pool:
        found = list(pool.map(run, halves))
    assert [fault for one in found for fault in one["faults"]] == []
    counts = {name: n for one in found for name, n in one["counts"].items()}
    assert sorted(counts) == names
    assert min(counts.values()) > 100


def test_fuzzer_reports_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reports a wrong error, rows that are not in the file, and a process that dies."""
    path = written(tmp_path / "a.csv", "1,2\n")
    assert fuzz.outcome(path) == ""
    bad = written(tmp_path / "a.mat", "2 2\n1 2\n3 5\n")
    assert fuzz.outcome(bad, np.array([[1, 2], [3, 5], [0, 0]])) == ""
    for complete in ([[1, 2], [3, 4]], [[1, 2]]):
        expected = "2 rows that are not the first rows of the complete file"
        assert fuzz.outcome(bad, np.array(complete)) == expected
    assert fuzz.outcome(written(tmp_path / "b.csv", "x\n")) == ""
    assert fuzz.outcome(written(tmp_path / "b.csv", "")) is None
    monkeypatch.setattr(fuzz, "open_vectors", lambda path: 1 / 0)
    assert fuzz.outcome(path) == "ZeroDivisionError: division by zero"
    monkeypatch.setattr(fuzz, "__file__", written(tmp_path / "dies.py", "import os; os.abort()"))
    written(tmp_path / "case", "a.csv: length 3   ")
    assert "a.csv: length 3: the process died with -6" in fuzz.run(tmp_path)["faults"][0]


# .npy


def header(shape: tuple[int, ...], descr: Any = "<f4") -> bytes:
    file = io.BytesIO()
    npy.write_array_header_2_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "A NumPy array begins with"),
        (header((2**40, 3)), "declares 13,194,139,533,312 bytes"),
        (header((2**62, 2**62)) + X.tobytes(), "declares"),
        (header((4, 4)) + X.tobytes(), "declares 64 bytes of values (shape (4, 4), type float32), but"),
        (header((4, 3)) + X.tobytes() + b"x", "but there are 49."),
        (header((-4, -3)) + X.tobytes(), "has no columns"),
        (header((2**60, 0)), "has no columns"),
        (header((12,)) + X.tobytes(), "reshape(-1, 1)"),
        (header((2, 2, 3)) + X.tobytes(), "Expected an array of 2 dimensions"),
        (header((4, 3), "<c8") + X.tobytes(), "must be real numbers"),
        (header((4, 3), "<U4") + X.tobytes(), "must be real numbers"),
        (header((4, 3), "<M8[s]") + X.tobytes(), "their type is datetime64[s]"),
        (header((4, 3), "|O") + X.tobytes(), "holds Python objects, which are not read"),
        (header((4, 3), [("a", "<f4")]) + X.tobytes(), "structured array of several fields"),
        (header((4, 3)).replace(b"'<f4'", b"f(4)1") + X.tobytes(), "has no type, order or shape"),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b" " * 100, "bytes is too long"),
        (b"\x93NUMPY\x09\x00" + b" " * 100, "is not known"),
    ],
)
def test_rejects_invalid_npy(tmp_path: Path, content: bytes, expected: str) -> None:
    assert expected in failure(written(tmp_path / "a.npy", content))
    compressed = failure(written(tmp_path / "a.npy.gz", gzip.compress(content)))
    impossible = "declares" in expected and "more than a compressed file" in compressed
    assert expected in compressed or impossible


def test_rejects_second_array_in_npy(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        np.save(file, X)
        np.save(file, X)
    assert failure(tmp_path / "a.npy").endswith(
        "If a second array follows, save each array in its own file."
    )


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    traps = np.array([[Trap()]], dtype=object)
    np.save(tmp_path / "a.npy", traps, allow_pickle=True)
    np.savez(tmp_path / "a.npz", traps)
    for name in ("a.npy", "a.npz"):
        assert "holds Python objects" in failure(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_rejects_compressed_file_that_is_too_short(tmp_path: Path) -> None:
    content = gzip.compress(header((2**40, 3)) + X.tobytes())
    path = written(tmp_path / "a.npy.gz", content)
    assert "more than a compressed file of this size can contain" in failure(path)
    path = written(tmp_path / "b.npy.gz", gzip.compress(header((4, 3)) + X.tobytes())[:-9])
    assert "The compressed file is damaged or truncated" in failure(path)


# .fvecs and .fbin


def test_rejects_invalid_fvecs(tmp_path: Path) -> None:
    path = tmp_path / "a.fvecs"
    write_vectors(path, X)
    content = path.read_bytes()
    written(path, content[:32] + struct.pack("<i", 4) + content[36:])
    uses: list[Callable[[Vectors], Any]] = [
        lambda vectors: vectors.load(),
        lambda vectors: vectors.read(2, 3),
        lambda vectors: vectors[[0, 2]],
        lambda vectors: vectors[-2],
    ]
    for use in uses:
        with open_vectors(path) as vectors:
            assert vectors.read(0, 2).tolist() == X[:2].tolist()
            with pytest.raises(DataFormatError, match="The row has a length of 4") as error:
                use(vectors)
            assert error.value.place == "row 2 (byte 32)"
    for first in (0, -1, 2, 2**31 - 1):
        message = failure(written(path, struct.pack("<i", first) + content[4:]))
        assert message.startswith(f"The first row declares {first} values")
    assert "are not a multiple" in failure(written(path, content[:-1]))
    assert "this file has only 0 bytes" in failure(written(path, b""))


@pytest.mark.parametrize("counts", [(2**32 - 1, 2**32 - 1), (4, 0), (3, 3), (0, 3), (5, 3)])
def test_rejects_invalid_fbin(tmp_path: Path, counts: tuple[int, int]) -> None:
    path = written(tmp_path / "a.fbin", struct.pack("<II", *counts) + X.tobytes())
    assert failure(path).startswith(f"The header declares {counts[0]} rows of {counts[1]} values")


def test_error_for_fbin_names_number_of_complete_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "a.fbin", struct.pack("<II", 10**9, 3) + X.tobytes())
    message = failure(path)
    assert "enough for 4 complete rows" in message
    assert "write 4 into its first 4 bytes" in message


# Archives


def test_rejects_invalid_npz(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=X, b=X[0])
    assert failure(path) == "The file has several arrays: 'a', 'b'. Name one of them: key='a'."
    assert failure(path, key="c") == "The file has no array 'c'. Available: 'a', 'b'."
    assert "reshape(-1, 1)" in failure(path, key="b")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", header((4, 3)) + X.tobytes())
    assert failure(path).startswith("a.npy: NumPy does not use this method of compression")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "nothing")
    assert failure(path) == "The file has no array."


def test_names_in_archives_are_escaped(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("\x1b[2J.npy", header((12,)) + X.tobytes())
    message = failure(tmp_path / "a.npz")
    assert message.startswith(r"\x1b[2J.npy: Expected an array of 2 dimensions")
    assert message.isprintable()


def test_hdf5_does_not_lead_to_other_files(tmp_path: Path) -> None:
    secret = written(tmp_path / "secret", X.tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["train"] = X
    path = tmp_path / "a.h5"
    cases: list[tuple[Callable[[Any], Any], str]] = [
        (lambda file: file.create_dataset("train", X.shape, "f4", external=str(secret)), "other files"),
        (lambda file: file.__setitem__("train", h5py.ExternalLink("other.h5", "train")), "no dataset"),
        (lambda file: file.__setitem__("train", h5py.SoftLink("/elsewhere")), "no dataset"),
        (lambda file: file.create_dataset("train", data=["a"]), "real numbers"),
        (lambda file: file.create_dataset("train", (2**40, 3), "f4"), "never written"),
        (lambda file: file.create_dataset("train", (2**40, 3), "f4", chunks=(9, 3)), "cannot be comp"),
        (lambda file: file.create_dataset("train", data=X[0]), "reshape"),
    ]
    for make, expected in cases:
        with h5py.File(path, "w") as file:
            make(file)
        assert expected in failure(path)
    layout = h5py.VirtualLayout(X.shape, "f4")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "train", X.shape)
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("train", layout)
    assert "other files" in failure(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("train", (100, 3), "f4", chunks=(10, 3))[:10] = 1
    assert "Only 1 of 10 chunks were written" in failure(path)
    assert "The file has no group 'b'" in failure(path, key="b/train")


# Checks when a file is opened


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
def test_beginning_is_checked_at_once(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataFormatError, match=name):
        open_vectors(tmp_path / name)


def test_key_is_checked_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    table = pa.table({"v": X.tolist()})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    for name in ("a.csv", "a.arrow"):
        with pytest.raises(DataFormatError, match="The file has no column 'z'"):
            open_vectors(tmp_path / name, key="z")


# Properties of all formats


@pytest.mark.process
@pytest.mark.slow
def test_reading_runs_no_code(tmp_path: Path) -> None:
    """An audit hook sees every import, compilation and unpickling of the interpreter."""
    files = fuzz.valid_files(tmp_path)
    result = run_python(
        f"""
import sys
from pathlib import Path
from boostkmeans.io import open_vectors
paths = [Path({str(tmp_path)!r}) / name for name in {list(files)!r}]
def use():
    for path in paths:
        with open_vectors(path) as vectors:
            vectors.load(), vectors.read(0, 2), list(vectors.batches(3)), vectors[[1, 0]]
use()  # imports and caches
seen = []
def hook(event, arguments):
    if event in ("pickle.find_class", "exec", "compile", "import", "subprocess.Popen", "os.system"):
        seen.append((event, str(arguments)[:200]))
sys.addaudithook(hook)
use()
watched, seen = seen, []
assert not watched, watched
print("nothing")
""",
        fresh=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "nothing\n"


@pytest.mark.process
@pytest.mark.slow
def test_error_names_package_to_install(tmp_path: Path) -> None:
    fuzz.valid_files(tmp_path)
    result = run_python(
        f"""
import sys
sys.modules["pyarrow"] = sys.modules["h5py"] = None
from boostkmeans.io import open_vectors
for name, extra in (("a.parquet", "parquet"), ("a.feather", "parquet"), ("old.hdf5", "hdf5")):
    try:
        open_vectors({str(tmp_path)!r} + "/" + name).load()
    except ImportError as error:
        assert "pip install '.[" + extra + "]'" in str(error), error
    else:
        raise AssertionError(name)
assert open_vectors({str(tmp_path)!r} + "/a.csv").shape == (4, 3)
""",
        fresh=True,
    )
    assert result.returncode == 0, result.stderr


def test_messages_have_one_line(tmp_path: Path) -> None:
    for name, content in fuzz.valid_files(tmp_path).items():
        if name.endswith((".csv", ".tsv", ".svm")):  # the beginning of such a file is valid, too
            continue
        message = failure(written(tmp_path / name, content[: len(content) // 3]))
        assert not re.search(r"[\n\x00]", message), name
