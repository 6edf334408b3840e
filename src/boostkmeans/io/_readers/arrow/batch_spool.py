"""`spool_batches`: record batches as plain rows, in memory or in a temporary file."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from boostkmeans.io._access.choice import no_rows_error
from boostkmeans.io._access.row_stores import RowStore
from boostkmeans.io._access.spool import Room, Spool
from boostkmeans.io._access.store import Store
from boostkmeans.io._readers.arrow.columns import Columns
from boostkmeans.io._readers.arrow.ids import IdColumn
from boostkmeans.io._readers.npy import check_shape


def spool_batches(
    columns: Columns,
    batches: Iterator[Any],
    n_columns: int | None,
    room: Room,
    n_expected: int | None,
    ids: IdColumn | None = None,
) -> Store:
    """Return the rows of all batches as a store of plain rows, in memory or in a temporary file.

    `n_columns` and `n_expected` are the expected numbers of columns and rows, if they are known. `ids`
    is the last column of the batches.
    """
    spool = Spool(room)
    n_rows = 0
    found = [ids.empty()] if ids else []
    try:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            if n_columns is None:
                n_columns = columns.width(batch, n_rows)
            n_columns = check_shape(columns.where, (n_rows, n_columns))[1]
            rows = columns.array(batch, n_rows, n_columns)
            spool.write(np.ascontiguousarray(rows, dtype=columns.dtype))
            if ids is not None:
                found.append(ids.array(batch.column(batch.num_columns - 1), n_rows))
            n_rows += len(rows)
        if n_columns is None:
            raise no_rows_error(columns.where)
        if n_expected is not None and n_rows != n_expected:
            raise columns.where.error(f"Expected {n_expected} rows. Got {n_rows}. The file is damaged.")
        file = spool.finish(columns.where.file)
        store = RowStore(file, 0, (n_rows, n_columns), columns.dtype)
    finally:
        spool.close()
    store.feature_names = None if columns.is_list else columns.names
    store.held_ids = np.concatenate(found) if found else None
    return store
