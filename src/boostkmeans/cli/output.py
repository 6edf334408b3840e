"""Results: to standard output, or to files that are not overwritten by accident."""

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

import typer

from boostkmeans._storage.atomic_file import atomic_write, atomic_write_text, check_target
from boostkmeans.cli import drop_stdout

STDOUT = "-"


@dataclass(frozen=True)
class Output:
    """Where a result goes: to a file, or for "-" to standard output."""

    path: str
    force: bool

    @property
    def ending(self) -> str:
        """Of the name of the file, with its dot, in small letters."""
        return Path(self.path).suffix.lower()

    def check(self) -> None:
        """Raises an error if it cannot go there, as far as that can be told beforehand."""
        if self.path == STDOUT:
            return
        with writing_to(self.path):
            check_target(self.path, force=self.force)
        target = Path(self.path).resolve()
        place = target if target.exists() and not target.is_file() else target.parent
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, "No permission to write there", self.path)

    def write(self, text: str) -> None:
        """Writes the result, and a line break at its end."""
        if self.path == STDOUT:
            print_result(text)
        else:
            with writing_to(self.path):
                atomic_write_text(self.path, text + "\n", force=self.force)

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """A file for bytes, which is there as a whole or not at all."""
        with ExitStack() as stack:
            with writing_to(self.path):
                file = stack.enter_context(atomic_write(self.path, force=self.force))
            yield file  # what goes wrong meanwhile may be about another file
            with writing_to(self.path):
                stack.close()


def check_outputs(inputs: Mapping[str, str | None], outputs: Mapping[str, Output | None]) -> None:
    """All at once, before the work begins: nothing that is read or written must be lost.

    Both are by the names that the user knows them by.
    """
    taken = {_place(path): name for name, path in inputs.items() if path is not None and path != STDOUT}
    for name, output in outputs.items():
        if output is None or output.path == STDOUT:
            continue
        output.check()
        place = _place(output.path)
        if place in taken and not _is_device(output.path):
            raise ValueError(
                f"{output.path} cannot be both {taken[place]} and {name}: give them names of their own."
            )
        taken[place] = name


def _place(path: str) -> object:
    """What tells files apart, whatever their names."""
    try:
        status = Path(path).stat()
    except OSError:
        return Path(path).resolve()
    return status.st_dev, status.st_ino


def _is_device(path: str) -> bool:
    return Path(path).exists() and not Path(path).is_file()


def check_matplotlib(who: str) -> None:
    """Raises an error if there is nothing to draw with: before the work, not after it."""
    if find_spec("matplotlib") is None:
        raise ImportError(f"{who} needs matplotlib: pip install boostkmeans[plot]")


def print_result(text: str) -> None:
    """To standard output. If its reader has gone away, that is not an error: it had enough."""
    if not print_part(text + "\n"):
        raise typer.Exit(0)


def print_part(text: str) -> bool:
    """The same for a part of a result, as it is. False if its reader has gone away."""
    if sys.stdout is None:  # closed by the caller
        return True
    encoding = sys.stdout.encoding or "utf-8"
    safe = text.encode(encoding, errors="backslashreplace").decode(encoding)
    try:
        sys.stdout.write(safe)
        sys.stdout.flush()
    except OSError as error:
        drop_stdout()
        if isinstance(error, BrokenPipeError):
            return False
        raise OSError(error.errno, error.strerror, "standard output") from None
    return True


@contextmanager
def writing_to(path: str) -> Iterator[None]:
    """While it lasts, errors name this file, and that about one that is there names the option."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise OSError(error.errno, error.strerror, path) from None
        if isinstance(error, FileExistsError):
            raise FileExistsError(f"{path} exists: --force overwrites it.") from None
        raise
