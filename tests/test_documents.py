"""Documents: reading every kind of input, weighting terms, clusters and what they are about."""

import contextlib
import gzip
import io
import json
import math
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.io import mmread, mmwrite
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, save_npz
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer

from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError
from boostkmeans.documents import (
    CentralDocument,
    Corpus,
    DocumentClusters,
    Skipped,
    Weighting,
    cluster_documents,
    read_corpus,
    tfidf,
)
from boostkmeans.documents import _weighting as weighting_module
from boostkmeans.documents._description import describe
from boostkmeans.documents._weighting import WeightedDocuments
from conftest import SHARED, same_partition

ROOT = Path(__file__).parents[1]
SENTENCES = ROOT / "examples" / "sentences.txt"
TEXTS = ["red rose", "a rose is red", "blue sea", "the deep blue sea"]
COUNTS = np.array([[3.0, 4, 0], [4, 3, 0], [0, 0, 5], [0, 0, 2]])


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def failure(path: Path | str, **options: Any) -> str:
    with pytest.raises(DataFormatError) as raised:
        read_corpus(path, **options)
    return str(raised.value)


# Folders


def test_a_folder(tmp_path: Path) -> None:
    for name, text in (("b.txt", "the sea"), ("a.txt", "\ufeffa rose"), (".hidden", "no"), ("c", "x y")):
        written(tmp_path / name, text)
    corpus = read_corpus(tmp_path)
    assert corpus.names == ["a.txt", "b.txt", "c"]
    assert corpus.texts == ["a rose", "the sea", "x y"]
    assert (corpus.kind, corpus.classes, corpus.skipped) == ("text", None, [])


def test_sub_folders_are_classes(tmp_path: Path) -> None:
    for name in ("sea/1", "sea/2", "land/1", "land/hills/1", ".git/config"):
        written(tmp_path / name, "some text")
    corpus = read_corpus(str(tmp_path))
    assert corpus.names == [str(Path(n)) for n in ("land/1", "land/hills/1", "sea/1", "sea/2")]
    assert corpus.classes == ["land", str(Path("land/hills")), "sea", "sea"]
    written(tmp_path / "readme", "belongs to no class")
    assert read_corpus(tmp_path).classes is None


def test_bad_files_do_not_lose_the_rest(tmp_path: Path) -> None:
    for i in range(3):
        written(tmp_path / f"good{i}.txt", f"text number {i}")
    written(tmp_path / "binary.bin", b"PK\x03\x04\x00\x00\xff")
    written(tmp_path / "latin.txt", "caf\xe9 au lait".encode("latin-1"))
    written(tmp_path / "nul.txt", b"text with \x00 in it")
    written(tmp_path / "wide.txt", "text".encode("utf-16"))
    written(tmp_path / "empty.txt", " \n")
    written(tmp_path / "damaged.gz", gzip.compress(b"text")[:-6])
    (tmp_path / "nowhere.txt").symlink_to(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")
    corpus = read_corpus(tmp_path)
    assert corpus.names == ["good0.txt", "good1.txt", "good2.txt"]
    assert corpus.skipped == [
        Skipped("binary.bin", "binary: a NUL at byte 4"),
        Skipped("damaged.gz", "the compressed file is damaged"),
        Skipped("empty.txt", "empty"),
        Skipped("latin.txt", "not utf-8: 0xe9 at byte 3"),
        Skipped("nowhere.txt", "a link to nothing"),
        Skipped("nul.txt", "binary: a NUL at character 11"),
        Skipped("pipe", "not a file"),
        Skipped("wide.txt", "not utf-8, but by its first bytes utf-16"),
    ]


def test_a_folder_with_nothing_to_read(tmp_path: Path) -> None:
    assert "no files in this folder" in failure(tmp_path)
    written(tmp_path / "latin.txt", "caf\xe9".encode("latin-1"))
    written(tmp_path / "binary", b"\x00")
    message = failure(tmp_path)
    assert str(tmp_path) in message
    assert "none of its 2 files can be used. binary: binary: a NUL" in message
    assert "encoding" in message
    assert read_corpus(tmp_path, encoding="latin-1").texts == ["caf\xe9"]


# A document on each line


def test_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.txt", b"\xef\xbb\xbfone text\r\n\n  \ntwo texts\x0b here\ncaf\xe9\n\x00\nlast"
    )
    # A NUL so early would be taken for a binary file: see below.
    path = written(path, path.read_bytes().replace(b"\n\x00", b"\n" + b"long " * 300 + b"\n\x00"))
    corpus = read_corpus(path)
    assert corpus.names == ["line 1", "line 4", "line 6", "line 8"]
    assert corpus.texts is not None
    assert (corpus.texts[0], corpus.texts[1], corpus.texts[3]) == (
        "one text",
        "two texts\x0b here",
        "last",
    )
    assert corpus.n_blank == 2
    assert corpus.skipped == [
        Skipped("line 5", "not utf-8: byte 0xe9 at character 4"),
        Skipped("line 7", "binary: a NUL at character 1"),
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "cp1252", "utf-8"])
def test_lines_in_an_encoding(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path / "a.txt", "caf\xe9\nth\xe9\n".encode(encoding))
    assert read_corpus(path, encoding=encoding).texts == ["caf\xe9", "th\xe9"]


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    assert "a.txt: empty" in failure(written(path, ""))
    assert "a.txt: empty" in failure(written(path, "\n \n"))
    assert "NUL at byte 3" in failure(written(path, b"\x7fEL\x00F"))
    assert "PDF" in failure(written(path, b"%PDF-1.7\n%more\n"))
    assert "by its first bytes utf-16" in failure(written(path, "text".encode("utf-16")))
    message = failure(written(path, b"\xe9\n\xe9\n"))
    assert "none of its 2 documents can be used. line 1: not utf-8: byte 0xe9" in message
    assert "'latin-1'" in message
    assert "utf-16" in failure(written(path, b"\xff\xfea"), encoding="utf-16")
    with pytest.raises(FileNotFoundError):
        read_corpus(tmp_path / "missing.txt")
    for encoding in ("utf-9", "base64"):
        with pytest.raises(ValueError, match="no encoding"):
            read_corpus(path, encoding=encoding)
    with pytest.raises(ValueError, match="format must be one of"):
        read_corpus(path, format="docx")
    with pytest.raises(ValueError, match="Columns can only be named for a table"):
        read_corpus(path, text_column="text")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    given(b"one\ntwo\n")
    corpus = read_corpus("-")
    assert (corpus.texts, corpus.source) == (["one", "two"], "standard input")
    assert not sys.stdin.closed
    assert not sys.stdin.buffer.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"one\n"))))
    assert read_corpus("-").texts == ["one"]
    assert not sys.stdin.closed
    given(gzip.compress(b'{"text": "one"}\n'))
    assert read_corpus("-", format="jsonl").texts == ["one"]
    given(b"")
    assert "standard input: empty" in failure("-")
    with pytest.raises(ValueError, match="cannot be read from standard input"):
        read_corpus("-", format="npz")


