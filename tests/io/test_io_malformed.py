"""Files of vectors that are not what they should be: an error that names the place, and nothing else."""

import gzip
import io
import os
import re
import struct
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.lib import format as npy

import fuzz
from boostkmeans import DataFormatError
from boostkmeans.io import Vectors, open_vectors, write_vectors
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._readers.parquet_footer import row_groups
from conftest import run_python

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def read_all(path: Path, **options: Any) -> None:
    with open_vectors(path, **options) as vectors:
        vectors.read(0, len(vectors))
        vectors.load()


def failure(path: Path, **options: Any) -> str:
    with pytest.raises(DataFormatError) as raised:
        read_all(path, **options)
    assert path.name in str(raised.value)
    return str(raised.value)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_header_byte_every_length_and_numbers_that_lie(tmp_path: Path) -> None:
    """In processes of their own, with a limit of memory and of time: see fuzz.py."""
    (tmp_path / "names").mkdir()
    # Lists of any length are in a stream here, and in Parquet where files are made at random.
    names = sorted(fuzz.valid_files(tmp_path / "names").keys() - {"lists.parquet"})
    # Those of large libraries take longest: one half of them for each process.
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


def test_a_fault_is_seen_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the test above: a wrong error, rows that were not there, and a process that dies."""
    path = written(tmp_path / "a.csv", "1,2\n")
    assert fuzz.outcome(path) == ""
    bad = written(tmp_path / "a.mat", "2 2\n1 2\n3 5\n")
    assert fuzz.outcome(bad, np.array([[1, 2], [3, 5], [0, 0]])) == ""
    for whole in ([[1, 2], [3, 4]], [[1, 2]]):
        assert fuzz.outcome(bad, np.array(whole)) == "2 rows that are not the first of the whole file"
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
    ("content", "what"),
    [
        (b"", "should begin with"),
        (header((2**40, 3)), "promises 13194139533312 bytes and has 0"),
        (header((2**62, 2**62)) + X.tobytes(), "promises"),
        (header((4, 4)) + X.tobytes(), "promises 64 bytes and has 48"),
        (header((4, 3)) + X.tobytes() + b"x", "promises 48 bytes and has 49"),
        (header((-4, -3)) + X.tobytes(), "no columns"),
        (header((2**60, 0)), "no columns"),
        (header((12,)) + X.tobytes(), "reshape(-1, 1)"),
        (header((2, 2, 3)) + X.tobytes(), "2 dimensions"),
        (header((4, 3), "<c8") + X.tobytes(), "real numbers"),
        (header((4, 3), "<U4") + X.tobytes(), "real numbers"),
        (header((4, 3), "|O") + X.tobytes(), "holds Python objects, which are not read"),
        (header((4, 3), [("a", "<f4")]) + X.tobytes(), "several fields"),
        (header((4, 3)).replace(b"'<f4'", b"f(4)1") + X.tobytes(), "does not tell type"),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b" " * 100, "longer than the file"),
        (b"\x93NUMPY\x09\x00" + b" " * 100, "is not known"),
    ],
)
def test_npy(tmp_path: Path, content: bytes, what: str) -> None:
    assert what in failure(written(tmp_path / "a.npy", content))
    compressed = failure(written(tmp_path / "a.npy.gz", gzip.compress(content)))
    assert what in compressed or "more than can be compressed" in compressed


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


def test_a_compressed_file_that_promises_too_much(tmp_path: Path) -> None:
    content = gzip.compress(header((2**40, 3)) + X.tobytes())
    assert "more than can be compressed" in failure(written(tmp_path / "a.npy.gz", content))
    path = written(tmp_path / "b.npy.gz", gzip.compress(header((4, 3)) + X.tobytes())[:-9])
    assert "damaged or cut short" in failure(path)


# Vectors behind their lengths or counts


def test_fvecs(tmp_path: Path) -> None:
    path = tmp_path / "a.fvecs"
    write_vectors(path, X)
    content = path.read_bytes()
    changed = content[:32] + struct.pack("<i", 4) + content[36:]
    written(path, changed)
    uses: list[Callable[[Vectors], Any]] = [
        lambda vectors: vectors.load(),
        lambda vectors: vectors.read(2, 3),
        lambda vectors: vectors[[0, 2]],
        lambda vectors: vectors[-2],
    ]
    for use in uses:
        with open_vectors(path) as vectors:
            assert vectors.read(0, 2).tolist() == X[:2].tolist()
            with pytest.raises(DataFormatError, match=r"row 2 \(byte 32\): a length of 4"):
                use(vectors)
    for first in (0, -1, 2, 2**31 - 1):
        assert "the first row says" in failure(written(path, struct.pack("<i", first) + content[4:]))
    assert "not a number of rows" in failure(written(path, content[:-1]))
    assert "empty or cut short" in failure(written(path, b""))


@pytest.mark.parametrize("counts", [(2**32 - 1, 2**32 - 1), (4, 0), (3, 3), (0, 3), (5, 3)])
def test_fbin(tmp_path: Path, counts: tuple[int, int]) -> None:
    path = written(tmp_path / "a.fbin", struct.pack("<II", *counts) + X.tobytes())
    assert f"promise {counts[0]} rows of {counts[1]}" in failure(path)


# Archives


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=X, b=X[0])
    assert "which array is meant? There are 'a', 'b'" in failure(path)
    assert "there is no array 'c'; there is 'a', 'b'" in failure(path, key="c")
    assert "reshape(-1, 1)" in failure(path, key="b")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", header((4, 3)) + X.tobytes())
    assert "NumPy does not use" in failure(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "nothing")
    assert "there is no array in it" in failure(path)


def test_hdf5_leads_nowhere_else(tmp_path: Path) -> None:
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
        (lambda file: file.create_dataset("train", (2**40, 3), "f4", chunks=(9, 3)), "cannot be in"),
        (lambda file: file.create_dataset("train", data=X[0]), "reshape"),
    ]
    for make, what in cases:
        with h5py.File(path, "w") as file:
            make(file)
        assert what in failure(path)
    layout = h5py.VirtualLayout(X.shape, "f4")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "train", X.shape)
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("train", layout)
    assert "other files" in failure(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("train", (100, 3), "f4", chunks=(10, 3))[:10] = 1
    assert "of 10 chunks were written" in failure(path)
    assert "there is no group 'b'" in failure(path, key="b/train")


# Tables


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({"v": [[1.0, 2.0], None]}, "null"),
        ({"v": [[1.0, 2.0], [3.0, None]]}, "row 1, column 'v': a null"),
        ({"v": [[1.0, 2.0], [3.0]]}, "values"),
        ({"v": [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]]}, "row 1, column 'v': a list of 1 values"),
        ({"v": [[], []]}, ""),
        ({"a": [1, 2, None]}, "row 2, column 'a': a null"),
        ({"a": [1, 2], "name": ["x", "y"]}, "the column 'name' holds string, not numbers"),
        ({"v": [[1.0]], "w": [[1.0]]}, "which column is meant? Lists of numbers are in 'v', 'w'"),
        ({"v": [["x"]]}, "not numbers"),
        ({"a": []}, ""),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_tables(tmp_path: Path, table: dict[str, Any], what: str, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table(table), path)
    else:
        with pa.ipc.new_file(path, pa.table(table).schema) as writer:
            writer.write_table(pa.table(table))
    message = failure(path)
    # Where Parquet counts values, it is known beforehand that some are missing, but not in which row.
    assert what in message or (ending == "parquet" and "each row must have as many" in message)


def test_nulls_are_named_by_their_row_in_the_file(tmp_path: Path) -> None:
    column = pa.array([float(i) if i != 77 else None for i in range(100)])
    pq.write_table(pa.table({"a": column, "b": column}), tmp_path / "a.parquet", row_group_size=10)
    assert "row 77, column 'a'" in failure(tmp_path / "a.parquet")
    lists = pa.FixedSizeListArray.from_arrays(column, 2)
    pq.write_table(pa.table({"v": lists}), tmp_path / "b.parquet", row_group_size=10)
    assert "row 38, column 'v'" in failure(tmp_path / "b.parquet")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("a,b\n1,2\n3,x\n", "line 3, column 2 ('b'): 'x' is not a number"),
        ("a,b\n1,2\n\n\n3,\n", "line 5, column 2 ('b'): an empty cell is not a number"),
        ("1,2\n3,4,5\n", "line 2: 3 columns, but the first line has 2"),
        ("1,2\n3\n", "line 2: 1 columns"),
        ("name,b\nrose,2\n", "column 1 ('name'): 'rose' is not a number"),
        ("1,1_0\n1,2\n1,3_0\n", "line 1, column 2"),
        ("1;2\n3,1;4\n", "line 2, column 1 ('1'): '3,1'"),
        ("", "empty"),
        ("\n \n", "empty"),
        (b"1,2\n\x00,4\n", "binary"),
        (b"1,2\n\xff,4\n", "line 2, column 1"),
        ("1,2\n3,4\n".encode("utf-16"), "utf-16"),
    ],
)
def test_csv(tmp_path: Path, content: str | bytes, what: str) -> None:
    assert what in failure(written(tmp_path / "a.csv", content))


def test_a_csv_without_an_end_of_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv.gz", gzip.compress(b"1," * (1 << 25)))
    assert "line 1: longer than" in failure(path)


def test_csv_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "1,2\n3,4\n")
    assert "no column 'a'; there is '1', '2'. The table has no header" in failure(path, key="a")
    path = written(tmp_path / "b.csv", "name,b\nrose,2\nviolet\n")
    assert "line 3: 1 columns" in failure(path, key="b")


# Files that change


@pytest.mark.parametrize("name", ["a.npy", "a.fvecs", "a.fbin", "a.parquet", "a.h5"])
def test_a_file_that_shrinks_or_changes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.h5":
        with h5py.File(path, "w") as file:
            file.create_dataset("train", data=X, chunks=(1, 3))
    else:
        write_vectors(path, X)
    size = path.stat().st_size
    for length in (size - 1, size // 2, 0, size + 1):
        path.write_bytes(content := path.read_bytes())
        with open_vectors(path) as vectors:
            os.truncate(path, length)
            with pytest.raises(DataFormatError, match="changed while it was being read"):
                vectors.read(0, 4)
            with pytest.raises(DataFormatError, match="changed while it was being read"):
                vectors.load()
        path.write_bytes(content)


def test_an_end_that_nobody_foresaw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the size and the read."""
    path = tmp_path / "a.npy"
    np.save(path, X)
    with open_vectors(path) as vectors:
        monkeypatch.setattr(
            "boostkmeans.io._access.binary_file.BinaryFile.check_unchanged", lambda self: None
        )
        os.truncate(path, 150)
        with pytest.raises(DataFormatError, match="ends at byte 150, in the midst of its rows"):
            vectors.read(0, 4)


