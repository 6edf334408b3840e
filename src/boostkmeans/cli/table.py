"""Files with several values a row: codes, numbers of neighbours, distances."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.cli.column import LINES_AT_ONCE, TEXTS, Write
from boostkmeans.cli.output import STDOUT, Output, print_part, writing_to
from boostkmeans.io._writing import batch_writer


def check_table(option: str, output: Output | None, endings: tuple[str, ...]) -> None:
    """Raises an error if the name of the file does not tell how to write it."""
    if output is None or output.ending in endings or (output.path == STDOUT and TEXTS[0] in endings):
        return
    but = ", or - for standard output" if TEXTS[0] in endings else ""
    raise ValueError(
        f"{option} must be a file that ends in {', '.join(endings)}{but}. Got {output.path!r}."
    )


@contextmanager
def table_writer(output: Output, shape: tuple[int, int], dtype: np.dtype[Any]) -> Iterator[Write]:
    """What writes rows, some after the other. A file is there once all are written, or not at all."""
    if output.path == STDOUT:
        yield lambda rows: all(map(print_part, _lines(rows)))
        return
    with output.opened() as file:
        if output.ending in TEXTS:

            def write(rows: NDArray[Any]) -> bool:
                with writing_to(output.path):
                    for lines in _lines(rows):
                        file.write(lines.encode("ascii"))
                return True

            yield write
            return
        with batch_writer(file, output.ending[1:], shape, dtype) as put:

            def write_binary(rows: NDArray[Any]) -> bool:
                with writing_to(output.path):
                    put(rows)
                return True

            yield write_binary


def _lines(rows: NDArray[Any]) -> Iterator[str]:
    """With commas, and no more digits than tell a value from its neighbours."""
    for begin in range(0, len(rows), LINES_AT_ONCE):
        yield "".join(",".join(map(str, row)) + "\n" for row in rows[begin : begin + LINES_AT_ONCE])
