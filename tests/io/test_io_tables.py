"""Tables as people write them: indices, headers, gaps, and numbers that would not stay the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from boostkmeans import DataFormatError
from boostkmeans.io import Vectors, open_vectors

pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).random((40, 3))
FRAME = pd.DataFrame(X, columns=list("abc"))


def opened(folder: Path, text: str | bytes, **options: Any) -> Vectors:
    path = folder / "a.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return open_vectors(path, **options)


def refusal(folder: Path, text: str | bytes, **options: Any) -> str:
    with pytest.raises(DataFormatError, match=r"a\.csv") as raised:
        opened(folder, text, **options).load()
    return str(raised.value)


# The index of pandas


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_an_index_is_no_feature(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    some = FRAME[FRAME.a > 0.5]
    named = FRAME.set_index(pd.Index([f"r{i}" for i in range(40)], name="id"))
    counted = FRAME.set_index(pd.MultiIndex.from_product([range(4), range(10)]))
    for frame in (FRAME, some, named, counted):
        table = pa.Table.from_pandas(frame)
        pq.write_table(table, path) if ending == "parquet" else feather.write_feather(table, path)
        with open_vectors(path) as vectors:
            assert np.array_equal(vectors.load(), frame.to_numpy())
            assert vectors.feature_names == ["a", "b", "c"]
    with open_vectors(path, key=["__index_level_1__"]) as vectors:
        assert vectors.load()[:11, 0].tolist() == [*range(10), 0]


@pytest.mark.parametrize(
    "metadata",
    [b"", b"{", b"[]", b'{"index_columns": 3}', b'{"index_columns": [["a"], null, "a", "b"]}'],
)
def test_notes_of_pandas_that_make_no_sense(tmp_path: Path, metadata: bytes) -> None:
    table = pa.table({"a": [1.0], "b": [2.0]}).replace_schema_metadata({b"pandas": metadata})
    pq.write_table(table, tmp_path / "a.parquet")
    assert open_vectors(tmp_path / "a.parquet").load().tolist() == [[1, 2]]


def test_an_index_in_a_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.io._readers.separated.PIECE_BYTES", 100)
    for frame in (FRAME, pd.DataFrame(X), FRAME[FRAME.a > 0.5], FRAME[5:]):
        frame.to_csv(tmp_path / "a.csv")
        with open_vectors(tmp_path / "a.csv") as vectors:
            assert np.allclose(vectors.load(), frame.to_numpy(), rtol=1e-15)
            assert vectors.feature_names == [str(name) for name in frame.columns]
    for rows in ("1,2.5\n-3,4\n", "0.5,1\n1.5,2\n", "0,1\n0,1\n", "nan,1\n"):
        assert "the first column has no name" in refusal(tmp_path, ",b\n" + rows)
    assert opened(tmp_path, ",b\n1,2\n-3,4\n", key="b").load().tolist() == [[2], [4]]


# Headers


def test_names_that_are_numbers(tmp_path: Path) -> None:
    pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=False)
    with open_vectors(tmp_path / "a.csv") as vectors:
        assert vectors.shape == X.shape
        assert vectors.feature_names == ["0", "1", "2"]
    assert "may be names of the columns, or a row" in refusal(tmp_path, "0,1\n2,3\n")
    assert opened(tmp_path, "0,1\n2,3\n", header=True).load().tolist() == [[2, 3]]
    assert opened(tmp_path, "0,1\n2,3\n", header=False).load().tolist() == [[0, 1], [2, 3]]
    assert opened(tmp_path, "0\n1\n").load().tolist() == [[0], [1]]
    years = opened(tmp_path, "2019,2020\n1,2\n", header=True)
    assert (years.load().tolist(), years.feature_names) == ([[1, 2]], ["2019", "2020"])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1,,3\n4,5,6\n", "line 1, column 2: an empty cell"),
        ("1,NA,3\n4,5,6\n", "line 1, column 2: 'NA'"),
        ("id,2019\n1,2\n", "line 1, column 1: 'id'"),
        ("NA,\n1,2\n", "line 1, column 1: 'NA'"),
    ],
)
def test_a_first_line_that_may_be_either(tmp_path: Path, text: str, what: str) -> None:
    message = refusal(tmp_path, text)
    assert what in message
    assert "header=True or header=False" in message
    with pytest.raises(DataFormatError, match=r"header=True"):
        opened(tmp_path, text)  # at once
    assert len(opened(tmp_path, text, header=True)) == text.count("\n") - 1
    assert "line 1, column" in refusal(tmp_path, text, header=False)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("sep=;\n1;2\n3;4\n", None),
        ("sep=;\na;b\n1;2\n3;4\n", ["a", "b"]),
        ("# made by x\n#\n1,2\n3,4\n", None),
        ("# a b\n1 2\n3 4\n", None),
        ("a b\n1 2\n3 4\n", ["a", "b"]),
        ("# x\na,b\n1,2\n3,4\n", ["a", "b"]),
    ],
)
def test_what_stands_above_tables(tmp_path: Path, text: str, names: list[str] | None) -> None:
    with opened(tmp_path, text) as vectors:
        assert vectors.load().tolist() == [[1, 2], [3, 4]]
        assert vectors.feature_names == names


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1,5;2,5\n3,5;4,5\n", "line 1: numbers with decimal commas"),
        ("a;b\n1,5;2,5\n", "line 2, column 1 ('a'): '1,5' is not a number: decimal commas"),
        ("a,b\n1,NA\n", "line 2, column 2 ('b'): 'NA' is not a number. Leave such rows out"),
        ("# x\n\na,b\n1,\n", "line 4, column 2 ('b'): an empty cell"),
        (b"caf\xe9,b\n1,2\n", "not utf-8: byte 0xe9"),
        ("# nothing\n", "empty"),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str | bytes, what: str) -> None:
    assert what in refusal(tmp_path, text)


def test_names_that_are_repeated(tmp_path: Path) -> None:
    assert "2 columns are called 'a'" in refusal(tmp_path, "a,b,a\n1,2,3\n", key=["b", "a"])
    assert opened(tmp_path, "a,b,a\n1,2,3\n", key="b").load().tolist() == [[2]]
    table = pa.table([pa.array([1.0]), pa.array([2.0]), pa.array([3.0])], names=["a", "b", "a"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataFormatError, match="2 columns are called 'a'"):
        open_vectors(tmp_path / "a.parquet")


def test_header_is_for_texts(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(ValueError, match="header is for tables as text"):
        open_vectors(tmp_path / "a.npy", header=True)


def test_endings_of_texts(tmp_path: Path) -> None:
    for name in ("a.txt", "a.dat.gz", "a.csv.part1"):
        np.savetxt(tmp_path / "plain", X)
        (tmp_path / name).write_bytes((tmp_path / "plain").read_bytes())
        assert open_vectors(tmp_path / name).shape == X.shape


# Numbers


def test_integers_that_would_be_rounded(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    large = 2**53 + 1
    for other in (pa.array([0, 0], "uint64"), pa.array([0.5, 0], "float32")):
        for value in (large, -large):
            table = pa.table({"a": pa.array([1, value], "int64"), "b": other})
            pq.write_table(table, path)
            for use in (Vectors.load, lambda vectors: vectors.read(0, 2)):
                with (
                    open_vectors(path) as vectors,
                    pytest.raises(DataFormatError, match=r"row 1, column 'a': -?9007199254740993 is"),
                ):
                    use(vectors)
            assert open_vectors(path, key="a").load()[1, 0] == value
    pq.write_table(pa.table({"a": pa.array([1, 2**53], "int64"), "b": [0.5, 1.5]}), path)
    assert open_vectors(path).load().tolist() == [[1, 0.5], [2**53, 1.5]]


def test_views_of_lists(tmp_path: Path) -> None:
    for kind in (pa.list_view(pa.float64()), pa.large_list_view(pa.float64())):
        table = pa.table({"v": pa.array(X.tolist(), kind)})
        for given in (table, table.slice(7, 20)):
            with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
                writer.write_table(given, max_chunksize=9)
            first = X[7:27] if given.num_rows == 20 else X
            assert np.array_equal(open_vectors(tmp_path / "a.arrow").load(), first)
        table = pa.table({"v": pa.array([[1.0], None], kind)})
        with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(DataFormatError, match="row 1, column 'v': a null"):
            open_vectors(tmp_path / "a.arrow").load()


# No rows


def test_no_rows(tmp_path: Path) -> None:
    assert opened(tmp_path, "a,b\n").shape == (0, 2)
    for width, column in ((1, pa.array([], "float32")), (3, pa.array([], pa.list_(pa.int8(), 3)))):
        table = pa.table({"a": column})
        pq.write_table(table, tmp_path / "a.parquet")
        feather.write_feather(table, tmp_path / "a.feather")
        for name in ("a.parquet", "a.feather"):
            with open_vectors(tmp_path / name) as vectors:
                assert vectors.shape == vectors.load().shape == (0, width)
                assert vectors.read(0, 0).shape == vectors.shape
    table = pa.table({"v": pa.array([], pa.list_(pa.int8()))})
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    for name in ("a.parquet", "a.feather"):
        with pytest.raises(DataFormatError, match="no rows"):
            open_vectors(tmp_path / name).load()
