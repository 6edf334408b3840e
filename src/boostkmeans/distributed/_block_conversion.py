"""Conversion of one block of rows, on the worker that has it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.user_input import accepted_rows, accepted_weights
from boostkmeans._runtime.errors import DataFormatError, InvalidValuesError, Message
from boostkmeans._sharded.shard.block import core_array, errors_name_block
from boostkmeans.distributed._column_advice import mentions_key, with_remedy
from boostkmeans.io._access.location import Location
from boostkmeans.io._readers.arrow.columns import import_pyarrow
from boostkmeans.io._readers.arrow.table_rows import table_rows

Column = str | list[str] | None
"""A column of lists or columns of numbers. None stands for the only column of lists, or all columns."""

BlockFunction = Callable[..., Any]
"""Function of a block, of a model and of the block's `Place`. It returns one value or one row per row of
the block."""

# Packages whose tables are read by way of Arrow.
TABLE_PACKAGES = ("pandas", "polars", "pyarrow")
# Advice for tables that have other columns than those of the vectors.
SELECT_IN_DASK = (
    'Select the columns of the vectors before the fit, e.g. X[["a", "b"]], or read the files with '
    "open_shards(paths, column=...)."
)
SELECT_IN_RAY = (
    'Select the columns of the vectors before the fit, e.g. X.select_columns(["a", "b"]), or read the '
    "files with open_shards(paths, column=...)."
)
LISTS_AS_TEXT = (
    "By default, Dask converts columns of lists to text, which loses digits. Create the data frame "
    'after dask.config.set({"dataframe.convert-string": False}), with the type list<...>[pyarrow], or '
    "by dask.dataframe.read_parquet."
)


@dataclass(frozen=True)
class Place:
    """Where a block comes from, for messages."""

    name: str
    """Such as "block 3 of X", or the name of a file."""
    first_row: int = 0
    """Number of the first row of the block in its file or array."""


# Kinds of NumPy's types that hold real numbers.
NUMERIC_KINDS = "biuf"


def to_block(raw: Any, name: str, column: Column = None) -> Any:
    """Convert a block to a two-dimensional array or a CSR matrix, without a copy if possible.

    Parameters
    ----------
    raw : array-like, sparse matrix or table
        An array, an array of arrays, a sparse matrix of SciPy, or a table of pandas, Arrow or polars.
    name : str
        Name of the block for messages, such as "block 3 of X".
    column : str or list of str, default=None
        Columns of a table. By default, it is the only column of lists, or all columns, which must hold
        numbers.

    Returns
    -------
    block : ndarray or CSR matrix
        The rows, in their stored type. A table without rows may have 0 columns.
    """
    where = Location(name)
    if type(raw).__module__.split(".")[0] in TABLE_PACKAGES:
        return core_array(_from_table(raw, where, column), name)
    if column is not None:
        raise where.error(
            f"A column was named, but the block is a {type(raw).__name__}, not a table.",
            "Omit the column.",
        )
    raw = accepted_rows(raw, name)
    block = raw.tocsr() if sparse.issparse(raw) else _from_array(np.asarray(raw), where)
    if block.ndim != 2:
        raise where.error(
            f"Expected an array of two dimensions. Got one of shape {block.shape}.",
            "A block has one row per vector.",
        )
    if block.dtype.kind not in NUMERIC_KINDS:
        raise where.error(f"Expected real numbers. Got values of type {block.dtype}.")
    return core_array(block, name)


def to_weights(raw: Any, name: str, n_rows: int, first_row: int = 0) -> NDArray[np.float64]:
    """Convert the weights of one block of `n_rows` rows to float64, and check them.

    `first_row` is the number of its first row in its file or array.
    """
    weights = accepted_weights(raw, f"sample_weight of {name}")
    if weights.shape != (n_rows,):
        raise InvalidValuesError(
            Message(
                "sample_weight has the shape {shape} for {name}, which has {n_rows} rows: one weight "
                "per row is needed.",
                shape=weights.shape, name=name, n_rows=n_rows,
            )
        )  # fmt: skip
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(wrong):
        raise InvalidValuesError(
            Message(
                "sample_weight contains {weight:g} at row {row} of {name}: weights must be finite, and "
                "not negative.",
                weight=weights[wrong[0]], row=first_row + int(wrong[0]), name=name,
            )
        )  # fmt: skip
    return weights


def naming_its_block(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let errors about rows name the block, whose `Place` becomes the last argument of the function."""

    @wraps(function)
    def call(*args: Any) -> Any:
        *own, place = args
        with errors_name_block(place.name, place.first_row):
            return function(*own)

    return call


def _from_array(array: NDArray[Any], where: Location) -> NDArray[Any]:
    """Return an array of numbers for an array of arrays of equal length; return others as they are."""
    if array.dtype != object or array.ndim != 1:
        return array
    rows = [np.asarray(row) for row in array]
    for i, row in enumerate(rows):
        if row.shape != rows[0].shape:
            raise where.within(f"row {i}").error(
                f"The row has {row.size} values, but row 0 has {rows[0].size}.",
                "All rows must have the same length.",
            )
    return np.stack(rows) if rows else array


def _from_table(raw: Any, where: Location, column: Column) -> NDArray[Any]:
    table = _to_arrow(raw, where)
    try:
        return table_rows(table, where, [column] if isinstance(column, str) else column)
    except DataFormatError as error:
        if not mentions_key(error):
            raise
        raise with_remedy(error, _advice(raw, table)) from None


def _advice(raw: Any, table: Any) -> str:
    """Return what to do about a column without numbers, from the block and its Arrow table."""
    is_frame = type(raw).__module__.startswith("pandas")
    if is_frame and any(map(_holds_vectors_as_text, table.itercolumns())):
        return LISTS_AS_TEXT
    return SELECT_IN_DASK if is_frame else SELECT_IN_RAY


def _holds_vectors_as_text(column: Any) -> bool:
    """Return True for text such as "[0.1 0.2]", into which Dask converts lists and arrays."""
    kind = str(column.type)
    return kind.endswith("string") and len(column) > 0 and str(column[0]).startswith("[")


def _to_arrow(raw: Any, where: Location) -> Any:
    """Return an Arrow table for a table of pandas, polars or Arrow."""
    pa = import_pyarrow()
    if isinstance(raw, pa.Table):
        return raw
    if isinstance(raw, pa.RecordBatch):
        return pa.Table.from_batches([raw])
    try:
        if hasattr(raw, "to_arrow"):  # polars
            return raw.to_arrow()
        return pa.Table.from_pandas(raw, preserve_index=False)
    except (AttributeError, TypeError, pa.ArrowException) as error:
        raise where.error(f"Expected a table. Got a {type(raw).__name__}. {error}") from None