def test_compressed_lines(tmp_path: Path) -> None:
    content = gzip.compress("\n".join(f"text {i}" for i in range(5000)).encode())
    assert len(read_corpus(written(tmp_path / "a.txt.gz", content))) == 5000
    assert len(read_corpus(written(tmp_path / "a", content))) == 5000, "by its content, not its name"
    assert "damaged or cut short" in failure(written(tmp_path / "b.txt.gz", content[:-20]))
    changed = content[:2000] + bytes([content[2000] ^ 255]) + content[2001:]
    assert "damaged or cut short" in failure(written(tmp_path / "c.txt.gz", changed))


def test_progress_of_reading(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    written(tmp_path / "docs" / "a", "text")
    written(tmp_path / "docs" / "b", "text")
    read_corpus(tmp_path / "docs", progress=lambda *step: steps.append(step))
    assert steps == [("reading file 1 of 2", 0, 2), ("reading file 2 of 2", 1, 2)]
    steps.clear()
    path = written(tmp_path / "lines", "some text\n" * 5000)
    read_corpus(path, progress=lambda *step: steps.append(step))
    assert len(steps) == 5
    assert all(0 < done <= 50_000 == total for _, done, total in steps)


# Tables


def test_csv(tmp_path: Path) -> None:
    rows = 'id,Text,class\n7,"a rose, ""red""\nand more",flower\n8,the sea,\n\n9,sky,air\n'
    corpus = read_corpus(written(tmp_path / "a.csv", rows), name_column="id")
    assert corpus.texts == ['a rose, "red"\nand more', "the sea", "sky"]
    assert corpus.classes == ["flower", None, "air"]
    assert corpus.names == ["7", "8", "9"]
    assert read_corpus(tmp_path / "a.csv").names == ["line 2", "line 4", "line 6"]


def test_the_only_column_with_words(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,body,label\n1,a rose,x\n2,3.5,y\n")
    corpus = read_corpus(path)
    assert (corpus.texts, corpus.classes) == (["a rose", "3.5"], ["x", "y"])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_of_csv(tmp_path: Path, separator: str) -> None:
    rows = ["id,text,class", '1,"a rose; or, a tulip",x', "2,the sea,y"]
    content = "\n".join([rows[0].replace(",", separator), *rows[1:]])
    content = content.replace("1,", f"1{separator}").replace('",x', f'"{separator}x')
    content = content.replace("2,the sea,y", f"2{separator}the sea{separator}y")
    corpus = read_corpus(written(tmp_path / "a.csv", content))
    assert (corpus.texts, corpus.classes) == (["a rose; or, a tulip", "the sea"], ["x", "y"])


def test_wrong_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,title,body\n1,a,b\n2,c,d\n")
    message = failure(path)
    assert "which column holds the text?" in message
    assert "'id', 'title', 'body'" in message
    for options in ({"text_column": "txt"}, {"text_column": "body", "class_column": "kind"}):
        message = failure(path, **options)
        assert "there is no column" in message
        assert "'id', 'title', 'body'" in message
    assert read_corpus(path, text_column="title").texts == ["a", "c"]
    assert "no column 4, only 3" in failure(path, text_column=4)
    assert "no column 0, only 3" in failure(path, text_column=0)


def test_a_table_without_header(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", 'x\t"a rose\ny\tthe sea\n')
    corpus = read_corpus(path, text_column=2, class_column=1)
    assert (corpus.texts, corpus.classes) == (['"a rose', "the sea"], ["x", "y"])
    assert corpus.names == ["line 1", "line 2"]


def test_bad_rows_do_not_lose_the_rest(tmp_path: Path) -> None:
    rows = b'text,n\na rose,1\ntoo,many,2\nfew\ncaf\xe9,3\n,4\n"a"b,5\nthe sea,6\n'
    corpus = read_corpus(written(tmp_path / "a.csv", rows))
    assert corpus.texts == ["a rose", "the sea"]
    assert [document.name for document in corpus.skipped] == [f"line {i}" for i in (7, 3, 4, 5, 6)] or [
        document.name for document in corpus.skipped
    ] == [f"line {i}" for i in (3, 4, 7, 5, 6)]
    reasons = {document.name: document.reason for document in corpus.skipped}
    assert reasons["line 3"] == "3 columns instead of 2"
    assert reasons["line 4"] == "1 columns instead of 2"
    assert reasons["line 5"] == "not utf-8: byte 0xe9 at character 4"
    assert reasons["line 6"] == "empty"
    assert reasons["line 7"].startswith("not a row of a table")


def test_a_quote_that_is_not_closed(tmp_path: Path) -> None:
    rows = 'text,n\na rose,1\n"the sea,2\nthe sky,3\n'
    message = failure(written(tmp_path / "a.csv", rows))
    assert "a.csv, line 3: a quote that opens here is not closed" in message


def test_long_texts_in_a_table(tmp_path: Path) -> None:
    import csv

    usual = csv.field_size_limit(123_456)
    try:
        text = "word " * 100_000
        assert read_corpus(written(tmp_path / "a.csv", f"text,n\n{text},1\n")).texts == [text]
        assert csv.field_size_limit() == 123_456, "as it was"
    finally:
        csv.field_size_limit(usual)


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        json.dumps({"text": "caf\xe9 \U0001f600", "class": 3}),
        "",
        "{not json",
        "[1]",
        '{"other": 1}',
        '{"text": null}',
        '{"text": 5}',
        "[" * 100_000,
        '{"text": ' + "9" * 5000 + "}",
        '{"text": "the sea"}',
    ]
    corpus = read_corpus(written(tmp_path / "a.jsonl", "\n".join(lines)))
    assert corpus.texts == ["caf\xe9 \U0001f600", "the sea"]
    assert (corpus.names, corpus.classes) == (["line 1", "line 10"], ["3", None])
    assert sorted(document.name for document in corpus.skipped) == [f"line {i}" for i in range(3, 10)]
    message = failure(written(tmp_path / "b.jsonl", '{"title": "a", "body": "b"}\n'))
    assert "'title', 'body'" in message
    assert read_corpus(tmp_path / "b.jsonl", text_column="body").texts == ["b"]
    assert "line 1: a list instead of a JSON object" in failure(written(tmp_path / "c.json", "[1]\n"))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_tables_with_nothing_in_them(tmp_path: Path, name: str) -> None:
    assert f"{name}: empty" in failure(written(tmp_path / name, ""))
    rows = {"a.csv": "text,n\n", "a.tsv": "text\tn\n", "a.jsonl": "\n"}[name]
    assert f"{name}: empty" in failure(written(tmp_path / name, rows))
    assert "binary" in failure(written(tmp_path / name, b"text,n\n\x00"))


# Matrices


@pytest.mark.parametrize("layout", [csr_array, csr_matrix, csc_array, coo_array])
def test_npz(tmp_path: Path, layout: Any) -> None:
    path = tmp_path / "a.npz"
    save_npz(path, layout(COUNTS))
    corpus = read_corpus(path)
    assert corpus.matrix is not None
    assert (corpus.matrix.toarray() == COUNTS).all()
    assert (corpus.terms, corpus.classes) == (None, None)
    with np.load(path) as arrays:
        members = dict(arrays)
    np.savez_compressed(
        path, **members, labels=[1, 1, 0, 0], class_names=["sea", "land"], terms=["a", "b", "c"]
    )
    corpus = read_corpus(path)
    assert corpus.classes == ["land", "land", "sea", "sea"]
    assert corpus.terms == ["a", "b", "c"]
    np.savez(path, **members, labels=["x", "y", "x", "y"])
    assert read_corpus(path).classes == ["x", "y", "x", "y"]


def test_npz_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_npz(path, csr_array(COUNTS))
    with np.load(path) as arrays:
        members = dict(arrays)
    for changes, what in (
        ({"labels": [1, 2]}, "'labels' has 2 values"),
        ({"terms": ["a"]}, "'terms' has 1 values"),
        ({"labels": [0, 1, 2, 3], "class_names": ["x"]}, "1 class_names"),
        ({"indices": np.array([0, 1, 0, 1, 2, 99])}, "a.npz"),
        ({"indptr": np.array([0, 2, 4, 5, 2**40])}, "a.npz"),
        ({"shape": [2**40, 3]}, "a.npz"),
        ({"shape": [4, 3, 1]}, "shape of a matrix"),
        ({"shape": [-4, 3]}, "shape of a matrix"),
        ({"data": np.array([1.0, 2, 3, np.nan, 5, 6])}, "row 2 has the value nan"),
        ({"data": np.ones(6, dtype=complex)}, "real numbers"),
        ({"data": np.array(list("abcdef"))}, "real numbers"),
        ({"format": b"dia"}, "csr, csc or coo"),
        ({"terms": np.zeros(3, dtype="V0")}, "terms.npy have no length"),
    ):
        np.savez(path, **{**members, **changes})
        assert what in failure(path)
    np.savez(path, X=COUNTS)
    assert "found the arrays X" in failure(path)
    save_npz(path, csr_array((0, 3)))
    assert "no rows" in failure(path)
    members.update(format=b"coo", row=[0], col=[0], data=[1.0], shape=[2**40, 1])
    np.savez(path, **members)
    assert "(1099511627776, 1) is more than such a file can hold" in failure(path)


@pytest.mark.parametrize("shape", [(2**40,), (2**63 - 1,), (2**62, 4), (-6,), (7,), (5,)])
def test_npz_whose_headers_lie(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Before NumPy makes room for what they promise."""
    path = tmp_path / "a.npz"
    save_npz(path, csr_array(COUNTS))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    npy.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    members["data.npy"] = header.getvalue() + np.ones(6).tobytes()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert "data.npy promises" in failure(path)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    path = tmp_path / "a.npz"
    save_npz(path, csr_array(COUNTS))
    with np.load(path) as arrays:
        members = dict(arrays)
    np.savez(path, **members, terms=np.array([Trap()] * 3, dtype=object))
    assert "holds Python objects, which are not read" in failure(path)
    assert not (tmp_path / "sprung").exists()


def test_npz_with_every_byte_flipped_and_every_truncation(tmp_path: Path) -> None:
    """An error, or a matrix; never another exception, and never more memory than the file justifies."""
    path = tmp_path / "a.npz"
    save_npz(path, csr_array(COUNTS), compressed=False)
    content = path.read_bytes()
    for at in range(len(content)):
        flipped = content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]
        for changed in (flipped, content[:at]):
            path.write_bytes(changed)
            with contextlib.suppress(DataFormatError):
                assert len(read_corpus(path)) == 4


MTX = {
    "coordinate": "%%MatrixMarket matrix coordinate real general\n% note\n\n4 3 2\n1 1 5\n\n4 3 2e1\n",
    "pattern": "%%MatrixMarket matrix coordinate pattern general\n4 3 2\n1 1\n4 3\n",
    "array": "%%MatrixMarket MATRIX array integer general\n2 2\n1\n2\n3\n4\n",
}


def test_matrix_market(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    for matrix in (coo_array(COUNTS), COUNTS, coo_array(COUNTS.astype(int)), coo_array((2, 3))):
        mmwrite(path, matrix)
        corpus = read_corpus(path)
        assert corpus.matrix is not None
        assert (corpus.matrix.toarray() == csr_array(matrix).toarray()).all()
    for content in MTX.values():
        corpus = read_corpus(written(path, content))
        assert corpus.matrix is not None
        assert (corpus.matrix.toarray() == csr_array(mmread(path)).toarray()).all()
    written(tmp_path / "a.mtx.rclass", "x\ny\n")
    assert read_corpus(path).classes == ["x", "y"]


@pytest.mark.parametrize("number", ["0", "-1", str(2**31), str(2**40), str(2**63), "x"])
@pytest.mark.parametrize("kind", MTX)
def test_the_header_of_matrix_market(tmp_path: Path, kind: str, number: str) -> None:
    header = "2 2" if kind == "array" else "4 3 2"
    for i in range(len(header.split())):
        changed = header.split()
        changed[i] = number
        content = MTX[kind].replace(header, " ".join(changed))
        assert "a.mtx, line" in failure(written(tmp_path / "a.mtx", content)) or number == "0"


@pytest.mark.parametrize("kind", MTX)
def test_matrix_market_with_every_byte_changed_and_every_truncation(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.mtx"
    content = MTX[kind].encode()
    for at in range(len(content)):
        assert "a.mtx" in failure(written(path, content[:at]))
        for byte in b"\x00\n 09-x%":
            path.write_bytes(content[:at] + bytes([byte]) + content[at + 1 :])
            with contextlib.suppress(DataFormatError):
                assert len(read_corpus(path)) in range(10)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("1 1 5", "5 1 5", "line 5: there is no row 5"),
        ("4 3 2e1", "4 0 2", "line 7: there is no column 0"),
        ("4 3 2e1", "4 1.5 2", "line 7: there is no column 1.5"),
        ("1 1 5", "1 1", "line 5: 3 numbers are expected, but there are 2"),
        ("1 1 5", "1 1 nan", "line 5: nan is not a finite number"),
        ("1 1 5\n", "", "promises 2 entries, but 1 follow"),
        ("real", "complex", "line 1: documents are read from"),
        ("general", "symmetric", "line 1: documents are read from"),
        ("matrix", "vector", "line 1: expected"),
        ("4 3 2\n1 1 5\n\n4 3 2e1\n", "", "ends before it says"),
    ],
)
def test_errors_of_matrix_market(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert what in failure(written(tmp_path / "a.mtx", MTX["coordinate"].replace(old, new)))


def test_svmlight(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    dump_svmlight_file(COUNTS, [1, 1, 2, 2], str(path), zero_based=False)
    corpus = read_corpus(path)
    assert corpus.matrix is not None
    assert (corpus.matrix.toarray() == COUNTS).all()
    assert corpus.classes == ["1", "1", "2", "2"]
    for content, place in (
        ("1 1:2\n1 x:2\n", "line 2"),
        ("1 1:2\n# fine\n1 3\n", "line 3"),
        ("1 1:2\n1 3:1 2:1\n", "line 2"),
        ("1 1:2\n1 99999999999:1\n", "line 2"),
        ("a 1:2\n", "line 1"),
        ("1 -4:2\n", "line 1"),
        ("1 1:2\n2 1:nan\n", "row 2 has the value nan"),
        ("", "no rows"),
    ):
        assert place in failure(written(path, content))


def test_a_column_far_to_the_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing as wide as the matrix is made of it: only columns that occur are kept."""
    path = written(tmp_path / "a.svm", "1 1:2 2147483647:1\n2 5:1\n")
    documents = tfidf(read_corpus(path))
    assert documents.terms == ["column 1", "column 5", "column 2147483647"]
    monkeypatch.setattr(weighting_module, "MOST_COUNTERS", 0)
    assert tfidf(Corpus.from_matrix(COUNTS)).terms == ["column 1", "column 2", "column 3"]


def test_the_matrix_of_the_caller_stays(tmp_path: Path) -> None:
    data, columns, starts = np.array([5, 0, 7, 1]), np.array([2, 0, 1, 0]), np.array([0, 3, 4])
    for dtype in (np.float64, np.uint16):
        given = csr_array((data.astype(dtype), columns.copy(), starts), shape=(2, 3))
        corpus = Corpus.from_matrix(given)
        tfidf(corpus)
        assert given.data.tolist() == data.tolist()
        assert given.indices.tolist() == columns.tolist(), "not even sorted"
        assert corpus.matrix is not None
        assert corpus.matrix.indices.tolist() == [1, 2, 0]


# Corpora from Python


def test_corpora_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="2 documents, but 1 names"):
        Corpus.from_texts(["a", "b"], names=["x"])
    with pytest.raises(ValueError, match="2 documents, but 3 classes"):
        Corpus.from_texts(["a", "b"], classes=[1, 2, 3])
    with pytest.raises(ValueError, match="3 columns, but 2 terms"):
        Corpus.from_matrix(COUNTS, terms=["a", "b"])
    with pytest.raises(ValueError, match="either texts or a matrix"):
        Corpus(names=[])
    with pytest.raises(ValueError, match="Got a single one"):
        Corpus.from_texts("a text")
    with pytest.raises(ValueError, match="Number 1 is int"):
        Corpus.from_texts(["a", 2])  # type: ignore[list-item]
    with pytest.raises(DataFormatError, match="2 dimensions"):
        Corpus.from_matrix([1, 2])
    with pytest.raises(DataFormatError, match="row 2 has the value inf"):
        Corpus.from_matrix([[1.0, 0], [0, np.inf]])


# Weighting


def test_texts_are_weighted_as_by_scikit_learn() -> None:
    texts = [*TEXTS, "red sea and red sky", "roses"]
    for options in (
        {},
        {"ngram_range": (1, 2), "min_df": 2},
        {"stop_words": "english", "max_df": 0.4, "sublinear_tf": True},
        {"max_features": 3, "stop_words": ["the", "is"]},
    ):
        documents = tfidf(Corpus.from_texts(texts), Weighting(**options))  # type: ignore[arg-type]
        peer = TfidfVectorizer(**options)
        expected = peer.fit_transform(texts).toarray()
        assert documents.terms == peer.get_feature_names_out().tolist()
        np.testing.assert_allclose(documents.rows.toarray(), expected, atol=1e-15)


def test_plain_idf_by_hand() -> None:
    counts = np.array([[2.0, 1, 0, 0], [0, 1, 3, 0], [0, 1, 1, 0]])
    documents = tfidf(Corpus.from_matrix(counts, terms=["a", "b", "c", "never"]))
    assert documents.terms == ["a", "b", "c"]
    # b is in all documents: log(3 / 3) = 0. So one term is left in each.
    assert documents.rows.toarray().tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    counts = np.array([[2.0, 3, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1]])
    weights = counts[0, :2] * [math.log(4), math.log(2)]
    found = tfidf(Corpus.from_matrix(counts)).rows.toarray()
    np.testing.assert_allclose(found[0, :2], weights / np.linalg.norm(weights))


def test_columns_are_selected_as_the_vectorizer_does() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["ant", "bee", "cat", "dog", "emu", "fox", "gnu"])
    texts = [
        " ".join(rng.choice(words, size=4, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])) for _ in range(30)
    ]
    vectorizer = TfidfVectorizer(use_idf=False, norm=None)
    counts = vectorizer.fit_transform(texts)
    corpus = Corpus.from_matrix(counts, terms=vectorizer.get_feature_names_out())
    for options in ({"min_df": 8}, {"max_df": 0.5}, {"min_df": 0.2, "max_df": 20}, {"max_features": 4}):
        from_texts = tfidf(Corpus.from_texts(texts), Weighting(**options))
        from_counts = tfidf(corpus, Weighting(**options, idf="smooth"))
        assert 0 < len(from_counts.terms) < 7
        assert from_counts.terms == from_texts.terms
        np.testing.assert_allclose(from_counts.rows.toarray(), from_texts.rows.toarray(), atol=1e-15)


