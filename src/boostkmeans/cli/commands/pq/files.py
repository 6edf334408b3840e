"""Files of codes and of true neighbours."""

import numpy as np
from numpy.typing import NDArray

from boostkmeans import DataFormatError, ProductQuantizer
from boostkmeans.cli.files.column_input import describe_column, read_column
from boostkmeans.cli.files.input import open_input
from boostkmeans.cli.options import InputOptions
from boostkmeans.cli.progress_display import ProgressDisplay
from boostkmeans.quantization import Codes, check_codes


def read_codes(path: str, display: ProgressDisplay, quantizer: ProductQuantizer) -> Codes:
    """Read codes, memory-mapped if possible, and check that they fit the quantizer."""
    with open_input(path, display, InputOptions()) as stored:
        try:
            return check_codes(stored.load(), quantizer.codebooks_)
        except ValueError as error:
            raise DataFormatError(
                str(error), file=path, remedy="The codes may belong to another quantizer."
            ) from None


def read_truth(
    path: str, display: ProgressDisplay, key: list[str] | None, *, n_queries: int, n_rows: int
) -> NDArray[np.int64]:
    """Read the index of the nearest row of each query: the first column, or one number per line."""
    if describe_column(path) is not None:
        values = read_column(path)
    else:
        with open_input(path, display, InputOptions(key=key)) as table:
            if table.is_sparse:
                raise DataFormatError("Expected row numbers, but the data are sparse.", file=path)
            first_column = [np.array(batch[:, 0]) for batch in table.batches()]
            values = np.concatenate(first_column or [np.empty(0)])
    if len(values) != n_queries:
        raise DataFormatError(
            f"{len(values):,} rows for {n_queries:,} queries. One row per query is needed.", file=path
        )
    if values.dtype.kind not in "iuf":
        raise DataFormatError(
            f"Expected row numbers, but the values have the type {values.dtype}.", file=path
        )
    is_row_number = (values == np.floor(values)) & (values >= 0) & (values < n_rows)
    if not is_row_number.all():
        row = int(is_row_number.argmin())
        raise DataFormatError(
            f"{values[row]} is not a row number from 0 to {n_rows - 1:,}.",
            file=path,
            place=f"row {row}",
        )
    return values.astype(np.int64)
