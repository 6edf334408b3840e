"""True neighbours that a file has."""

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.cli.bar import Shown
from boostkmeans.cli.column import column_header, read_column
from boostkmeans.cli.input import opened


def read_truth(
    path: str, shown: Shown, key: list[str] | None, *, n_queries: int, n_rows: int
) -> NDArray[np.int64]:
    """The number of the nearest row of each query: the first column of a table, or one a line."""
    if column_header(path) is not None:
        values = read_column(path)
    else:
        with opened(path, shown, key=key) as table:
            if table.is_sparse:
                raise DataFormatError(f"{path}: expected are numbers of rows, and this is sparse.")
            values = np.concatenate(
                [np.array(batch[:, 0]) for batch in table.batches()] or [np.empty(0)]
            )
    if len(values) != n_queries:
        raise DataFormatError(
            f"{path}: {len(values):,} rows for {n_queries:,} queries. One for each is needed."
        )
    if values.dtype.kind not in "iuf":
        raise DataFormatError(f"{path}: expected are numbers of rows. Got values of {values.dtype}.")
    wrong = np.flatnonzero(~((values == np.floor(values)) & (values >= 0) & (values < n_rows)))
    if len(wrong):
        raise DataFormatError(
            f"{path}, row {wrong[0]}: {values[wrong[0]]} is no number of one of the {n_rows:,} rows, "
            "which count from 0 on."
        )
    return values.astype(np.int64)