def test_ready_weights_and_extreme_values() -> None:
    rows = np.array([[3e200, -4e200, 0], [3e-200, 4e-200, 0], [0, 0, 5e-320], [0, 0, 0]])
    documents = tfidf(Corpus.from_matrix(rows), Weighting(idf="none"))
    expected = np.array([[0.6, -0.8, 0], [0.6, 0.8, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(documents.rows.toarray(), expected)
    assert documents.empty == [3]
    for options in ({}, {"idf": "none", "sublinear_tf": True}):
        with pytest.raises(ValueError, match=r'negative values.*idf="none"'):
            tfidf(Corpus.from_matrix(rows), Weighting(**options))  # type: ignore[arg-type]


def test_nothing_left() -> None:
    with pytest.raises(DataFormatError, match="no words of two letters"):
        tfidf(Corpus.from_texts(["!", "?", "a b c"]))
    with pytest.raises(DataFormatError, match="stop words aside"):
        tfidf(Corpus.from_texts(["the", "and of"]), Weighting(stop_words="english"))
    with pytest.raises(ValueError, match=r"no terms are left.*min_df") as raised:
        tfidf(Corpus.from_texts(TEXTS), Weighting(min_df=4))
    assert not isinstance(raised.value, DataFormatError)
    with pytest.raises(ValueError, match=r"no terms are left.*min_df"):
        tfidf(Corpus.from_matrix(COUNTS), Weighting(min_df=4))
    with pytest.raises(DataFormatError, match="no document has a term that counts"):
        tfidf(Corpus.from_matrix([[1.0], [2.0]]))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"ngram_range": (0, 1)}, "ngram_range"),
        ({"ngram_range": 2}, "ngram_range"),
        ({"stop_words": "klingon"}, "stop_words"),
        ({"min_df": 0}, "min_df"),
        ({"min_df": -0.1}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"max_df": math.nan}, "max_df"),
        ({"max_df": "1"}, "max_df"),
        ({"max_features": 0}, "max_features"),
        ({"idf": "idf"}, "idf"),
    ],
)
def test_wrong_options(options: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' parameter of Weighting must be"):
        Weighting(**options)


def test_options_that_need_texts() -> None:
    for options in ({"ngram_range": (1, 2)}, {"stop_words": "english"}):
        with pytest.raises(ValueError, match="need texts"):
            tfidf(Corpus.from_matrix(COUNTS), Weighting(**options))


# Describing


def described(
    rows: NDArray[np.float64], labels: list[int], corpus: Corpus, n_terms: int = 10, n_central: int = 5
) -> Any:
    terms = [chr(ord("a") + i) for i in range(rows.shape[1])]
    return describe(
        WeightedDocuments(csr_array(rows), terms, []), np.array(labels, dtype=np.int32), corpus,
        n_clusters=max(labels) + 1, n_terms=n_terms, n_central=n_central,
    )  # fmt: skip


def test_terms_and_documents_by_hand() -> None:
    unit = COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True)
    corpus = Corpus.from_matrix(COUNTS, classes=["x", "y", "y", None])
    first, second = described(unit, [0, 0, 1, 1], corpus)
    # Centres (.7, .7, 0) and (0, 0, 1); their difference has the squares .49, .49, 1.
    assert (first.number, first.size, second.number, second.size) == (0, 2, 1, 2)
    assert [(one.term, one.share) for one in first.descriptive] == [
        ("a", pytest.approx(0.5)), ("b", pytest.approx(0.5)),
    ]  # fmt: skip
    assert [(one.term, one.share) for one in first.discriminating] == [
        ("a", pytest.approx(0.49 / 1.98)), ("b", pytest.approx(0.49 / 1.98)),
    ]  # fmt: skip
    assert [(one.term, one.share) for one in second.descriptive] == [("c", 1.0)]
    assert [(one.term, one.share) for one in second.discriminating] == [("c", pytest.approx(1 / 1.98))]
    assert first.similarity == pytest.approx(1.4 / math.sqrt(2))
    assert second.similarity == pytest.approx(1.0)
    assert [one.name for one in second.central] == ["3", "4"]
    assert (first.classes, second.classes) == ({"x": 1, "y": 1}, {"y": 1})


