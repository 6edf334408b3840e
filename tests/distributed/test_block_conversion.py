"""Conversion of single blocks: arrays, sparse matrices and tables."""

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from boostkmeans import DataFormatError
from boostkmeans._runtime.errors import InvalidValuesError
from boostkmeans.distributed._block_conversion import to_block, to_weights

VECTORS = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8"])
def test_arrays_are_not_copied(dtype: str) -> None:
    array = VECTORS.astype(dtype)
    array.setflags(write=False)
    block = to_block(array, "b")
    assert block.dtype == dtype
    assert np.shares_memory(block, array)


def test_booleans_are_bytes() -> None:
    assert to_block(np.eye(2, dtype=bool), "b").dtype == np.uint8


def test_arrays_of_arrays_are_stacked() -> None:
    rows = np.empty(3, dtype=object)
    rows[:] = list(VECTORS)
    assert np.array_equal(to_block(rows, "b"), VECTORS)
    assert np.array_equal(to_block(VECTORS.tolist(), "b"), VECTORS)


@pytest.mark.parametrize("matrix", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_blocks_are_csr(matrix: Any) -> None:
    block = to_block(matrix(VECTORS), "b")
    assert block.format == "csr"
    assert np.array_equal(block.toarray(), VECTORS)


FRAME = pd.DataFrame({"a": [1.0, 3, 5], "b": [2, 4, 6], "e": list(VECTORS)}, index=[7, 8, 9])


@pytest.mark.parametrize(
    "table",
    [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), pa.RecordBatch.from_pandas(FRAME)],
)
def test_tables_have_columns_of_lists_or_of_numbers(table: Any) -> None:
    assert np.array_equal(to_block(table, "b"), VECTORS), "the only column of lists"
    assert to_block(table, "b", "e").dtype == np.float32
    numbers = to_block(table, "b", ["b", "a"])
    assert numbers.dtype == np.float64
    assert np.array_equal(numbers, VECTORS[:, ::-1])


def test_chunked_tables_keep_their_order() -> None:
    table = pa.concat_tables([pa.Table.from_pandas(FRAME), pa.Table.from_pandas(FRAME[:1])])
    assert np.array_equal(to_block(table, "b"), VECTORS[[0, 1, 2, 0]])


def test_tables_without_rows_have_a_width_if_it_is_known() -> None:
    assert to_block(FRAME[["a", "b"]][:0], "b").shape == (0, 2)
    assert to_block(pa.Table.from_pandas(FRAME)[:0], "b", "e").shape == (0, 0)


@pytest.mark.parametrize(
    ("raw", "column", "problem"),
    [
        (np.zeros(3), None, "two dimensions. Got one of shape (3,)"),
        (np.zeros((2, 2, 2)), None, "Got one of shape (2, 2, 2)"),
        (np.array([["a", "b"]]), None, "Expected real numbers"),
        (np.zeros((2, 2), dtype=complex), None, "Expected real numbers. Got values of type complex128"),
        (np.array([[1], [1, 2]], dtype=object), None, "row 1: The row has 2 values, but row 0 has 1"),
        (np.array([1, 2], dtype=object), None, "two dimensions"),
        (np.zeros((2, 2)), "e", "A column was named"),
        (FRAME.assign(s="x")[["a", "s"]], None, "Expected numbers"),
        (FRAME, "missing", "missing"),
        (pd.DataFrame({"e": [[1.0], [1.0, 2.0]]}), "e", "row 1, column 'e'"),
        (pd.DataFrame({"a": [1.0, np.nan]}), None, "row 1, column 'a'"),
        (FRAME["a"], None, "Expected a table. Got a Series"),
    ],
)
def test_wrong_blocks_are_named(raw: Any, column: str | None, problem: str) -> None:
    with pytest.raises(DataFormatError, match=re.escape(problem)) as error:
        to_block(raw, "block 3 of X", column)
    assert str(error.value).startswith("block 3 of X: ")


TEXT = FRAME.assign(s="x")[["a", "s"]]


@pytest.mark.parametrize(
    ("raw", "advice"),
    [
        (TEXT, 'X[["a", "b"]]'),
        (FRAME.assign(f=FRAME["e"]), 'X[["a", "b"]]'),
        (FRAME.astype({"e": str}), "dataframe.convert-string"),
        (pa.Table.from_pandas(TEXT), 'X.select_columns(["a", "b"])'),
    ],
    ids=["text", "two columns of lists", "lists as text", "table"],
)
def test_errors_about_columns_say_what_to_do_here(raw: Any, advice: str) -> None:
    with pytest.raises(DataFormatError, match=re.escape(advice)) as error:
        to_block(raw, "block 3 of X")
    assert not re.search(r"\bkey\b", str(error.value)), "an estimator has no parameter key"


def test_weights_are_float64() -> None:
    weights = to_weights(np.arange(3, dtype=np.int8), "b", 3)
    assert weights.dtype == np.float64
    assert weights.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([1.0], r"shape \(1,\) for b, which has 2 rows"),
        ([1, -1], "-1 at row 1 of b"),
        ([np.nan, 1], "nan"),
    ],
)
def test_wrong_weights_are_named(raw: Any, problem: str) -> None:
    with pytest.raises(InvalidValuesError, match=problem):
        to_weights(raw, "b", 2)
