"""Results: to standard output, or to files that are not overwritten by accident."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from boostkmeans._whole_file import check_target, write_whole

STDOUT = "-"


@dataclass(frozen=True)
class Output:
    """Where a result goes: to a file, or for "-" to standard output."""

    path: str
    force: bool

    def check(self) -> None:
        """Raises an error if it cannot go there, as far as that can be told beforehand."""
        if self.path != STDOUT:
            with _told_about_force():
                check_target(self.path, force=self.force)

    def write(self, text: str) -> None:
        """Writes the result, and a line break at its end."""
        if self.path == STDOUT:
            print_result(text)
        else:
            with _told_about_force():
                write_whole(self.path, text + "\n", force=self.force)


def print_result(text: str) -> None:
    """To standard output. If its reader has gone away, that is not an error: it had enough."""
    if sys.stdout is None:  # closed by the caller
        return
    encoding = sys.stdout.encoding or "utf-8"
    safe = text.encode(encoding, errors="backslashreplace").decode(encoding)
    try:
        sys.stdout.write(safe + "\n")
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(0) from None
        raise


@contextmanager
def _told_about_force() -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise FileExistsError(f"{error} Use --force to do so.") from None