def test_the_most_central_documents() -> None:
    rows = np.array([[0.8, 0.6], [1, 0], [0.6, 0.8], [0, 0], [0.6, 0.8]])
    corpus = Corpus.from_texts([f"text \n {i} " + "word " * 50 for i in range(5)])
    (cluster,) = described(rows, [0] * 5, corpus, n_central=3)
    centre = rows.sum(axis=0) / np.linalg.norm(rows.sum(axis=0))
    assert [one.name for one in cluster.central] == ["1", "3", "5"]
    assert [one.similarity for one in cluster.central] == pytest.approx(
        (rows @ centre)[[0, 2, 4]].tolist()
    )
    snippet = cluster.central[0].snippet
    assert snippet.startswith("text 0 word word")
    assert snippet.endswith("...")
    assert len(snippet) <= 80
    assert cluster.discriminating == [], "nothing else to be apart from"
    (cluster,) = described(rows, [0] * 5, corpus, n_terms=1, n_central=9)
    assert len(cluster.descriptive) == 1
    assert [one.name for one in cluster.central] == ["1", "3", "5", "2"], "a row of zeros is not central"


def test_an_empty_cluster() -> None:
    empty, full = described(np.array([[1.0], [1.0]]), [1, 1], Corpus.from_texts(["a", "b"]))
    assert (empty.size, empty.similarity, empty.descriptive, empty.central) == (0, 0.0, [], [])
    assert full.size == 2


