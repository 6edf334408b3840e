"""Common parts of all commands: errors, progress, input and the printed result."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.errors import handle_errors
from boostkmeans.cli.files.input import open_input
from boostkmeans.cli.files.result_output import ResultOutput, Table
from boostkmeans.cli.listing import to_json_types
from boostkmeans.cli.options import CommonOptions, InputOptions
from boostkmeans.cli.progress_display import ProgressDisplay, log_steps, progress_display
from boostkmeans.io import Vectors

Result = dict[str, Any]
"""Result of a command: values by their names in the JSON output."""


@dataclass(frozen=True)
class Command:
    """A running command."""

    options: CommonOptions

    def progress(self) -> AbstractContextManager[ProgressDisplay]:
        """Show progress on standard error inside a `with` block."""
        return progress_display(verbose=self.options.verbose)

    def reporter(self, display: ProgressDisplay, unit: str) -> ProgressCallback:
        """Return a function that reports steps: as lines with --verbose, otherwise on the display."""
        return log_steps() if self.options.verbose else display.counter(unit)

    @contextmanager
    def reporting(self, unit: str) -> Iterator[ProgressCallback]:
        """Show the progress of steps inside a `with` block."""
        with self.progress() as display:
            yield self.reporter(display, unit)

    @contextmanager
    def reading(
        self, path: str | Sequence[str], options: InputOptions, *, model: str = "", dense: bool = False
    ) -> Iterator[tuple[Vectors, ProgressDisplay]]:
        """Open vectors and show progress inside a `with` block. See `open_input`."""
        with (
            self.progress() as display,
            open_input(path, display, options, model=model, dense=dense) as vectors,
        ):
            yield vectors, display

    def print_result(
        self, result: Result, listing: Callable[[Result], str], output: ResultOutput | None = None
    ) -> None:
        """Print the result as JSON or as the text that `listing` returns, or write it to a file."""
        to = output or ResultOutput(None)
        to.write(to_json_types(result), listing, as_json=self.options.as_json)

    def result_output(self, path: str | None, table: Table | None = None) -> ResultOutput:
        """Return the destination of the result for the value of -o."""
        options = self.options
        return ResultOutput.from_options(path, table, force=options.force, as_json=options.as_json)


@contextmanager
def command(options: CommonOptions) -> Iterator[Command]:
    """Run the body of a command: errors become messages and exit codes."""
    with handle_errors(debug=options.debug):
        yield Command(options)
