"""Vectors in columns as Arrow has them: lists of equal length, or numbers in several columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._errors import DataFormatError
from boostkmeans.io._choice import shown


def arrow() -> Any:
    """pyarrow, which is optional."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Parquet and Arrow files are read by pyarrow, which is not installed: pip install "
            "'boostkmeans[parquet]'"
        ) from None
    return pyarrow


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are read, and what becomes of them."""

    name: str
    """Of the file, for messages."""
    names: list[str]
    is_list: bool
    dtype: np.dtype[Any]
    length: int | None
    """Of the lists, if the type of the column tells it."""

    def array(self, batch: Any, first: int, n_columns: int) -> NDArray[Any]:
        """The rows of a table or batch of only these columns; `first` is the number of its first."""
        if self.is_list:
            column = batch.column(0)
            chunks = getattr(column, "chunks", [column])
            parts = []
            for chunk in chunks:
                parts.append(self._lists(chunk, first, n_columns))
                first += len(chunk)
            if len(parts) == 1:
                return parts[0]
            return np.concatenate(parts) if parts else np.empty((0, n_columns), dtype=self.dtype)
        rows = np.empty((batch.num_rows, n_columns), dtype=self.dtype)
        for j in range(n_columns):
            column = batch.column(j)
            self._refuse_nulls(column, first, 1, self.names[j])
            rows[:, j] = _numbers(column)
        return rows

    def _lists(self, chunk: Any, first: int, n_columns: int) -> NDArray[Any]:
        pa = arrow()
        if isinstance(chunk, pa.ExtensionArray):
            chunk = chunk.storage
        self._refuse_nulls(chunk, first, 1, self.names[0])
        if not pa.types.is_fixed_size_list(chunk.type):
            lengths = np.diff(chunk.offsets.to_numpy())
            wrong = np.flatnonzero(lengths != n_columns)
            if len(wrong):
                raise DataFormatError(
                    f"{self.name}, row {first + int(wrong[0])}, column {self.names[0]!r}: a list of "
                    f"{lengths[wrong[0]]} values, but the others have {n_columns}. Vectors must be "
                    "equally long."
                )
        values = chunk.flatten()
        self._refuse_nulls(values, first, n_columns, self.names[0])
        if len(values) != len(chunk) * n_columns:
            raise DataFormatError(
                f"{self.name}: column {self.names[0]!r} is damaged: values are missing."
            )
        return _numbers(values).reshape(len(chunk), n_columns)

    def _refuse_nulls(self, values: Any, first: int, per_row: int, column: str) -> None:
        if values.null_count == 0:
            return
        at = np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))
        row = first + int(at[0]) // per_row if len(at) else first
        raise DataFormatError(
            f"{self.name}, row {row}, column {column!r}: a null, where a number is expected. Leave such "
            "rows out, or fill them."
        )


def columns_of(name: str, schema: Any, key: list[str] | None) -> Columns:
    """Those that were named; or the only one of lists; or all, if they hold numbers."""
    available = {field.name: _value_type(field.type) for field in schema}
    kinds = {field.name: field.type for field in schema}
    if key is None:
        lists = [one for one, value in available.items() if value is not None and _is_list(kinds[one])]
        if len(lists) > 1:
            raise DataFormatError(
                f"{name}: which column is meant? Lists of numbers are in {shown(lists)}. Name one: "
                f"key={lists[0]!r}."
            )
        key = lists or list(available)
    missing = [one for one in key if one not in available]
    if missing or not key:
        what = f"no column {missing[0]!r}" if missing else "no column"
        raise DataFormatError(f"{name}: there is {what}; there is {shown(list(available))}.")
    for one in key:
        if available[one] is None:
            raise DataFormatError(
                f"{name}: the column {one!r} holds {kinds[one]}, not numbers. Name those that are to be "
                "read: key=[...]."
            )
    is_list = _is_list(kinds[key[0]])
    if any(_is_list(kinds[one]) for one in key) and len(key) > 1:
        raise DataFormatError(
            f"{name}: of {shown(key)}, some columns hold lists. Name one column of lists, or several of "
            "numbers."
        )
    dtype = np.result_type(*(np.dtype(available[one].to_pandas_dtype()) for one in key))
    length = getattr(_storage(kinds[key[0]]), "list_size", None) if is_list else len(key)
    return Columns(name, key, is_list, dtype, length)


def _storage(kind: Any) -> Any:
    return getattr(kind, "storage_type", kind)


def _is_list(kind: Any) -> bool:
    types, kind = arrow().types, _storage(kind)
    return bool(types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind))


def _value_type(kind: Any) -> Any:
    """The type of the numbers that are in such a column; None if there are others."""
    types = arrow().types
    kind = _storage(kind)
    value = kind.value_type if _is_list(kind) else kind
    numeric = types.is_integer(value) or types.is_floating(value) or types.is_boolean(value)
    return value if numeric else None


def _numbers(values: Any) -> NDArray[Any]:
    pa = arrow()
    if isinstance(values, pa.ChunkedArray):
        return np.asarray(values.to_numpy())
    return np.asarray(values.to_numpy(zero_copy_only=False))
