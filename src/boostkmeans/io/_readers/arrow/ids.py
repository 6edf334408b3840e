"""Ids of rows in Arrow tables: a column of strings or integers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.choice import missing_name_error
from boostkmeans.io._access.location import Location
from boostkmeans.io._readers.arrow.columns import import_pyarrow


@dataclass(frozen=True)
class IdColumn:
    """The column of ids of a table, and its conversion to an array."""

    where: Location
    """Location of the table, for error messages."""
    name: str
    dtype: np.dtype[Any]
    """An integer type, or object for strings."""

    def empty(self) -> NDArray[Any]:
        """Return an array without ids, which determines the type of a file without rows."""
        return np.empty(0, dtype=self.dtype)

    def array(self, column: Any, first: int) -> NDArray[Any]:
        """Return the ids of a column of a batch. `first` is the number of its first row."""
        pa = import_pyarrow()
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if column.null_count:
            at = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise self.where.within(f"row {first + at}, column {self.name!r}").error(
                "Expected an id. Got a null.", "Remove such rows, or fill them."
            )
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=self.dtype)


def choose_ids(where: Location, schema: Any, name: str | None) -> IdColumn | None:
    """Return the column of ids, or None if no name is given."""
    if name is None:
        return None
    found = [field.type for field in schema if field.name == name]
    if not found:
        raise missing_name_error(where, "column", name, schema.names)
    if len(found) > 1:
        raise where.error(f"{len(found)} columns have the name {name!r}.", "Rename them.")
    return IdColumn(where, name, _id_dtype(where.within(f"column {name!r}"), found[0]))


def _id_dtype(where: Location, kind: Any) -> np.dtype[Any]:
    types = import_pyarrow().types
    value = kind.value_type if types.is_dictionary(kind) else kind
    is_view = getattr(types, "is_string_view", None)
    if types.is_string(value) or types.is_large_string(value) or (is_view and is_view(value)):
        return np.dtype(object)
    if types.is_integer(value):
        dtype: np.dtype[Any] = np.dtype(value.to_pandas_dtype())
        return dtype
    raise where.error(
        f"Ids must be strings or integers. Got values of type {escape_untrusted(str(kind))}."
    )
