"""CSV and TSV files: separators, headers, indices, and cells that are not numbers."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vector_samples import failure, written

from boostkmeans import DataFormatError
from boostkmeans.io import Vectors, open_vectors
from boostkmeans.io._readers import separated

pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).random((40, 3))
FRAME = pd.DataFrame(X, columns=list("abc"))


def opened(folder: Path, text: str, **options: Any) -> Vectors:
    return open_vectors(written(folder / "a.csv", text), **options)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2.5\n-3,4e1\n", None),
        ("a,b\n1,2.5\n-3,4e1\n", ["a", "b"]),
        ("a;b\n1;2.5\n-3;4e1\n", ["a", "b"]),
        ("a\tb\n1\t2.5\n-3\t4e1\n", ["a", "b"]),
        ("1 2.5\n-3  4e1\n", None),
        ('"a","b"\n"1","2.5"\n"-3","4e1"\n', ["a", "b"]),
        ("\ufeffa,b\r\n1,2.5\r\n\r\n-3,4e1", ["a", "b"]),
        (" a , b \n 1 , +2.5 \n -3 , 4e1 \n\n", ["a", "b"]),
        ("sep=;\n1;2.5\n-3;4e1\n", None),
        ("sep=;\na;b\n1;2.5\n-3;4e1\n", ["a", "b"]),
        ("# made by x\n#\n1,2.5\n-3,4e1\n", None),
        ("# a b\n1 2.5\n-3 4e1\n", None),
        ("a b\n1 2.5\n-3 4e1\n", ["a", "b"]),
        ("# x\na,b\n1,2.5\n-3,4e1\n", ["a", "b"]),
    ],
)
def test_variants_of_csv(tmp_path: Path, text: str, names: list[str] | None) -> None:
    with opened(tmp_path, text) as vectors:
        assert vectors.load().tolist() == [[1, 2.5], [-3, 40]]
        assert vectors.feature_names == names
        assert vectors.dtype == np.float64


def test_text_columns_are_skipped(tmp_path: Path) -> None:
    text = 'name,x,y\n"a, ""b""",1,2\n"two\n\nlines",3,nan\n'
    with opened(tmp_path, text, key=["x", "y"]) as vectors:
        assert np.array_equal(vectors.load(), np.array([[1, 2], [3, np.nan]]), equal_nan=True)


def test_table_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.io._readers.separated.PIECE_BYTES", 100)
    numbers = np.random.default_rng(0).normal(size=(1000, 7))
    np.savetxt(tmp_path / "a.csv", numbers, "%.17g", ",")
    with open_vectors(tmp_path / "a.csv") as vectors:
        assert np.array_equal(vectors.load(), numbers)
    path = written(tmp_path / "b.csv", "1,2\n" * 500 + "1,x\n" + "1,2\n" * 500)
    assert failure(path).startswith("line 501, column 2 ('2'): Expected a number. Got 'x'.")


@pytest.mark.parametrize("name", ["a.txt", "a.dat.gz", "a.csv.part1"])
def test_suffixes_of_tables(tmp_path: Path, name: str) -> None:
    np.savetxt(tmp_path / "plain", X)
    (tmp_path / name).write_bytes((tmp_path / "plain").read_bytes())
    assert open_vectors(tmp_path / name).shape == X.shape


def test_header_without_rows(tmp_path: Path) -> None:
    assert opened(tmp_path, "a,b\n").shape == (0, 2)


# The index of pandas


def test_index_of_pandas_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.io._readers.separated.PIECE_BYTES", 100)
    for frame in (FRAME, pd.DataFrame(X), FRAME[FRAME.a > 0.5], FRAME[5:]):
        frame.to_csv(tmp_path / "a.csv")
        with open_vectors(tmp_path / "a.csv") as vectors:
            assert np.allclose(vectors.load(), frame.to_numpy(), rtol=1e-15)
            assert vectors.feature_names == [str(name) for name in frame.columns]


@pytest.mark.parametrize("rows", ["1,2.5\n-3,4\n", "0.5,1\n1.5,2\n", "0,1\n0,1\n", "nan,1\n"])
def test_rejects_unnamed_column_that_is_not_an_index(tmp_path: Path, rows: str) -> None:
    path = written(tmp_path / "a.csv", ",b\n" + rows)
    message = failure(path)
    assert "The first column has no name and does not number the rows" in message
    assert "choose the columns to read with key" in message
    assert open_vectors(path, key="b").shape == (rows.count("\n"), 1)


# Headers


