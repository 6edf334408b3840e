"""Parquet and Arrow tables: columns, lists, nulls, indices of pandas, and damaged footers."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from vector_samples import X, failure

from boostkmeans import DataFormatError
from boostkmeans.io import Vectors, open_vectors
from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._readers.arrow.parquet_footer import row_groups


def write_ipc(path: Path, table: pa.Table, *, chunk: int | None = None) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=chunk)


def write_table(path: Path, table: pa.Table) -> None:
    pq.write_table(table, path) if path.suffix == ".parquet" else write_ipc(path, table)


def test_types_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.array([1, 2], "int8"), "b": pa.array([0.5, 1], "float32")}), path)
    with open_vectors(path) as vectors:
        assert vectors.dtype == np.float32
        assert vectors.load().tolist() == [[1, 0.5], [2, 1]]
    pq.write_table(pa.table({"v": pa.array([[True, False]] * 3)}), path)
    assert open_vectors(path).load().tolist() == [[True, False]] * 3
    pq.write_table(pa.table({"v": pa.array([[1, 2]] * 3, pa.large_list(pa.uint8()))}), path)
    assert open_vectors(path).dtype == np.uint8
    tensors = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float32(), [2, 3]), pa.FixedSizeListArray.from_arrays(X.ravel(), 6)
    )
    pq.write_table(pa.table({"v": tensors}), path)
    assert np.array_equal(open_vectors(path).load(), X)


@pytest.mark.skipif(not hasattr(pa, "list_view"), reason="pyarrow before version 16 has no list views")
def test_list_views(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    for kind in (pa.list_view(pa.float64()), pa.large_list_view(pa.float64())):
        table = pa.table({"v": pa.array(X.tolist(), kind)})
        for given, expected in ((table, X), (table.slice(7, 20), X[7:27])):
            write_ipc(path, given, chunk=9)
            assert np.array_equal(open_vectors(path).load(), expected)
        write_ipc(path, pa.table({"v": pa.array([[1.0], None], kind)}))
        assert failure(path).startswith("row 1, column 'v': Expected a number. Got a null.")


def test_tables_without_rows(tmp_path: Path) -> None:
    for width, column in ((1, pa.array([], "float32")), (3, pa.array([], pa.list_(pa.int8(), 3)))):
        table = pa.table({"a": column})
        for name in ("a.parquet", "a.feather"):
            write_table(tmp_path / name, table)
            with open_vectors(tmp_path / name) as vectors:
                assert vectors.shape == vectors.load().shape == (0, width)
                assert vectors.read(0, 0).shape == vectors.shape
    table = pa.table({"v": pa.array([], pa.list_(pa.int8()))})
    for name in ("a.parquet", "a.feather"):
        write_table(tmp_path / name, table)
        assert failure(tmp_path / name).startswith("The file has no rows")


# The index of pandas


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_index_of_pandas_is_not_read(tmp_path: Path, suffix: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X[:40, :3], columns=list("abc"))
    some = frame[frame.a > 50]
    named = frame.set_index(pd.Index([f"r{i}" for i in range(40)], name="id"))
    counted = frame.set_index(pd.MultiIndex.from_product([range(4), range(10)]))
    path = tmp_path / f"a.{suffix}"
    for one in (frame, some, named, counted):
        table = pa.Table.from_pandas(one)
        pq.write_table(table, path) if suffix == "parquet" else feather.write_feather(table, path)
        with open_vectors(path) as vectors:
            assert np.array_equal(vectors.load(), one.to_numpy())
            assert vectors.feature_names == ["a", "b", "c"]
    with open_vectors(path, key=["__index_level_1__"]) as vectors:
        assert vectors.load()[:11, 0].tolist() == [*range(10), 0]


@pytest.mark.parametrize(
    "metadata",
    [b"", b"{", b"[]", b'{"index_columns": 3}', b'{"index_columns": [["a"], null, "a", "b"]}'],
)
def test_invalid_metadata_of_pandas_is_ignored(tmp_path: Path, metadata: bytes) -> None:
    table = pa.table({"a": [1.0], "b": [2.0]}).replace_schema_metadata({b"pandas": metadata})
    pq.write_table(table, tmp_path / "a.parquet")
    assert open_vectors(tmp_path / "a.parquet").load().tolist() == [[1, 2]]


# Errors

NULL = "Expected a number. Got a null."


@pytest.mark.parametrize(
    ("table", "in_arrow", "in_parquet"),
    [
        ({"v": [[1.0, 2.0], None]}, f"row 1, column 'v': {NULL}", None),
        ({"v": [[1.0, 2.0], [3.0, None]]}, f"row 1, column 'v': {NULL}", None),
        ({"v": [[1.0, 2.0], [3.0]]}, "row 1, column 'v': The list has 1 values", None),
        (
            {"v": [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]]},
            "row 1, column 'v': The list has 1 values, but the others have 2.",
            None,
        ),
        ({"v": [[], []]}, "column 'v': Expected numbers. Got values of type list<", None),
        (
            {"v": pa.array([[], []], pa.list_(pa.float64()))},
            "The shape (0, 0) has no columns",
            "row 0, column 'v': The list has 0 values",
        ),
        ({"a": [1, 2, None]}, f"row 2, column 'a': {NULL}", None),
        ({"a": [1], "name": ["x"]}, "column 'name': Expected numbers. Got values of type string", None),
        ({"v": [[1.0]], "w": [[1.0]]}, "Several columns hold lists of numbers: 'v', 'w'.", None),
        ({"v": [["x"]]}, "column 'v': Expected numbers. Got values of type list<", None),
        ({"a": []}, "column 'a': Expected numbers. Got values of type null", None),
    ],
)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_rejects_invalid_columns(
    tmp_path: Path, table: dict[str, Any], in_arrow: str, in_parquet: str | None, suffix: str
) -> None:
    """The number of values in a Parquet file can show a problem before the rows are read."""
    path = tmp_path / f"a.{suffix}"
    write_table(path, pa.table(table))
    expected = in_parquet if suffix == "parquet" and in_parquet is not None else in_arrow
    assert failure(path).startswith(expected)


def test_nulls_are_reported_with_row_of_file(tmp_path: Path) -> None:
    column = pa.array([float(i) if i != 77 else None for i in range(100)])
    pq.write_table(pa.table({"a": column, "b": column}), tmp_path / "a.parquet", row_group_size=10)
    assert failure(tmp_path / "a.parquet").startswith("row 77, column 'a'")
    lists = pa.FixedSizeListArray.from_arrays(column, 2)
    pq.write_table(pa.table({"v": lists}), tmp_path / "b.parquet", row_group_size=10)
    assert failure(tmp_path / "b.parquet").startswith("row 38, column 'v'")


def test_rejects_missing_and_repeated_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table([pa.array([1.0]), pa.array([2.0]), pa.array([3.0])], names=["a", "b", "a"])
    pq.write_table(table, path)
    assert failure(path).startswith("2 columns have the name 'a'")
    assert failure(path, key="z").startswith("The file has no column 'z'. Available: 'a', 'b'.")
    pq.write_table(pa.table({"v": [[1.0]], "a": [1.0]}), path)
    assert failure(path, key=["v", "a"]).startswith("Some of the columns 'v', 'a' hold lists.")


def test_rejects_integers_that_would_be_rounded(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    large = 2**53 + 1
    for other in (pa.array([0, 0], "uint64"), pa.array([0.5, 0], "float32")):
        for value in (large, -large):
            table = pa.table({"a": pa.array([1, value], "int64"), "b": other})
            pq.write_table(table, path)
            for use in (Vectors.load, lambda vectors: vectors.read(0, 2)):
                match = rf"row 1, column 'a': The integer {value} is beyond"
                with open_vectors(path) as vectors, pytest.raises(DataFormatError, match=match):
                    use(vectors)
            assert open_vectors(path, key="a").load()[1, 0] == value
    pq.write_table(pa.table({"a": pa.array([1, 2**53], "int64"), "b": [0.5, 1.5]}), path)
    assert open_vectors(path).load().tolist() == [[1, 0.5], [2**53, 1.5]]


def test_stream_must_have_end_mark(tmp_path: Path) -> None:
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
            assert failure(path).startswith(f"byte {end}: The stream has no end mark")


def test_footer_parser_agrees_with_pyarrow(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("bad", [[0.0] * 5, [], None])
@pytest.mark.parametrize("row", [0, 717])
def test_wrong_rows_of_a_parquet_file_are_named(bad: Any, row: int, tmp_path: Path) -> None:
    """The footer shows only that a group has another number of values."""
    rows: list[Any] = [[1.0] * 8] * 1000
    rows[row] = bad
    problem = "Got a null" if bad is None else f"The list has {len(bad)} values, but the others have 8"
    if row == 0 and bad is not None:
        row, problem = 1, f"The list has 8 values, but the others have {len(bad)}"
    for group_size in (1000, 300):
        pq.write_table(pa.table({"e": rows}), tmp_path / "x.parquet", row_group_size=group_size)
        with pytest.raises(DataFormatError, match=f"x.parquet: row {row}, column 'e': .*{problem}"):
            open_vectors(tmp_path / "x.parquet")


def test_null_lists_of_fixed_size_are_named(tmp_path: Path) -> None:
    rows = pa.array([[1.0, 2.0], None, [3.0, 4.0]], type=pa.list_(pa.float32(), 2))
    pq.write_table(pa.table({"e": rows}), tmp_path / "x.parquet")
    with pytest.raises(DataFormatError, match=r"row 1, column 'e': .*Got a null"):
        open_vectors(tmp_path / "x.parquet")
