"""Vectors in Arrow tables: a column of lists of equal length, or several columns of numbers."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import Message, Parameter
from boostkmeans._runtime.installation import install_hint
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.choice import ambiguous_name_error, list_names
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.table_columns import TableColumns

# float64 represents all integers up to this number.
MAX_EXACT_INTEGER = 2**53
# Advice to choose columns.
NAME_COLUMNS = Message(
    "Name the columns to read with {key}, or leave columns out with {drop}. A column of ids is named "
    "with {id_column}.",
    key=Parameter("key"),
    drop=Parameter("drop"),
    id_column=Parameter("id_column"),
)


def import_pyarrow() -> Any:
    """Return the module pyarrow, which is an optional dependency."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Reading Parquet and Arrow files requires pyarrow, which is not installed: "
            f"{install_hint('parquet')}"
        ) from None
    return pyarrow


@dataclass(frozen=True)
class Columns:
    """The columns of a table that are read, and their conversion to an array."""

    where: Location
    """Location of the table, for error messages."""
    names: list[str]
    is_list: bool
    """True for one column of lists, False for columns of numbers."""
    dtype: np.dtype[Any]
    length: int | None
    """Number of values per row, if the type of the column determines it."""

    def width(self, batch: Any, first: int) -> int:
        """Return the number of values of the first row of a batch, which is row `first` of the file."""
        if not self.is_list:
            return len(self.names)
        lists = _without_views(batch.column(0))
        self._reject_nulls(lists, first, 1, self.names[0])
        return len(lists[0])

    def array(self, batch: Any, first: int, n_columns: int) -> NDArray[Any]:
        """Return the rows of a batch of these columns. `first` is the number of its first row."""
        if self.is_list:
            return self._from_lists(_without_views(batch.column(0)), first, n_columns)
        rows = np.empty((batch.num_rows, n_columns), dtype=self.dtype)
        for j in range(n_columns):
            column = batch.column(j)
            self._reject_nulls(column, first, 1, self.names[j])
            numbers = _to_numpy(column)
            self._reject_inexact(numbers, first, self.names[j])
            rows[:, j] = numbers
        return rows

    def _from_lists(self, lists: Any, first: int, n_columns: int) -> NDArray[Any]:
        pa = import_pyarrow()
        self._reject_nulls(lists, first, 1, self.names[0])
        if not pa.types.is_fixed_size_list(lists.type):
            lengths = np.diff(lists.offsets.to_numpy())
            wrong = np.flatnonzero(lengths != n_columns)
            if len(wrong):
                raise self._cell(first + int(wrong[0]), self.names[0]).error(
                    f"The list has {lengths[wrong[0]]} values, but the others have {n_columns}.",
                    "All vectors must have the same length.",
                )
        values = lists.flatten()
        self._reject_nulls(values, first, n_columns, self.names[0])
        if len(values) != len(lists) * n_columns:
            raise self.where.within(f"column {self.names[0]!r}").error(
                "Values are missing: the file is damaged."
            )
        return _to_numpy(values).reshape(len(lists), n_columns)

    def _reject_inexact(self, numbers: NDArray[Any], first: int, column: str) -> None:
        """Raise DataFormatError for integers that the common type of all columns cannot represent."""
        if self.dtype.kind != "f" or numbers.dtype.kind not in "iu" or numbers.itemsize < 8:
            return
        wrong = numbers > MAX_EXACT_INTEGER
        if numbers.dtype.kind == "i":
            wrong |= numbers < -MAX_EXACT_INTEGER
        if wrong.any():
            at = int(np.argmax(wrong))
            raise self._cell(first + at, column).error(
                f"The integer {numbers[at]} is beyond 2**53, so {self.dtype}, the common type of all "
                "columns, cannot represent it exactly.",
                Message("Convert the column, or omit it with {key}.", key=Parameter("key")),
            )

    def _reject_nulls(self, values: Any, first: int, per_row: int, column: str) -> None:
        if values.null_count == 0:
            return
        at = np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))
        row = first + int(at[0]) // per_row if len(at) else first
        raise self._cell(row, column).error(
            "Expected a number. Got a null.", "Remove such rows, or fill them."
        )

    def _cell(self, row: int, column: str) -> Location:
        return self.where.within(f"row {row}, column {column!r}")


