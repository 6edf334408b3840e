"""Lists of rows: row numbers, and their ids if they have ids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.cli.files.column_output import check_table, write_table
from boostkmeans.cli.files.output import Output, check_ending
from boostkmeans.cli.files.row_writer import row_writer

# Endings of lists of row numbers. With ids, a text file has one id per line, and others are tables.
NUMBER_ENDINGS = (".txt", ".npy", ".csv", ".parquet")
ID_ENDINGS = (".txt", ".csv", ".parquet")
ROW, ID = "row", "id"


def check_row_list(name: str, output: Output | None, *, has_ids: bool) -> None:
    """Raise an error unless the name of the file determines its format."""
    check_ending(name, output, ID_ENDINGS if has_ids else NUMBER_ENDINGS, stdout=True)
    if output is not None and output.ending == ".parquet":
        check_table(name, output)


def write_row_list(output: Output, rows: NDArray[np.int64], ids: NDArray[Any] | None) -> None:
    """Write row numbers, or ids. Tables contain both."""
    if output.ending in (".csv", ".parquet") and (ids is not None or output.ending == ".parquet"):
        write_table(output, {ROW: rows} if ids is None else {ID: ids, ROW: rows})
    elif ids is None:
        with row_writer(output, (len(rows),), np.int64) as write:
            write(rows)
    else:
        output.write("\n".join(str(one) for one in ids.tolist()))
