"""Reading of documents: folders, lines, tables and matrices, and their errors."""

import contextlib
import gzip
import io
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib import format as npy
from scipy.io import mmread, mmwrite
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, save_npz
from sklearn.datasets import dump_svmlight_file

from boostkmeans import DataFormatError
from boostkmeans.documents import Corpus, Skipped, _columns, read_corpus, tfidf
from boostkmeans.documents import _csv_rows as csv_rows_module

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


def test_reads_folder(tmp_path: Path) -> None:
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


def test_skips_invalid_files(tmp_path: Path) -> None:
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
        Skipped("nowhere.txt", "a broken link"),
        Skipped("nul.txt", "binary: a NUL at character 11"),
        Skipped("pipe", "not a file"),
        Skipped("wide.txt", "not utf-8: the first bytes are the mark of utf-16"),
    ]


def test_skips_unreadable_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/1", "b/c/1", "b/1"):
        written(tmp_path / name, "some text")
    scandir, closed = os.scandir, {str(tmp_path / "b" / "c")}

    def refused(path: Any) -> Any:  # file permissions do not apply to the superuser
        if os.fspath(path) in closed:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    corpus = read_corpus(tmp_path)
    assert corpus.names == [str(Path("a/1")), str(Path("b/1"))]
    assert corpus.skipped == [Skipped(f"{Path('b/c')}{os.sep}", "folder: Permission denied")]
    closed.add(str(tmp_path))
    with pytest.raises(PermissionError):
        read_corpus(tmp_path)


def test_error_for_folder_without_usable_files(tmp_path: Path) -> None:
    assert "The folder has no files." in failure(tmp_path)
    written(tmp_path / "latin.txt", "caf\xe9".encode("latin-1"))
    written(tmp_path / "binary", b"\x00")
    message = failure(tmp_path)
    assert str(tmp_path) in message
    assert "None of its 2 files can be used. binary: binary: a NUL" in message
    assert "encoding" in message
    assert read_corpus(tmp_path, encoding="latin-1").texts == ["caf\xe9"]


# A document on each line


def test_reads_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.txt", b"\xef\xbb\xbfone text\r\n\n  \ntwo texts\x0b here\ncaf\xe9\n\x00\nlast"
    )
    # A NUL near the beginning would make the file binary, so it is moved behind a long line.
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
def test_reads_lines_in_encoding(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path / "a.txt", "caf\xe9\nth\xe9\n".encode(encoding))
    assert read_corpus(path, encoding=encoding).texts == ["caf\xe9", "th\xe9"]


def test_rejects_files_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    assert "a.txt: The file is empty." in failure(written(path, ""))
    assert "a.txt: The file is empty." in failure(written(path, "\n \n"))
    assert "NUL at byte 3" in failure(written(path, b"\x7fEL\x00F"))
    assert "PDF" in failure(written(path, b"%PDF-1.7\n%more\n"))
    assert "the mark of utf-16" in failure(written(path, "text".encode("utf-16")))
    message = failure(written(path, b"\xe9\n\xe9\n"))
    assert "None of its 2 documents can be used. line 1: not utf-8: byte 0xe9" in message
    assert "'latin-1'" in message
    assert "utf-16" in failure(written(path, b"\xff\xfea"), encoding="utf-16")
    with pytest.raises(FileNotFoundError):
        read_corpus(tmp_path / "missing.txt")
    for encoding in ("utf-9", "base64"):
        with pytest.raises(ValueError, match="encoding must be a text encoding"):
            read_corpus(path, encoding=encoding)
    with pytest.raises(ValueError, match="'format' parameter of read_corpus must be a str among"):
        read_corpus(path, format="docx")
    with pytest.raises(ValueError, match="Columns can only be named for tables"):
        read_corpus(path, text_column="text")


def test_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert "standard input: The file is empty." in failure("-")
    with pytest.raises(ValueError, match="cannot be read from standard input"):
        read_corpus("-", format="npz")


def test_reads_compressed_lines(tmp_path: Path) -> None:
    content = gzip.compress("\n".join(f"text {i}" for i in range(5000)).encode())
    assert len(read_corpus(written(tmp_path / "a.txt.gz", content))) == 5000
    assert len(read_corpus(written(tmp_path / "a", content))) == 5000, "gzip is detected by content"
    assert "damaged or truncated" in failure(written(tmp_path / "b.txt.gz", content[:-20]))
    changed = content[:2000] + bytes([content[2000] ^ 255]) + content[2001:]
    assert "damaged or truncated" in failure(written(tmp_path / "c.txt.gz", changed))


def test_reports_progress_of_reading(tmp_path: Path) -> None:
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


