"""The outputs of commands that process rows in batches: labels or row numbers, and distances."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import typer
from numpy.typing import NDArray

from boostkmeans.cli.files.output import (
    STDOUT,
    Output,
    check_ending,
    check_outputs,
    check_stdout_conflict,
    output_to,
)
from boostkmeans.cli.files.row_writer import WriteRows, row_writer
from boostkmeans.cli.options import CommonOptions

DISTANCES = "distances"


WriteBatch = Callable[..., None]
"""Write a batch: one array for each output, the main result first."""


@contextmanager
def writing_together(*outputs: AbstractContextManager[WriteRows] | None) -> Iterator[WriteBatch]:
    """Open outputs, the main one first, and return a function that writes a batch of each.

    If the reader of standard output closes the pipe, files are still completed. If there are no files,
    the command ends.
    """
    with ExitStack() as stack:
        # The main result last: it may be printed to a closed pipe.
        writers = [
            (stack.enter_context(output), position)
            for position, output in reversed(list(enumerate(outputs)))
            if output is not None
        ]
        has_outputs = bool(writers)

        def write(*batch: NDArray[Any]) -> None:
            nonlocal writers
            writers = [one for one in writers if one[0](batch[one[1]])]
            if has_outputs and not writers:
                raise typer.Exit(0)

        yield write


@dataclass(frozen=True)
class BatchOutputs:
    """Destinations of the main result and of the distances."""

    name: str
    """Name of the main result, "labels" or "indices", which is also its option."""
    main: Output | None
    distances: Output | None

    @classmethod
    def from_options(
        cls, name: str, main: str | None, distances: str | None, options: CommonOptions
    ) -> "BatchOutputs":
        """Return the outputs. Without a file, the main result is printed, unless JSON is printed."""
        if main is None and not options.as_json:
            main = STDOUT
        to_main = output_to(main, force=options.force)
        check_stdout_conflict(f"--{name}", to_main, as_json=options.as_json)
        return cls(name, to_main, output_to(distances, force=options.force))

    def check(
        self,
        inputs: Mapping[str, str],
        main_endings: tuple[str, ...],
        distance_endings: tuple[str, ...],
    ) -> None:
        """Raise an error if a file cannot be written, or if its name does not determine the format."""
        check_ending(f"--{self.name}", self.main, main_endings, stdout=True)
        if self.distances is not None and self.distances.is_stdout:
            raise ValueError(f"--distances must be a file: standard output is used for {self.name}.")
        check_ending("--distances", self.distances, distance_endings, stdout=False)
        check_outputs(inputs, {f"--{self.name}": self.main, "--distances": self.distances})

    @contextmanager
    def writing(
        self, shape: tuple[int, ...], main_type: Any, distance_type: Any
    ) -> Iterator[WriteBatch]:
        """Open the outputs, and return a function that writes a batch of both."""
        main = None if self.main is None else row_writer(self.main, shape, main_type)
        distances = None if self.distances is None else row_writer(self.distances, shape, distance_type)
        with writing_together(main, distances) as write:
            yield write

    @property
    def prints_main(self) -> bool:
        """True if standard output is used for the main result."""
        return self.main is not None and self.main.is_stdout

    @property
    def files(self) -> dict[str, str]:
        """Paths of the files by the names of the JSON output."""
        found = {self.name: self.main, DISTANCES: self.distances}
        return {name: one.path for name, one in found.items() if one is not None and not one.is_stdout}
