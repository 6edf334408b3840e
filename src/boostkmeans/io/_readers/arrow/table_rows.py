"""`table_rows`: the vectors of an Arrow table in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io._access.location import Location
from boostkmeans.io._access.table_columns import TableColumns
from boostkmeans.io._readers.arrow.columns import choose_columns


def table_rows(table: Any, where: Location, key: list[str] | None = None) -> NDArray[Any]:
    """Return the column of lists, or the columns of numbers, as rows.

    `key` names the columns. A table without rows may have 0 columns.
    """
    columns = choose_columns(where, table.schema, TableColumns(key))
    for name in columns.names:
        shape = getattr(table.schema.field(name).type, "shape", None)  # of tensors
        if shape is not None and len(shape) != 1:
            raise where.within(f"column {name!r}").error(
                f"Expected one vector per row. Got tensors of shape {tuple(shape)}."
            )
    batches = [one for one in table.select(columns.names).to_batches() if one.num_rows]
    if not batches:
        return np.empty((0, columns.length or 0), dtype=columns.dtype)
    width, first, arrays = columns.width(batches[0], 0), 0, []
    for batch in batches:
        arrays.append(columns.array(batch, first, width))
        first += batch.num_rows
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