def test_reads_csv(tmp_path: Path) -> None:
    rows = 'id,Text,class\n7,"a rose, ""red""\nand more",flower\n8,the sea,\n\n9,sky,air\n'
    corpus = read_corpus(written(tmp_path / "a.csv", rows), name_column="id")
    assert corpus.texts == ['a rose, "red"\nand more', "the sea", "sky"]
    assert corpus.classes == ["flower", None, "air"]
    assert corpus.names == ["7", "8", "9"]
    assert read_corpus(tmp_path / "a.csv").names == ["line 2", "line 4", "line 6"]


def test_uses_only_column_with_words(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,body,label\n1,a rose,x\n2,3.5,y\n")
    corpus = read_corpus(path)
    assert (corpus.texts, corpus.classes) == (["a rose", "3.5"], ["x", "y"])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_detects_separator_of_csv(tmp_path: Path, separator: str) -> None:
    rows = ["id,text,class", '1,"a rose; or, a tulip",x', "2,the sea,y"]
    content = "\n".join([rows[0].replace(",", separator), *rows[1:]])
    content = content.replace("1,", f"1{separator}").replace('",x', f'"{separator}x')
    content = content.replace("2,the sea,y", f"2{separator}the sea{separator}y")
    corpus = read_corpus(written(tmp_path / "a.csv", content))
    # Quotes are ordinary characters between tabs.
    first = '"a rose; or, a tulip"' if separator == "\t" else "a rose; or, a tulip"
    assert (corpus.texts, corpus.classes) == ([first, "the sea"], ["x", "y"])


def test_rejects_unknown_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,title,body\n1,a,b\n2,c,d\n")
    message = failure(path)
    assert "It is not clear which column holds the text" in message
    assert "'id', 'title', 'body'" in message
    for options in ({"text_column": "txt"}, {"text_column": "body", "class_column": "kind"}):
        message = failure(path, **options)
        assert "There is no column" in message
        assert "'id', 'title', 'body'" in message
    assert read_corpus(path, text_column="title").texts == ["a", "c"]
    assert "no column 4: the table has 3 columns" in failure(path, text_column=4)
    assert "no column 0: the table has 3 columns" in failure(path, text_column=0)


def test_reads_table_without_header(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", 'x\t"a rose\ny\tthe sea\n')
    corpus = read_corpus(path, text_column=2, class_column=1)
    assert (corpus.texts, corpus.classes) == (['"a rose', "the sea"], ["x", "y"])
    assert corpus.names == ["line 1", "line 2"]


def test_skips_header_despite_column_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    corpus = read_corpus(written(path, "kind,body\nx,a rose\ny,the sea\nz,\n"), text_column=2)
    assert corpus.texts == ["a rose", "the sea"]
    assert corpus.skipped == [Skipped("line 1", "looks like a header"), Skipped("line 4", "empty")]
    for rows in (
        "kind,a body\nx,a rose\ny,the sea\n",
        "kind,body\nx,rose\ny,the sea\n",
        "body,body\nx,a rose\ny,the sea\n",
        "7,body\nx,a rose\ny,the sea\n",
        f"kind,{'body' * 8}\nx,a rose\ny,the sea\n",
        "kind,body\nx,a rose\n",
    ):
        assert read_corpus(written(path, rows), text_column=2).skipped == []
    assert read_corpus(written(path, "\nx,a rose\n"), text_column=2).names == ["line 2"]


def test_skips_invalid_rows(tmp_path: Path) -> None:
    rows = b'text,n\na rose,1\ntoo,many,2\nfew\ncaf\xe9,3\n,4\n"a"b,5\nthe sea,6\n'
    corpus = read_corpus(written(tmp_path / "a.csv", rows))
    assert corpus.texts == ["a rose", "the sea"]
    # The first records are split into rows before they are checked, so line 7 comes before 5 and 6.
    assert [document.name for document in corpus.skipped] == [f"line {i}" for i in (3, 4, 7, 5, 6)]
    reasons = {document.name: document.reason for document in corpus.skipped}
    assert reasons["line 3"] == "3 columns instead of 2"
    assert reasons["line 4"] == "1 columns instead of 2"
    assert reasons["line 5"] == "not utf-8: byte 0xe9 at character 4"
    assert reasons["line 6"] == "empty"
    assert reasons["line 7"].startswith("not a valid row")


def test_continues_after_quote_that_is_not_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    rows = (
        'text,n\na rose,1\n"the sea,2\nthe sky,3\n"the\nhill",4\n"the wood,5\nthe lake,6\n"a"b,7\nz,8\n'
    )
    corpus = read_corpus(written(path, rows))
    assert corpus.texts == ["a rose", "the sky", "the\nhill", "the lake", "z"]
    assert corpus.names == [f"line {i}" for i in (2, 4, 5, 8, 10)]
    assert [one.name for one in corpus.skipped] == ["line 3", "line 7", "line 9"]
    assert corpus.skipped[0].reason.startswith(
        "the quote that opens here is not closed at the end of a field"
    )
    assert corpus.skipped[0].reason.endswith("line 5)")
    message = failure(written(path, 'text,"n\na rose,1\nthe sea,2\n'))
    assert "a.csv: line 1: The quote that opens here is not closed" in message
    monkeypatch.setattr(csv_rows_module, "MAX_LINES_READ_AGAIN", 2)
    assert "line 3: The quote that opens here is not closed" in failure(
        written(path, 'text,n\na rose,1\n"the sea,2\nthe sky,3\nx,4\nz,5\n')
    )


def test_reads_long_texts_in_table(tmp_path: Path) -> None:
    import csv

    usual = csv.field_size_limit(123_456)
    try:
        text = "word " * 100_000
        assert read_corpus(written(tmp_path / "a.csv", f"text,n\n{text},1\n")).texts == [text]
        assert csv.field_size_limit() == 123_456, "the limit must be restored"
    finally:
        csv.field_size_limit(usual)


def test_reads_json_lines(tmp_path: Path) -> None:
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


def test_skips_rows_with_undecodable_cells(tmp_path: Path) -> None:
    rows = b"id,text,class,note\n1,a rose,caf\xe9,\n\xe9,the sea,x,\n3,the sky,y,\xe9\n4,\xe9,\xe9,\n"
    corpus = read_corpus(written(tmp_path / "a.csv", rows), text_column="text", name_column="id")
    assert (corpus.names, corpus.classes) == (["3"], ["y"]), "unused columns must not matter"
    assert corpus.skipped == [
        Skipped("line 2", "not utf-8: byte 0xe9 at character 4 of column 'class'"),
        Skipped("line 3", "not utf-8: byte 0xe9 at character 1 of column 'id'"),
        Skipped("line 5", "not utf-8: byte 0xe9 at character 1"),
    ]
    lines = (r'{"text": "a \ud83d"}', r'{"text": "b", "class": "\ud83d"}', r'{"text": "\ud83d\ude00"}')
    corpus = read_corpus(written(tmp_path / "a.jsonl", "\n".join(lines)))
    assert corpus.texts == ["\U0001f600"]
    assert corpus.skipped == [
        Skipped("line 1", "half of a surrogate pair: U+D83D at character 3"),
        Skipped("line 2", "half of a surrogate pair: U+D83D at character 1 of column 'class'"),
    ]


def test_remedy_depends_on_the_fault(tmp_path: Path) -> None:
    for content in ('[{"text": "a"}]\n', '[\n{"text": "a"},\n{"text": "b"},\n]\n', '"a"\n'):
        message = failure(written(tmp_path / "a.json", content))
        assert "one JSON object per line" in message
        assert "encoding" not in message
    assert "one JSON object per line" in failure(written(tmp_path / "a.json", ""))
    assert "'latin-1'" in failure(written(tmp_path / "a.json", b'{"text": "caf\xe9"}\n'))
    message = failure(written(tmp_path / "a.csv", 'text,n\n"a"b,5\n'))
    assert "not a valid row" in message
    assert "one row per document" in message
    assert "encoding" not in message
    (tmp_path / "docs").mkdir()
    os.mkfifo(tmp_path / "docs" / "pipe")
    assert "pipe: not a file. Expected plain text." in failure(tmp_path / "docs")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_rejects_empty_tables(tmp_path: Path, name: str) -> None:
    assert f"{name}: The file is empty." in failure(written(tmp_path / name, ""))
    rows = {"a.csv": "text,n\n", "a.tsv": "text\tn\n", "a.jsonl": "\n"}[name]
    assert f"{name}: The file is empty." in failure(written(tmp_path / name, rows))
    assert "binary" in failure(written(tmp_path / name, b"text,n\n\x00"))


# Matrices


@pytest.mark.parametrize("layout", [csr_array, csr_matrix, csc_array, coo_array])
def test_reads_npz(tmp_path: Path, layout: Any) -> None:
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


def test_rejects_inconsistent_npz(tmp_path: Path) -> None:
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
        ({"data": np.array([1.0, 2, 3, np.nan, 5, 6])}, "row 2: The values must be finite. Got nan"),
        ({"data": np.ones(6, dtype=complex)}, "real numbers"),
        ({"data": np.array(list("abcdef"))}, "real numbers"),
        ({"format": b"dia"}, "csr, csc, coo, bsr or dia"),
        ({"terms": np.zeros(3, dtype="V0")}, "terms.npy"),
    ):
        np.savez(path, **{**members, **changes})
        assert what in failure(path)
    np.savez(path, X=COUNTS)
    assert "Got the arrays: X" in failure(path)
    save_npz(path, csr_array((0, 3)))
    assert "no rows" in failure(path)
    members.update(format=b"coo", row=[0], col=[0], data=[1.0], shape=[2**40, 1])
    np.savez(path, **members)
    assert "(1099511627776, 1) is too large for this file" in failure(path)


@pytest.mark.parametrize("shape", [(2**40,), (2**63 - 1,), (2**62, 4), (-6,), (7,), (5,)])
def test_rejects_npz_with_wrong_sizes(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """The error is raised before NumPy allocates memory of the declared size."""
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
    assert "data.npy, byte 128: The header declares" in failure(path)


def test_npz_is_never_unpickled(tmp_path: Path) -> None:
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


@pytest.mark.slow
def test_damaged_npz_gives_error_or_matrix(tmp_path: Path) -> None:
    """No other exception is raised, whichever byte is flipped or missing."""
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


def test_reads_matrix_market(tmp_path: Path) -> None:
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
def test_rejects_invalid_header_of_matrix_market(tmp_path: Path, kind: str, number: str) -> None:
    header = "2 2" if kind == "array" else "4 3 2"
    for i in range(len(header.split())):
        changed = header.split()
        changed[i] = number
        content = MTX[kind].replace(header, " ".join(changed), 1)
        assert "a.mtx: line" in failure(written(tmp_path / "a.mtx", content))


@pytest.mark.slow
@pytest.mark.parametrize("kind", MTX)
def test_damaged_matrix_market_gives_error_or_matrix(tmp_path: Path, kind: str) -> None:
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
        ("1 1 5", "5 1 5", "line 5: Expected a row from 1 to 4. Got 5"),
        ("4 3 2e1", "4 0 2", "line 7: Expected a column from 1 to 3. Got 0"),
        ("4 3 2e1", "4 1.5 2", "line 7: Expected a column from 1 to 3. Got 1.5"),
        ("1 1 5", "1 1", "line 5: Expected 3 numbers. Got 2"),
        ("1 1 5", "1 1 nan", "line 5: nan is not a finite number"),
        ("1 1 5\n", "", "line 4: The header declares 2 entries, but 1 follow"),
        ("real", "complex", "line 1: Expected a coordinate matrix of real numbers"),
        ("general", "symmetric", "line 1: The matrix is declared as symmetric"),
        ("matrix", "vector", "line 1: Expected"),
        ("4 3 2\n1 1 5\n\n4 3 2e1\n", "", "The file ends before the line with the size"),
    ],
)
def test_error_of_matrix_market_names_the_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert what in failure(written(tmp_path / "a.mtx", MTX["coordinate"].replace(old, new)))


