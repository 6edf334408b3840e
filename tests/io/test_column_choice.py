"""Columns of tables by names, wildcards and ranges, and columns that are left out."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from boostkmeans import DataFormatError
from boostkmeans.io import inspect_files, open_vectors
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.table_columns import TableColumns, expand_names

NAMES = ["id", "x0", "x1", "x2", "y", "a:b"]
ROWS = np.arange(24.0).reshape(4, 6)
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")


def write(path: Path, names: list[str] = NAMES) -> Path:
    """Write the same table in the format of the suffix."""
    kind = path.suffix[1:]
    if kind in ("csv", "tsv"):
        separator = "," if kind == "csv" else "\t"
        np.savetxt(path, ROWS, "%g", separator, header=separator.join(names), comments="")
    elif kind == "jsonl":
        lines = (json.dumps(dict(zip(names, row, strict=True))) for row in ROWS.tolist())
        path.write_text("\n".join(lines))
    else:
        table = pa.table(dict(zip(names, ROWS.T, strict=True)))
        (pq.write_table if kind == "parquet" else feather.write_feather)(table, path)
    return path


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"key": "x*"}, ["x0", "x1", "x2"]),
        ({"key": "x0:x2"}, ["x0", "x1", "x2"]),
        ({"key": ":x1"}, ["id", "x0", "x1"]),
        ({"key": "y:"}, ["y", "a:b"]),
        ({"key": ["y", "x?"]}, ["y", "x0", "x1", "x2"]),
        ({"key": ["x1", "x*"]}, ["x1", "x0", "x2"]),
        ({"key": "a:b"}, ["a:b"]),
        ({"drop": "id"}, ["x0", "x1", "x2", "y", "a:b"]),
        ({"key": "x*", "drop": "x1"}, ["x0", "x2"]),
        ({"drop": ["id", "y:a:b"]}, ["x0", "x1", "x2"]),
        ({"drop": "[xy]*", "key": "*"}, ["id", "a:b"]),
    ],
)
def test_selection(tmp_path: Path, kind: str, options: dict[str, Any], expected: list[str]) -> None:
    path = write(tmp_path / f"t.{kind}")
    with open_vectors(path, **options) as vectors:
        np.testing.assert_array_equal(vectors.load(), ROWS[:, [NAMES.index(one) for one in expected]])
        assert vectors.feature_names == expected


@pytest.mark.parametrize("kind", FORMATS)
def test_wildcards_do_not_match_the_ids(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"t.{kind}"
    if kind in ("csv", "tsv", "jsonl"):
        write(path, ["x9", *NAMES[1:]])
        if kind == "jsonl":  # ids are integers, not floats
            path.write_text(re.sub(r'("x9": \d+)\.0', r"\1", path.read_text()))
    else:
        columns = dict(zip(NAMES[1:], ROWS.T[1:], strict=True))
        table = pa.table({"x9": pa.array(["a", "b", "c", "d"]), **columns})
        (pq.write_table if kind == "parquet" else feather.write_feather)(table, path)
    with open_vectors(path, key="x*", id_column="x9") as vectors:
        np.testing.assert_array_equal(vectors.load(), ROWS[:, 1:4])
        assert len(vectors.ids) == 4


def test_columns_without_a_header_have_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    np.savetxt(path, ROWS, "%g", ",")
    with open_vectors(path, key="2:4", drop="3", header=False) as vectors:
        np.testing.assert_array_equal(vectors.load(), ROWS[:, [1, 3]])


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": "z*"}, "'z\\*'. Available"),
        ({"key": "x2:x0"}, "'x2:x0'. Available"),
        ({"drop": "nothing"}, "'nothing'. Available"),
        ({"key": "x*", "drop": "x*"}, "drop leaves no (column|field) to read"),
    ],
)
def test_nothing_matches(tmp_path: Path, kind: str, options: dict[str, Any], message: str) -> None:
    path = write(tmp_path / f"t.{kind}")
    with pytest.raises(DataFormatError, match=message):
        open_vectors(path, **options).load()


def test_drop_is_for_tables(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    with pytest.raises(ValueError, match="drop is for tables"):
        open_vectors(tmp_path / "x.npy", drop="a")
    with pytest.raises(ValueError, match="drop must be a name"):
        open_vectors(write(tmp_path / "x.csv"), drop=[3])  # type: ignore[list-item]


def test_several_files_with_other_orders(tmp_path: Path) -> None:
    write(tmp_path / "0.csv")
    (tmp_path / "1.csv").write_text("x1,id,x0,x2,a:b,y\n31,0,30,32,0,0\n")
    with open_vectors(tmp_path / "*.csv", key="x*") as vectors:
        assert vectors.load()[-1].tolist() == [30, 31, 32]
    with open_vectors(tmp_path / "*.csv", drop=["id", "y", "a:b"]) as vectors:
        assert vectors.load()[-1].tolist() == [30, 31, 32]
    assert inspect_files(tmp_path / "*.csv", key="x0:x2").shape == (5, 3)


def test_a_table_with_repeated_names_can_drop_others(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x,x\n7,1,2\n8,3,4\n")
    with open_vectors(tmp_path / "t.csv", drop="id") as vectors:
        assert vectors.load().tolist() == [[1, 2], [3, 4]]


def test_names_that_contain_wildcards() -> None:
    where = Location("t.csv")
    assert expand_names(where, "column", ["x*"], ["x1", "x*"]) == ["x*"]
    assert expand_names(where, "column", ["a:b:c"], ["a:b", "q", "c"]) == ["a:b", "q", "c"]
    assert TableColumns(["*"], "a").chosen(where, "column", ["a", "b"]) == ["b"]
