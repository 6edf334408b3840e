"""Writing of labels as a table: a CSV, TSV or Parquet file with a header, with or without ids."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.cli.files.output import Output, writing_to
from boostkmeans.cli.stdout import print_part
from boostkmeans.io._label_tables import ID, LABEL, label_lines, label_table, table_header

WriteTable = Callable[[NDArray[Any], NDArray[Any] | None], bool]
"""Write the next values with their ids. Return False if the reader has closed the pipe."""


@contextmanager
def table_writer(
    output: Output,
    id_dtype: np.dtype[Any] | None,
    columns: Sequence[str] = (LABEL,),
    dtype: Any = np.int32,
) -> Iterator[WriteTable]:
    """Open an output for one value or several per row, which are written in batches.

    `id_dtype` is None for values without ids. `columns` are the names of the columns of the values, and
    `dtype` is their type. A file appears only if the block ends without an error.
    """
    if output.is_stdout:
        is_open = print_part(table_header(list(columns) if id_dtype is None else [ID, *columns]))
        yield lambda labels, ids: is_open and all(map(print_part, label_lines(labels, ids)))
        return
    with (
        output.open() as file,
        label_table(file, output.ending, np.dtype(dtype), id_dtype, columns) as write,
    ):

        def write_rows(labels: NDArray[Any], ids: NDArray[Any] | None) -> bool:
            with writing_to(output.path):
                write(labels, ids)
            return True

        yield write_rows