# Clustering


@pytest.mark.parametrize("method", ["bisecting", "refined", "k-way"])
def test_clusters_of_sentences(method: str) -> None:
    corpus = read_corpus(SENTENCES)
    found = cluster_documents(
        corpus, 3, method=method, weighting=Weighting(stop_words="english"), n_init=4, random_state=0
    )
    themes = np.array([0, 1, 2] * 10)
    assert len(found.labels) == 30
    assert same_partition(found.labels, themes)
    of_theme = [found.clusters[found.labels[i]] for i in range(3)]
    for cluster, terms in zip(
        of_theme, ({"team", "match"}, {"butter", "sauce"}, {"star", "planet"}), strict=True
    ):
        assert terms <= {one.term for one in cluster.descriptive}
        assert terms <= {one.term for one in cluster.discriminating}
        assert cluster.size == 10
        assert len(cluster.central) == 5
        assert all(found.labels[int(one.name[5:]) - 1] == cluster.number for one in cluster.central)
    assert isinstance(found.model, BoostKMeans if method == "k-way" else BisectingBoostKMeans)
    assert found.model.metric == "cosine"
    assert found.model.callback is None
    assert (found.model.stop_reason_ == "tree") == (method == "bisecting")
    assert found.scores is None


def test_scores_where_classes_are_known() -> None:
    corpus = Corpus.from_texts(
        ["red roses are red", *TEXTS], classes=[None, "land", "land", "sea", "sea"]
    )
    found = cluster_documents(corpus, 2, random_state=0)
    assert found.scores == {"entropy": 0.0, "purity": 1.0, "nmi": pytest.approx(1.0)}
    corpus = Corpus.from_texts(TEXTS, classes=["land", "sea", "land", "sea"])
    found = cluster_documents(corpus, 2, random_state=0)
    assert found.scores == {
        "entropy": pytest.approx(1.0), "purity": 0.5, "nmi": pytest.approx(0.0, abs=1e-12),
    }  # fmt: skip
    assert cluster_documents(Corpus.from_texts(TEXTS, classes=[None] * 4), 2).scores is None