def choose_columns(where: Location, schema: Any, wanted: TableColumns) -> Columns:
    """Return the columns in the key, or the only column of lists, or all columns of numbers.

    The column of ids is left out unless the key names it.
    """
    types = {field.name: field.type for field in schema}
    available = {name: _value_type(kind) for name, kind in types.items()}
    named = [one for one in wanted.key or [] if one in available]
    usual = _without_index(schema, available)
    # A name that the caller writes out may be that of any column. Wildcards match the usual ones.
    key = wanted.chosen(where, "column", [*usual, *(one for one in named if one not in usual)])
    if wanted.key is None:
        lists = [one for one in key if available[one] is not None and _is_list(types[one])]
        if len(lists) > 1:
            raise ambiguous_name_error(where, "Several columns hold lists of numbers", lists)
        key = lists or key
    _check_columns(where, schema, key, types, available)
    is_list = _is_list(types[key[0]])
    dtype = np.result_type(*(np.dtype(available[one].to_pandas_dtype()) for one in key))
    length = getattr(_storage_type(types[key[0]]), "list_size", None) if is_list else len(key)
    return Columns(where, key, is_list, dtype, length)


def _check_columns(
    where: Location, schema: Any, key: list[str], types: dict[str, Any], available: dict[str, Any]
) -> None:
    """Raise DataFormatError unless there are unique columns of numbers or one column of lists."""
    counts = Counter(schema.names)
    repeated = [one for one in key if counts[one] > 1]
    if repeated:
        raise where.error(
            f"{counts[repeated[0]]} columns have the name {repeated[0]!r}.",
            Message("Rename them, or select other columns with {key}.", key=Parameter("key")),
        )
    for one in key:
        if available[one] is None:
            kind = escape_untrusted(str(types[one]))
            raise where.within(f"column {one!r}").error(
                f"Expected numbers. Got values of type {kind}.", NAME_COLUMNS
            )
    if any(_is_list(types[one]) for one in key) and len(key) > 1:
        raise where.error(
            f"Some of the columns {list_names(key)} hold lists.",
            Message(
                "Name one column of lists, or several columns of numbers, with {key}.",
                key=Parameter("key"),
            ),
        )


def _without_index(schema: Any, available: dict[str, Any]) -> dict[str, Any]:
    """Return the columns without the index of pandas, which is stored as a column."""
    try:
        noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = noted.get("index_columns", []) if isinstance(noted, dict) else []
    except (ValueError, RecursionError):
        return available
    names = {one for one in index if isinstance(one, str)} if isinstance(index, list) else set()
    return {one: value for one, value in available.items() if one not in names} or available


def _without_views(lists: Any) -> Any:
    """Return an array of plain lists for an array of lists, list views or an extension type."""
    pa = import_pyarrow()
    if isinstance(lists, pa.ExtensionArray):
        lists = lists.storage
    if not _is_view(lists.type):
        return lists
    # pyarrow's cast from list views to lists gives wrong lengths (apache/arrow#50994).
    starts, sizes = lists.offsets.to_numpy(), lists.sizes.to_numpy()
    ends = np.cumsum(sizes, dtype=np.int64)
    places = np.repeat(starts - (ends - sizes), sizes) + np.arange(sizes.sum())
    values = lists.values.take(pa.array(places))
    return pa.LargeListArray.from_arrays([0, *ends], values, mask=lists.is_null())


def _is_view(kind: Any) -> bool:
    types = import_pyarrow().types
    known = [getattr(types, one, None) for one in ("is_list_view", "is_large_list_view")]
    return any(one is not None and one(kind) for one in known)


def _storage_type(kind: Any) -> Any:
    """Return the type itself, or the type in which an extension type is stored."""
    return getattr(kind, "storage_type", kind)


def _is_list(kind: Any) -> bool:
    types, kind = import_pyarrow().types, _storage_type(kind)
    is_plain = types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind)
    return bool(is_plain or _is_view(kind))


def _value_type(kind: Any) -> Any:
    """Return the type of the numbers in a column of this type, or None if it holds no numbers."""
    types = import_pyarrow().types
    kind = _storage_type(kind)
    value = kind.value_type if _is_list(kind) else kind
    numeric = types.is_integer(value) or types.is_floating(value) or types.is_boolean(value)
    return value if numeric else None


def _to_numpy(values: Any) -> NDArray[Any]:
    return np.asarray(values.to_numpy(zero_copy_only=False))
