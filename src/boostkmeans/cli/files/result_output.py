"""The output of -o for commands whose main result is a report."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from boostkmeans.cli.files.output import Output, check_ending, check_outputs, require_file
from boostkmeans.cli.stdout import print_result

REPORT_ENDINGS = (".json", ".txt")
# Separators of tables, by the ending of the file name.
SEPARATORS = {".csv": ",", ".tsv": "\t"}

Values = dict[str, Any]
"""Result of a command in types that JSON supports."""
Table = Callable[[Values], Sequence[Mapping[str, Any]]]
"""Return the rows of the table in a result."""

ReportFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File for the result, which is then not printed: .json, or .txt as printed.",
    ),
]
"""Option for the file of a report."""
TableFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File for the result, which is then not printed: .csv or .tsv for the table, .json for "
        "everything, or .txt as printed.",
    ),
]
"""Option for the file of a report that contains a table."""


@dataclass(frozen=True)
class ResultOutput:
    """Destination of a report: standard output or a file, whose ending determines the format."""

    file: Output | None
    table: Table | None = None
    """Function that returns the table in the result, if there is one."""

    @classmethod
    def from_options(
        cls, path: str | None, table: Table | None = None, *, force: bool, as_json: bool
    ) -> "ResultOutput":
        """Return the output. Raise an error if the ending does not determine a format."""
        file = None if path is None else Output(path, force)
        require_file("--output", file)
        endings = (*(SEPARATORS if table else ()), *REPORT_ENDINGS)
        check_ending("--output", file, endings, stdout=False)
        if file is not None and as_json and file.ending != ".json":
            raise ValueError(f"--json and -o {file.path} contradict each other: use the ending .json.")
        return cls(file, table)

    @property
    def is_table(self) -> bool:
        """True if the file contains only the table of the result."""
        return self.file is not None and self.file.ending in SEPARATORS

    def check(self, inputs: Mapping[str, str | Sequence[str] | None], **others: Any) -> None:
        """Raise an error if a file cannot be written. `others` are outputs by option without dashes."""
        outputs = {f"--{name.replace('_', '-')}": one for name, one in others.items()}
        check_outputs(inputs, {"--output": self.file, **outputs})

    def write(self, values: Values, listing: Callable[[Values], str], *, as_json: bool) -> None:
        """Print or write a result."""
        if self.file is None:
            print_result(to_json(values) if as_json else listing(values))
        elif self.file.ending == ".json":
            self.file.write(to_json(values))
        elif self.is_table and self.table is not None:
            self.file.write(_separated(self.table(values), SEPARATORS[self.file.ending]))
        else:
            self.file.write(listing(values))


def to_json(values: Values) -> str:
    """Return a result as JSON."""
    return json.dumps(values, allow_nan=False)


def _separated(rows: Sequence[Mapping[str, Any]], separator: str) -> str:
    """Return a table as text, without the last line break. None becomes an empty cell."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().removesuffix("\n")
