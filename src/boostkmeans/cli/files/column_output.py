"""Writing of columns as a table: a CSV or Parquet file, or standard output."""

import csv
import io
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray

from boostkmeans._runtime.installation import install_hint
from boostkmeans.cli.files.output import Output, check_ending, writing_to
from boostkmeans.cli.stdout import print_part

TABLE_ENDINGS = (".csv", ".parquet")
# Number of rows that are converted to text at a time.
ROWS_PER_TEXT = 1 << 16

Columns = Mapping[str, NDArray[Any]]


def check_table(name: str, output: Output | None, *, stdout: bool = True) -> None:
    """Raise an error unless the output of an option can be a table."""
    check_ending(name, output, TABLE_ENDINGS, stdout=stdout)
    if output is not None and output.ending == ".parquet" and find_spec("pyarrow") is None:
        raise ImportError(f"{name} as .parquet needs pyarrow: {install_hint('parquet')}")


def write_table(output: Output, columns: Columns) -> None:
    """Write columns of equal length, with their names."""
    if output.is_stdout:
        all(map(print_part, _lines(columns)))
        return
    with output.open() as file, writing_to(output.path):
        if output.ending == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table(dict(columns)), file)
        else:
            file.writelines(text.encode("utf-8") for text in _lines(columns))


def _lines(columns: Columns) -> Iterator[str]:
    """Yield the table as comma-separated lines. Values with commas or quotes are quoted."""
    yield f"{','.join(columns)}\n"
    length = min(map(len, columns.values()), default=0)
    for begin in range(0, length, ROWS_PER_TEXT):
        text = io.StringIO()
        some = (column[begin : begin + ROWS_PER_TEXT].tolist() for column in columns.values())
        csv.writer(text, lineterminator="\n").writerows(zip(*some, strict=True))
        yield text.getvalue()
