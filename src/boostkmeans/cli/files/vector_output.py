"""Writing of vectors in batches: the formats of `convert`, and tables as text, with or without ids."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from numpy.typing import NDArray

from boostkmeans.cli.files.output import Output, check_ending, writing_to
from boostkmeans.cli.files.row_writer import row_writer
from boostkmeans.io import WRITABLE, Vectors, batch_writer

# Separators of tables as text, by the ending of the file name.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
ENDINGS = (*(f".{name}" for name in WRITABLE), *SEPARATORS)
# Endings of files that contain the ids of the vectors.
ID_ENDINGS = (".parquet", *SEPARATORS)

WriteVectors = Callable[[NDArray[Any]], object]
"""Write the next vectors."""


@dataclass(frozen=True)
class IdColumn:
    """The ids of the vectors that are written, and the name of their column."""

    name: str
    values: NDArray[Any]


def check_vector_output(name: str, output: Output | None) -> None:
    """Raise an error unless the name of the file determines its format."""
    check_ending(name, output, ENDINGS, stdout=False)


@contextmanager
def vector_writer(
    output: Output, vectors: Vectors, n_rows: int, ids: IdColumn | None
) -> Iterator[WriteVectors]:
    """Open a file for `n_rows` of the vectors. Formats without a column for ids leave them out.

    A file appears only if the block ends without an error.
    """
    has_names = ids is not None or vectors.feature_names is not None
    if not (output.ending in ID_ENDINGS and has_names):
        with row_writer(output, (n_rows, vectors.shape[1]), vectors.dtype) as write:
            yield write
        return
    with output.open() as file, _table_writer(file, output.ending, vectors, n_rows, ids) as write_raw:

        def write_batch(batch: NDArray[Any]) -> None:
            with writing_to(output.path):
                write_raw(batch)

        yield write_batch


@contextmanager
def _table_writer(
    file: BinaryIO, ending: str, vectors: Vectors, n_rows: int, ids: IdColumn | None
) -> Iterator[WriteVectors]:
    """Write the header of a table with named columns, and return a function that writes rows."""
    if ending in SEPARATORS:
        table = TextTable(file, SEPARATORS[ending], ids)
        table.write_header(vectors.feature_names or [f"x{j}" for j in range(vectors.shape[1])])
        yield table.write
        return
    column: dict[str, Any] = {} if ids is None else {"ids": ids.values, "id_column": ids.name}
    with batch_writer(file, "parquet", (n_rows, vectors.shape[1]), vectors.dtype, **column) as write:
        yield write


class TextTable:
    """Table of numbers as text, with a column of ids if there are any."""

    def __init__(self, file: BinaryIO, separator: str, ids: IdColumn | None) -> None:
        self._file, self._separator, self._ids = file, separator, ids
        self._n_written = 0

    def write_header(self, names: list[str]) -> None:
        """Write the names of the columns."""
        self._write_lines([names if self._ids is None else [self._ids.name, *names]])

    def write(self, batch: NDArray[Any]) -> None:
        """Write rows, with the fewest digits that identify each number."""
        # As NumPy values, because Python has no float32 and would show more digits.
        lines = [list(map(str, row)) for row in batch]
        if self._ids is not None:
            own = self._ids.values[self._n_written : self._n_written + len(batch)].tolist()
            lines = [[str(one), *line] for one, line in zip(own, lines, strict=True)]
        self._n_written += len(batch)
        self._write_lines(lines)

    def _write_lines(self, lines: Iterable[list[str]]) -> None:
        text = io.StringIO()
        csv.writer(text, delimiter=self._separator, lineterminator="\n").writerows(lines)
        self._file.write(text.getvalue().encode("utf-8"))
