"""Errors and warnings as one-line messages on standard error, and exit codes."""

import signal
import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import typer

from boostkmeans._runtime.errors import ParameterConflictError, StructuredError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.cli.exit_codes import BAD_DATA, FAILURE, INTERRUPTED, USAGE_ERROR

# Errors about file names that the user typed.
PATH_ERRORS = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)
# Options whose name differs from that of the parameter.
OPTIONS = {
    "n_clusters": "-k",
    "n_candidates": "--candidates",
    "sample_weight": "--weights",
    "random_state": "--seed",
    "n_threads": "--threads",
    "max_features": "--max-terms",
    "ngram_range": "--ngrams",
    "sublinear_tf": "--sublinear",
    "n_subspaces": "--subspaces",
    "n_centroids": "--centroids",
    "id_column": "--id",
    "n_jobs": "--threads",
    "ks": "-k",
    "n_references": "--references",
    "n_words": "--words",
    "n_components": "--components",
    "X_new": "NEW",
    "X_removed": "--removed",
    "X": "--rows",
    "X_weight": "--row-weights",
    "removed_weight": "--removed-weights",
    "n_neighbours": "--neighbours",
    "n_checked": "--check",
    "n": "-n",
}
# Number of characters of a repeated warning that are shown with its count.
MAX_REPEATED_SHOWN = 40

_warning_subject: ContextVar[str] = ContextVar("warning_subject", default="")


@contextmanager
def handle_errors(*, debug: bool) -> Iterator[None]:
    """Turn errors into messages and exit codes, and warnings into messages."""
    try:
        with _short_warnings(), _signals_as_interrupt():
            yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        print_message("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        print_message(message_of(error))
        raise typer.Exit(exit_code_of(error)) from None


@contextmanager
def name_files(source: str, model: str = "") -> Iterator[None]:
    """Add the names of the data file and the model file to structured errors."""
    try:
        yield
    except StructuredError as error:
        error.source = error.source or source
        error.model = error.model or model
        raise


@contextmanager
def rename_options(**names: str) -> Iterator[None]:
    """Use other options for some parameters in messages about conflicting parameters."""
    try:
        yield
    except ParameterConflictError as error:
        error.option_names = names
        raise


def print_message(message: str) -> None:
    """Print a line on standard error."""
    with suppress(OSError):  # the terminal may be closed
        print(f"boostkmeans: {escape_untrusted(message)}", file=sys.stderr)


def exit_code_of(error: Exception) -> int:
    """Return the exit code for an error."""
    if isinstance(error, StructuredError):
        return BAD_DATA if error.is_about_data else USAGE_ERROR
    return USAGE_ERROR if isinstance(error, (ValueError, *PATH_ERRORS)) else FAILURE


def message_of(error: Exception) -> str:
    """Return the message for an error."""
    if isinstance(error, StructuredError):
        return error.render(lambda name: error.option_names.get(name) or option_name(name))
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    if isinstance(error, (ValueError, OSError, ImportError)):
        return str(error)
    return f"unexpected {type(error).__name__}: {error} (use --debug for a traceback)"


def option_name(parameter: str) -> str:
    """Return the option that sets a parameter.

    >>> option_name("n_clusters"), option_name("max_time")
    ('-k', '--max-time')
    """
    return OPTIONS.get(parameter, "--" + parameter.replace("_", "-"))


def set_warning_subject(subject: str) -> None:
    """Set the name that warnings begin with. An empty name removes it."""
    _warning_subject.set(subject)


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Print each warning once, and at the end how often repeated warnings occurred."""
    counts: Counter[str] = Counter()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        render = getattr(message, "render", None)  # warnings that mention parameters have this method
        text = str(message) if render is None else render(option_name)
        subject = _warning_subject.get()
        text = f"{subject}: {text}" if subject else text
        counts[text] += 1
        if counts[text] == 1:
            print_message(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        finally:
            set_warning_subject("")
            for text, count in counts.items():
                if count > 1:
                    print_message(f"warning: {text[:MAX_REPEATED_SHOWN]}... ({count} times)")


@contextmanager
def _signals_as_interrupt() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that results are saved and no file is incomplete."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.default_int_handler) for number in _end_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_signals() -> list[signal.Signals]:
    """Return the signals that end a process. SIGHUP stays ignored under `nohup`."""
    found = [signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found