def test_the_result_for_machines_and_people() -> None:
    corpus = Corpus(
        names=["a", "b", "\x1b[31mc", "d", "e"],
        texts=[*TEXTS, "?"],
        classes=["x", "x", "y", "y", "y"],
        skipped=[Skipped(f"bad{i}", "binary") for i in range(7)],
        source="corpus.txt",
        n_blank=3,
    )
    found = cluster_documents(corpus, 2, n_terms=2, n_central=2, random_state=0)
    made = found.to_dict()
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["labels"] == found.labels.tolist()
    assert made["empty"] == found.empty == ["e"]
    assert (made["n_documents"], made["n_terms"]) == (5, len(found.documents.terms))
    assert [one["size"] for one in made["clusters"]] == np.bincount(found.labels).tolist()
    table = found.table()
    assert table == str(found)
    assert "corpus.txt: 5 documents, 7 terms, 11 non-zeros" in table
    assert "7 skipped: bad0 (binary), bad1 (binary)" in table
    assert "and 2 more" in table
    assert "1 without terms: e" in table
    assert "3 blank lines" in table
    assert "purity 1.0000" in table
    assert "\x1b" not in table
    assert "\\x1b[31mc" in table


def test_the_same_seed_gives_the_same_clusters() -> None:
    corpus = read_corpus(SENTENCES)
    first, second = (cluster_documents(corpus, 5, random_state=3, n_threads=n) for n in (1, 2))
    assert first.to_dict() == second.to_dict()


