"""Printing results on standard output."""

import os
import sys


def print_result(text: str) -> None:
    """Print a complete result, and exit with code 0 if the reader has closed the pipe."""
    if not print_part(text + "\n"):
        raise SystemExit(0)


def print_part(text: str) -> bool:
    """Print a part of a result without a line break. Return False if the reader has closed the pipe."""
    if sys.stdout is None:  # the caller started the process with a closed standard output
        return True
    encoding = sys.stdout.encoding or "utf-8"
    safe = text.encode(encoding, errors="backslashreplace").decode(encoding)
    try:
        sys.stdout.write(safe)
        sys.stdout.flush()
    except OSError as error:
        discard_stdout()
        if isinstance(error, BrokenPipeError):
            return False
        raise OSError(error.errno, error.strerror, "standard output") from None
    return True


def discard_stdout() -> None:
    """Redirect standard output to the null device.

    Python flushes its buffer once more at exit, which would fail again.
    """
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
