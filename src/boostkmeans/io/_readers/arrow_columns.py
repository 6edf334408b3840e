"""Vectors in columns as Arrow has them: lists of equal length, or numbers in several columns."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import ChoiceError, DataFormatError
from boostkmeans.io._access.choice import shown

# Up to here, float64 has all integers.
EXACT = 2**53


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

    def width(self, batch: Any, first: int) -> int:
        """How many values a row has, by the first one of a batch that has one."""
        if not self.is_list:
            return len(self.names)
        lists = _plain(batch.column(0))
        self._refuse_nulls(lists, first, 1, self.names[0])
        return len(lists[0])

    def array(self, batch: Any, first: int, n_columns: int) -> NDArray[Any]:
        """The rows of a batch of only these columns; `first` is the number of its first row."""
        if self.is_list:
            return self._lists(_plain(batch.column(0)), first, n_columns)
        rows = np.empty((batch.num_rows, n_columns), dtype=self.dtype)
        for j in range(n_columns):
            column = batch.column(j)
            self._refuse_nulls(column, first, 1, self.names[j])
            numbers = _numbers(column)
            self._refuse_rounding(numbers, first, self.names[j])
            rows[:, j] = numbers
        return rows

    def _lists(self, chunk: Any, first: int, n_columns: int) -> NDArray[Any]:
        pa = arrow()
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

    def _refuse_rounding(self, numbers: NDArray[Any], first: int, column: str) -> None:
        """Columns of several types come in one, in which integers of 64 bits may not be the same."""
        if self.dtype.kind != "f" or numbers.dtype.kind not in "iu" or numbers.itemsize < 8:
            return
        wrong = numbers > EXACT
        if numbers.dtype.kind == "i":
            wrong |= numbers < -EXACT
        if wrong.any():
            at = int(np.argmax(wrong))
            raise DataFormatError(
                f"{self.name}, row {first + at}, column {column!r}: {numbers[at]} is beyond 2**53, "
                f"where {self.dtype}, the type of all columns together, skips integers. Leave it out: "
                "key=[...], or convert it."
            )

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
        available = _without_index(schema, available)
        lists = [one for one, value in available.items() if value is not None and _is_list(kinds[one])]
        if len(lists) > 1:
            raise ChoiceError(
                f"{name}: which column is meant? Lists of numbers are in {shown(lists)}. Name one: "
                f"key={lists[0]!r}."
            )
        key = lists or list(available)
    missing = [one for one in key if one not in available]
    if missing or not key:
        what = f"no column {missing[0]!r}" if missing else "no column"
        kind = ChoiceError if missing else DataFormatError
        raise kind(f"{name}: there is {what}; there is {shown(list(available))}.")
    counts = Counter(schema.names)
    repeated = [one for one in key if counts[one] > 1]
    if repeated:
        raise DataFormatError(
            f"{name}: {counts[repeated[0]]} columns are called {repeated[0]!r}. Give them "
            "names of their own, or name others: key=[...]."
        )
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


def _without_index(schema: Any, available: dict[str, Any]) -> dict[str, Any]:
    """pandas stores the names of rows like columns, and notes which ones they are."""
    try:
        noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = noted.get("index_columns", []) if isinstance(noted, dict) else []
    except (ValueError, RecursionError):
        return available
    names = {one for one in index if isinstance(one, str)} if isinstance(index, list) else set()
    return {one: value for one, value in available.items() if one not in names} or available


def _plain(lists: Any) -> Any:
    """Lists one after the other, which some types only have a view of."""
    pa = arrow()
    if isinstance(lists, pa.ExtensionArray):
        lists = lists.storage
    if not _is_view(lists.type):
        return lists
    # A cast would do, but that of pyarrow 26 makes up lengths.
    starts, sizes = lists.offsets.to_numpy(), lists.sizes.to_numpy()
    ends = np.cumsum(sizes, dtype=np.int64)
    places = np.repeat(starts - (ends - sizes), sizes) + np.arange(sizes.sum())
    values = lists.values.take(pa.array(places))
    return pa.LargeListArray.from_arrays([0, *ends], values, mask=lists.is_null())


def _is_view(kind: Any) -> bool:
    types = arrow().types
    known = [getattr(types, one, None) for one in ("is_list_view", "is_large_list_view")]
    return any(one is not None and one(kind) for one in known)


def _storage(kind: Any) -> Any:
    return getattr(kind, "storage_type", kind)


def _is_list(kind: Any) -> bool:
    types, kind = arrow().types, _storage(kind)
    is_plain = types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind)
    return bool(is_plain or _is_view(kind))


def _value_type(kind: Any) -> Any:
    """The type of the numbers that are in such a column; None if there are others."""
    types = arrow().types
    kind = _storage(kind)
    value = kind.value_type if _is_list(kind) else kind
    numeric = types.is_integer(value) or types.is_floating(value) or types.is_boolean(value)
    return value if numeric else None


def _numbers(values: Any) -> NDArray[Any]:
    return np.asarray(values.to_numpy(zero_copy_only=False))