# Nothing is run


def test_no_code_runs_while_files_are_read(tmp_path: Path) -> None:
    """An audit hook sees every import, compilation and unpickling of the interpreter."""
    files = fuzz.valid_files(tmp_path)
    result = run_python(f"""
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
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "nothing\n"


def test_remedies_name_the_package_to_install(tmp_path: Path) -> None:
    files = fuzz.valid_files(tmp_path)
    assert files
    result = run_python(f"""
import sys
sys.modules["pyarrow"] = sys.modules["h5py"] = None
from boostkmeans.io import open_vectors
for name, extra in (("a.parquet", "parquet"), ("a.feather", "parquet"), ("old.hdf5", "hdf5")):
    try:
        open_vectors({str(tmp_path)!r} + "/" + name).load()
    except ImportError as error:
        assert "pip install 'boostkmeans[" + extra + "]'" in str(error), error
    else:
        raise AssertionError(name)
assert open_vectors({str(tmp_path)!r} + "/a.csv").shape == (4, 3)
""")
    assert result.returncode == 0, result.stderr


def test_messages_are_of_one_line(tmp_path: Path) -> None:
    for name, content in fuzz.valid_files(tmp_path).items():
        if name.endswith((".csv", ".tsv", ".svm")):  # of which the beginning is as good
            continue
        message = failure(written(tmp_path / name, content[: len(content) // 3]))
        assert not re.search(r"[\n\x00]", message), name


def test_threads_that_read_a_damaged_file(tmp_path: Path) -> None:
    """Each gets the error, none hangs."""
    path = written(tmp_path / "a.csv", "1,2\n3,x\n")
    vectors = open_vectors(path)
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
        thread.join(timeout=10)
    assert len(errors) == 4


def test_the_end_of_parquet_files_is_read_as_pyarrow_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for table in ({"a": [1, None, 3], "b.list.c": [1, 2, 3]}, {"v": [[1.0, 2.0], [3.0], None]}):
        for options in ({}, {"row_group_size": 2, "compression": "none", "write_page_index": True}):
            pq.write_table(pa.table(table), path, **options)
            metadata = pq.read_metadata(path)
            groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
            expected = [
                (group.num_rows, [group.column(j).num_values for j in range(group.num_columns)])
                for group in groups
            ]
            with path.open("rb", buffering=0) as file:
                found = row_groups(BinaryFile("a.parquet", file))
            assert [(group.n_rows, [n for _, n in group.columns]) for group in found] == expected
            assert all([name for name, _ in group.columns] == list(table) for group in found)


def test_a_small_file_that_stands_for_very_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but zeros is 2,000 times as long as its file: less than the limit."""
    pq.write_table(pa.table({"a": np.zeros(1 << 20)}), tmp_path / "a.parquet", row_group_size=1 << 26)
    read_all(tmp_path / "a.parquet")
    monkeypatch.setattr("boostkmeans.io._readers.arrow_files.MAX_EXPANSION", 100)
    assert "more than a file of" in failure(tmp_path / "a.parquet")