def test_duplicates_make_fewer_clusters() -> None:
    with pytest.warns(match="distinct clusters"):
        found = cluster_documents(["red rose"] * 4 + ["blue sea"] * 2, 4, random_state=0)
    assert sum(one.size for one in found.clusters) == 6
    assert "cluster 0" in found.table()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"n_clusters": 5}, "5 clusters need as many documents, but the documents has only 4"),
        ({"n_clusters": 0}, "n_clusters must be an int"),
        ({"n_clusters": 2.0}, "n_clusters must be an int"),
        ({"n_clusters": 2, "method": "agglomerative"}, "method must be one of 'bisecting'"),
        ({"n_clusters": 2, "n_terms": -1}, "n_terms must be"),
        ({"n_clusters": 2, "n_central": True}, "n_central must be"),
        ({"n_clusters": 2, "n_init": 0}, "n_init"),
        ({"n_clusters": 2, "quality": "superb"}, "quality"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        cluster_documents(TEXTS, **options)


def test_progress_of_clustering() -> None:
    steps: list[str] = []
    cluster_documents(
        TEXTS, 2, method="k-way", progress=lambda what, *_: steps.append(what), random_state=0
    )
    assert steps[0] == "counting terms"
    assert "clustering: sweep 1" in steps
    assert steps[-1] == "describing clusters"


# Real collections


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    return path


def test_reuters() -> None:
    corpus = read_corpus(shared("text/reuters-r8.tsv.gz"), text_column=3, class_column=2)
    assert len(corpus) == 7674
    found = cluster_documents(
        corpus, 8, weighting=Weighting(stop_words="english", min_df=3), random_state=0
    )
    check_scores(found, entropy=0.45, purity=0.7)


@pytest.mark.parametrize("method", ["bisecting", "refined", "k-way"])
def test_a_set_of_cluto(method: str) -> None:
    corpus = read_corpus(shared("cluto/tr31.npz"))
    found = cluster_documents(corpus, 7, method=method, random_state=0)
    check_scores(found, entropy=0.5, purity=0.6)
    assert found.clusters[0].descriptive[0].term in (corpus.terms or [])
    assert found.clusters[0].central[0] == CentralDocument(
        found.clusters[0].central[0].name, found.clusters[0].central[0].similarity, None
    )


def check_scores(found: DocumentClusters, *, entropy: float, purity: float) -> None:
    assert found.scores is not None
    assert 0 < found.scores["entropy"] < entropy
    assert purity < found.scores["purity"] < 1
    assert 0.2 < found.scores["nmi"] < 1
