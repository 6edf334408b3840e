"""Writing one value or several values per row: labels, distances, codes, row numbers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from boostkmeans.cli.files.output import Output, writing_to
from boostkmeans.cli.stdout import print_part
from boostkmeans.io import batch_writer

# Endings of text files.
TEXT_ENDINGS = (".txt", ".csv", ".tsv")
# Endings of files with one value per row.
COLUMN_ENDINGS = (".npy", *TEXT_ENDINGS)
# Number of rows that are converted to text at a time.
ROWS_PER_TEXT = 1 << 16

WriteRows = Callable[[NDArray[Any]], bool]
"""Write the next rows. Return False if the reader has closed the pipe."""


@contextmanager
def row_writer(output: Output, shape: tuple[int, ...], dtype: Any) -> Iterator[WriteRows]:
    """Open an output of a known shape, which is written in batches.

    The shape is (n,) for one value per row and (n, d) for several. A file appears only if the block ends
    without an error.
    """
    if output.is_stdout:
        yield lambda rows: all(map(print_part, _lines(rows)))
        return
    with output.open() as file, _file_writer(file, output.ending, shape, np.dtype(dtype)) as write:

        def write_rows(rows: NDArray[Any]) -> bool:
            with writing_to(output.path):
                write(rows)
            return True

        yield write_rows


@contextmanager
def _file_writer(
    file: BinaryIO, ending: str, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[Callable[[NDArray[Any]], None]]:
    if ending in TEXT_ENDINGS:
        yield lambda rows: file.writelines(lines.encode("ascii") for lines in _lines(rows))
    elif len(shape) == 1:
        descr = npy.dtype_to_descr(dtype)
        npy.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        yield lambda values: _write_values(file, values, dtype)
    else:
        with batch_writer(file, ending[1:], (shape[0], shape[1]), dtype) as write:
            yield write


def _write_values(file: BinaryIO, values: NDArray[Any], dtype: np.dtype[Any]) -> None:
    file.write(np.ascontiguousarray(values, dtype=dtype).data)


def _lines(rows: NDArray[Any]) -> Iterator[str]:
    """Yield the rows as comma-separated lines. Floats have the fewest digits that identify them."""
    for begin in range(0, len(rows), ROWS_PER_TEXT):
        some = rows[begin : begin + ROWS_PER_TEXT]
        if some.ndim == 1:
            yield "".join(f"{value}\n" for value in some.tolist())
        else:  # as NumPy values, because Python has no float32 and would show more digits
            yield "".join(",".join(map(str, row)) + "\n" for row in some)