def test_reads_svmlight(tmp_path: Path) -> None:
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
        ("1 1:2\n2 1:nan\n", "row 2: The values must be finite. Got nan"),
        ("", "no rows"),
    ):
        assert place in failure(written(path, content))


def test_wide_matrix_keeps_only_used_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No array as wide as the matrix is allocated."""
    path = written(tmp_path / "a.svm", "1 1:2 2147483647:1\n2 5:1\n")
    documents = tfidf(read_corpus(path))
    assert documents.terms == ["column 1", "column 5", "column 2147483647"]
    monkeypatch.setattr(_columns, "MAX_COUNTERS", 0)
    assert tfidf(Corpus.from_matrix(COUNTS)).terms == ["column 1", "column 2", "column 3"]


def test_columns_of_svmlight_have_the_numbers_of_the_file(tmp_path: Path) -> None:
    for rows, terms in (
        ("1 0:2 3:1\n2 5:1\n", ["column 0", "column 3", "column 5"]),
        ("1 1:2 3:1\n2 5:1\n", ["column 1", "column 3", "column 5"]),
        ("1 2:2 3:1\n2 5:1\n", ["column 2", "column 3", "column 5"]),
    ):
        assert tfidf(read_corpus(written(tmp_path / "a.svm", rows))).terms == terms
    written(tmp_path / "a.svm.clabel", "a\nb\nc\nd\ne\nf\n")
    written(tmp_path / "a.svm", "1 0:2 3:1\n2 5:1\n")
    assert tfidf(read_corpus(tmp_path / "a.svm")).terms == ["a", "d", "f"]


def test_from_matrix_does_not_modify_its_argument(tmp_path: Path) -> None:
    data, columns, starts = np.array([5, 0, 7, 1]), np.array([2, 0, 1, 0]), np.array([0, 3, 4])
    for dtype in (np.float64, np.uint16):
        given = csr_array((data.astype(dtype), columns.copy(), starts), shape=(2, 3))
        corpus = Corpus.from_matrix(given)
        tfidf(corpus)
        assert given.data.tolist() == data.tolist()
        assert given.indices.tolist() == columns.tolist(), "the columns must not be sorted in place"
        assert corpus.matrix is not None
        assert corpus.matrix.indices.tolist() == [1, 2, 0]
