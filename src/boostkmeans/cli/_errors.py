"""Exit codes, and errors as a line on stderr instead of a traceback."""

import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from boostkmeans._errors import DataFormatError, NotFiniteError
from boostkmeans._printable import printable
from boostkmeans.cli import INTERRUPTED

FAILURE, USAGE, BAD_DATA = 1, 2, 3
# Of these, the user's own words on the command line are the cause.
WRONG_PATHS = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)


@contextmanager
def exit_codes(*, debug: bool) -> Iterator[None]:
    """While it lasts, errors become messages and exit codes, and warnings lines on stderr."""
    try:
        with _short_warnings(), _terminated_like_interrupted():
            yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        say(message_of(error))
        raise typer.Exit(code_of(error)) from None


def say(message: str) -> None:
    """A line to the user, beside the results."""
    with suppress(OSError):  # nobody listens
        print(f"boostkmeans: {printable(message)}", file=sys.stderr)


def code_of(error: Exception) -> int:
    """The exit code for an error."""
    if isinstance(error, (DataFormatError, NotFiniteError)):
        return BAD_DATA
    return USAGE if isinstance(error, (ValueError, *WRONG_PATHS)) else FAILURE


def message_of(error: Exception) -> str:
    """What to say about an error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    if isinstance(error, (ValueError, OSError, ImportError)):
        return str(error)
    return f"unexpected {type(error).__name__}: {error} (--debug tells where)"


@contextmanager
def _short_warnings() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """While it lasts, SIGTERM and SIGHUP are Ctrl-C: best results are kept, and nothing is half done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.default_int_handler) for number in _endings()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _endings() -> list[signal.Signals]:
    """Signals that end a process, without those that it was told to ignore, as `nohup` does."""
    hangup = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
    return [
        signal.SIGTERM, *(one for one in hangup if signal.getsignal(one) is not signal.SIG_IGN)
    ]  # fmt: skip
