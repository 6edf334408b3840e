"""`id_column`: ids of the rows of tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from boostkmeans import DataFormatError
from boostkmeans.distributed import open_shards
from boostkmeans.io import open_vectors

X = np.random.default_rng(0).random((40, 3)).astype(np.float32)
TEXTS = np.array([f"doc {i}, é" for i in range(40)], dtype=object)
FORMATS = ("parquet", "arrow", "stream.arrow", "csv", "tsv")


def write_table(path: Path, ids: Any, rows: NDArray[Any] = X, *, lists: bool = False) -> None:
    """Write a table whose column "key" holds the ids."""
    columns: dict[str, Any] = dict(zip("abc", rows.T, strict=True))
    if lists:
        columns = {"v": list(rows)}
    table = pa.table({"a": columns.pop("a", None), "key": pa.array(ids), **columns} if not lists else
                     {"key": pa.array(ids), **columns})  # fmt: skip
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=7)
    elif path.suffix == ".arrow":
        opener = pa.ipc.new_stream if "stream" in path.name else pa.ipc.new_file
        with opener(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=9)
    else:
        table.to_pandas().to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["texts", "integers"])
def test_ids(tmp_path: Path, name: str, kind: str) -> None:
    ids: Any = TEXTS if kind == "texts" else np.arange(40, dtype=np.int64) * 10**15
    path = tmp_path / f"t.{name}"
    write_table(path, ids)
    is_text = path.suffix in (".csv", ".tsv")
    expected = [str(one) for one in ids] if is_text else ids.tolist()
    with open_vectors(path, id_column="key") as vectors:
        assert vectors.feature_names == ["a", "b", "c"]
        assert np.array_equal(vectors.load().astype(np.float32), X)
        assert vectors.ids.tolist() == expected
        assert vectors.ids.dtype == (object if is_text or kind == "texts" else np.int64)
        assert vectors.read_ids(5, 17).tolist() == expected[5:17]
        assert vectors.read_ids(3, 3).dtype == vectors.ids.dtype
        assert vectors.between(4, 9).ids.tolist() == expected[4:9]
        with pytest.raises(IndexError):
            vectors.read_ids(0, 41)
    with open_vectors(path, id_column="key", key=["c", "b"]) as vectors:
        assert vectors.shape == (40, 2)
        assert vectors.read_ids(39, 40).tolist() == expected[39:]


def test_ids_beside_lists_and_of_other_types(tmp_path: Path) -> None:
    for ids in (
        pa.array(TEXTS.tolist(), pa.large_string()),
        pa.array(TEXTS.tolist()).dictionary_encode(),
        pa.array(range(40), pa.uint8()),
    ):
        write_table(tmp_path / "t.parquet", ids, lists=True)
        with open_vectors(tmp_path / "t.parquet", id_column="key") as vectors:
            assert np.array_equal(vectors[:], X)
            assert vectors.ids.tolist() == ids.to_pylist()
    for ids in (np.linspace(0, 1, 40), [[1, 2]] * 40):
        write_table(tmp_path / "t.parquet", ids, lists=True)
        with pytest.raises(
            DataFormatError, match=r"t\.parquet: column 'key': Ids must be strings or int"
        ):
            open_vectors(tmp_path / "t.parquet", key="v", id_column="key")


@pytest.mark.parametrize("name", FORMATS)
def test_missing_column_lists_the_others(tmp_path: Path, name: str) -> None:
    write_table(tmp_path / f"t.{name}", TEXTS)
    with pytest.raises(DataFormatError, match=r"no column 'uuid'\. Available: 'a', 'key', 'b', 'c'"):
        open_vectors(tmp_path / f"t.{name}", id_column="uuid")


@pytest.mark.parametrize("name", FORMATS)
def test_missing_ids(tmp_path: Path, name: str) -> None:
    write_table(tmp_path / f"t.{name}", [*TEXTS[:30], None, *TEXTS[31:]])
    with (
        open_vectors(tmp_path / f"t.{name}", id_column="key") as vectors,
        pytest.raises(DataFormatError, match=rf"t\.{name}: row 30, column 'key': Expected an id"),
    ):
        vectors.ids  # noqa: B018


def test_ids_of_text_tables_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,2019,2020\n007,1.5,2\n"a ""b"", c",3,4\n1e3,5,6\n')
    with open_vectors(path, id_column="id") as vectors:  # it tells that the first line is a header
        assert vectors.ids.tolist() == ["007", 'a "b", c', "1e3"]
        assert vectors.load().tolist() == [[1.5, 2], [3, 4], [5, 6]]
    path.write_text("x7,1.5,2\nx8,3,4\n")
    with open_vectors(path, id_column="1", header=False) as vectors:
        assert vectors.ids.tolist() == ["x7", "x8"]
    path.write_bytes(b"id,a\n\xff\xfe,1\n")
    with pytest.raises(
        DataFormatError, match=r"row 0, column 'id': Expected an id\. Got text that is not"
    ):
        open_vectors(path, id_column="id").ids  # noqa: B018
    path.write_text("id\n1\n")
    with pytest.raises(DataFormatError, match="no columns besides the ids"):
        open_vectors(path, id_column="id")


def test_wrong_usage(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    write_table(tmp_path / "t.parquet", TEXTS)
    with pytest.raises(ValueError, match="id_column is for tables"):
        open_vectors(tmp_path / "a.npy", id_column="key")
    with pytest.raises(ValueError, match="'a' cannot be both id_column and key"):
        open_vectors(tmp_path / "t.parquet", id_column="a", key=["a", "b"])
    with pytest.raises(ValueError, match="id_column must be the name of a column"):
        open_vectors(tmp_path / "t.parquet", id_column=3)  # type: ignore[arg-type]
    with (
        open_vectors(tmp_path / "t.parquet", key="a") as vectors,
        pytest.raises(ValueError, match=r"t\.parquet was opened without id_column"),
    ):
        vectors.ids  # noqa: B018


@pytest.mark.parametrize("name", ["parquet", "csv", "arrow"])
def test_ids_of_several_files(tmp_path: Path, name: str) -> None:
    for i in range(4):
        write_table(tmp_path / f"{i}.{name}", TEXTS[10 * i : 10 * i + 10], X[10 * i : 10 * i + 10])
    with open_vectors(tmp_path, id_column="key") as vectors:
        assert vectors.ids.tolist() == TEXTS.tolist()
        assert vectors.read_ids(5, 25).tolist() == TEXTS[5:25].tolist()
        assert np.array_equal(vectors.load().astype(np.float32), X)
    shards = open_shards(tmp_path, id_column="key", max_shard_bytes=60 if name != "csv" else 120)
    found = [part.read_ids() for part in shards.parts]
    assert shards.id_column == "key"
    assert [one for ids in found if ids is not None for one in ids.tolist()] == TEXTS.tolist()


def test_types_of_ids_of_several_files(tmp_path: Path) -> None:
    first, second = tmp_path / "0.parquet", tmp_path / "1.parquet"
    write_table(first, np.arange(40, dtype=np.int32))
    write_table(second, np.arange(40, dtype=np.int64) + 2**40)
    with open_vectors(tmp_path, id_column="key") as vectors:
        assert vectors.ids.dtype == vectors.read_ids(0, 5).dtype == np.int64
        assert vectors.ids[[0, 40]].tolist() == [0, 2**40]
    write_table(second, TEXTS)
    for open_both in (open_vectors, open_shards):
        with pytest.raises(DataFormatError, match=r"1\.parquet: The ids are strings, but .* are int32"):
            open_both(tmp_path, id_column="key")
    write_table(first, np.arange(40, dtype=np.int64))
    write_table(second, np.arange(40, dtype=np.uint64))
    with pytest.raises(DataFormatError, match=r"1\.parquet: The ids are uint64"):
        open_vectors(tmp_path, id_column="key")