def test_names_that_are_numbers(tmp_path: Path) -> None:
    pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=False)
    with open_vectors(tmp_path / "a.csv") as vectors:
        assert vectors.shape == X.shape
        assert vectors.feature_names == ["0", "1", "2"]
    assert opened(tmp_path, "0,1\n2,3\n", header=True).load().tolist() == [[2, 3]]
    assert opened(tmp_path, "0,1\n2,3\n", header=False).load().tolist() == [[0, 1], [2, 3]]
    assert opened(tmp_path, "0\n1\n").load().tolist() == [[0], [1]]
    years = opened(tmp_path, "2019,2020\n1,2\n", header=True)
    assert (years.load().tolist(), years.feature_names) == ([[1, 2]], ["2019", "2020"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "1,,3\n4,5,6\n",
            "line 1, column 2: Expected a number as in other columns",
        ),
        (
            "1,NA,3\n4,5,6\n",
            "line 1, column 2: Expected a number as in other columns",
        ),
        ("id,2019\n1,2\n", "line 1, column 1: Expected a number as in other columns of this line."),
        ("NA,\n1,2\n", "line 1, column 1: Expected a number as in other columns of this line."),
        ("0,1\n2,3\n", "line 1: The numbers 0, 1, ... may be the names of the columns, or a row."),
    ],
)
def test_ambiguous_first_line(tmp_path: Path, text: str, expected: str) -> None:
    path = written(tmp_path / "a.csv", text)
    with pytest.raises(DataFormatError) as error:
        open_vectors(path)  # at once, before rows are read
    assert str(error.value).startswith(f"{path}: {expected}")
    assert str(error.value).endswith("holds names: header=True or header=False.")
    assert error.value.render("--{}".format).endswith("holds names: --header.")
    assert len(open_vectors(path, header=True)) == text.count("\n") - 1


@pytest.mark.parametrize("text", ["1,,3\n4,5,6\n", "1,NA,3\n4,5,6\n", "id,2019\n1,2\n", "NA,\n1,2\n"])
def test_rejects_row_that_is_declared_not_to_be_a_header(tmp_path: Path, text: str) -> None:
    assert failure(written(tmp_path / "a.csv", text), header=False).startswith("line 1, column")


def test_rejects_header_for_other_formats(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(ValueError, match="header is for tables as text"):
        open_vectors(tmp_path / "a.npy", header=True)


# Errors


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n3,x\n", "line 3, column 2 ('b'): Expected a number. Got 'x'. Name the columns"),
        ("a,b\n1,2\n\n\n3,\n", "line 5, column 2 ('b'): Expected a number. Got an empty cell. Remove"),
        ("# x\n\na,b\n1,\n", "line 4, column 2 ('b'): Expected a number. Got an empty cell."),
        ("a,b\n1,NA\n", "line 2, column 2 ('b'): Expected a number. Got 'NA'. Remove such rows"),
        ("1,2\n3,4,5\n", "line 2: Expected 2 columns, as in the first line. Got 3."),
        ("1,2\n3\n", "line 2: Expected 2 columns, as in the first line. Got 1."),
        ("name,b\nrose,2\n", "line 2, column 1 ('name'): Expected a number. Got 'rose'."),
        ("1,1_0\n1,2\n1,3_0\n", "line 1, column 2: Expected a number as in other columns"),
        ("1;2\n3,1;4\n", "line 2, column 1 ('1'): Expected a number. Got '3,1'. Decimal commas"),
        ("1,5;2,5\n3,5;4,5\n", "line 1: The numbers have decimal commas"),
        ("a;b\n1,5;2,5\n", "line 2, column 1 ('a'): Expected a number. Got '1,5'. Decimal commas"),
        (
            b"caf\xe9,b\n1,2\n",
            "line 1: The names of the columns are not valid text (not utf-8",
        ),
        ("", "The file is empty."),
        ("\n \n", "The file is empty."),
        ("# nothing\n", "The file is empty."),
        (b"1,2\n\x00,4\n", "The file is binary, not text: it has a NUL at byte 4."),
        (b"1,2\n\xff,4\n", "line 2, column 1"),
        ("1,2\n3,4\n".encode("utf-16"), "Expected utf-8, but the first bytes are the mark of utf-16."),
    ],
)
def test_rejects_invalid_tables(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert failure(written(tmp_path / "a.csv", content)).startswith(expected)


def test_rejects_endless_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv.gz", gzip.compress(b"1," * (1 << 25)))
    assert failure(path).startswith("line 1: The line is longer than")


def test_rejects_missing_and_repeated_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "1,2\n3,4\n")
    message = failure(path, key="a")
    assert message.startswith("line 1: The file has no column 'a'. Available: '1', '2'.")
    assert message.endswith("The table has no header, so columns are named by numbers from 1.")
    path = written(tmp_path / "b.csv", "name,b\nrose,2\nviolet\n")
    assert failure(path, key="b").startswith("line 3: Expected 2 columns")
    path = written(tmp_path / "c.csv", "a,b,a\n1,2,3\n")
    assert "2 columns have the name 'a'" in failure(path, key=["b", "a"])
    assert open_vectors(path, key="b").load().tolist() == [[2]]


def test_comments_before_a_table_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separated, "MAX_COMMENT_LINES", 100)
    path = tmp_path / "x.csv"
    path.write_text("#\n" * 100 + "1,2\n")
    assert open_vectors(path).shape == (1, 2)
    path.write_text("#\n" * 101 + "1,2\n")
    with pytest.raises(DataFormatError, match="line 101: The file has more than 100 lines of comments"):
        open_vectors(path)
