"""Common parts of all commands: errors, progress, input and the printed result."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.errors import handle_errors
from boostkmeans.cli.files.input import open_input
from boostkmeans.cli.listing import to_json_types
from boostkmeans.cli.options import CommonOptions, InputOptions
from boostkmeans.cli.progress_display import ProgressDisplay, log_steps, progress_display
from boostkmeans.cli.stdout import print_result
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

    def print_result(self, result: Result, listing: Callable[[Result], str]) -> None:
        """Print the result as JSON, or as the text that `listing` returns."""
        values = to_json_types(result)
        print_result(json.dumps(values, allow_nan=False) if self.options.as_json else listing(values))


@contextmanager
def command(options: CommonOptions) -> Iterator[Command]:
    """Run the body of a command: errors become messages and exit codes."""
    with handle_errors(debug=options.debug):
        yield Command(options)
