"""Exit codes, and errors as a line on stderr instead of a traceback."""

import re
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

from boostkmeans._runtime.errors import ChoiceError, DataFormatError, NotFiniteError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.cli import INTERRUPTED

FAILURE, USAGE, BAD_DATA = 1, 2, 3
# Of these, the user's own words on the command line are the cause.
WRONG_PATHS = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)
# Parameters whose option has another name.
OPTIONS = {
    "n_clusters": "-k", "n_candidates": "--candidates", "sample_weight": "--weights",
    "random_state": "--seed", "n_threads": "--threads", "max_features": "--max-terms",
    "ngram_range": "--ngrams", "sublinear_tf": "--sublinear", "n_subspaces": "--subspaces",
    "n_centroids": "--centroids",
}  # fmt: skip
# Parameters that messages name without quotes, and that are no words of English.
NAMED = (
    "n_clusters|n_candidates|sample_weight|random_state|n_threads|max_features|ngram_range|max_memory"
    "|min_size|max_size|max_time|max_iter|n_init|min_df|max_df|n_subspaces|n_centroids"
)
# What the package says to those who write Python, and what it is on the command line.
PHRASES = (
    (r"n_samples=(\d+) should be >= n_clusters=(\d+)\.", r"-k \2 is more than the \1 rows."),
    (
        r"n_subspaces=(\d+) does not divide n_features=(\d+)\.",
        r"--subspaces \1 does not divide the \2 features.",
    ),
    (
        r"n_samples=(\d+) should be >= n_centroids=(\d+):",
        r"--centroids \2 is more than the \1 rows:",
    ),
    (r"(?<![\w/])key=(\[\.\.\.\]|\.\.\.)", "--key NAME"),
    (r"(?<![\w/])key='([^']*)'", r"--key \1"),
    (r"\bby key\.", "by --key."),
    (r"^key must", "--key must"),
    (r"(?<![\w/])format=\.\.\. with", "--format with"),
    (r"(?<![\w/])format='([^']*)'", r"--format \1"),
    (r"or give the format\.", "or name the format with --to."),
    (r"an int in the range \[(\d+), inf\)", r"a whole number from \1 on"),
    (r"a float in the range \((\d+), inf\)", r"a number above \1"),
    (r"a float in the range \[(\d+), inf\)", r"a number from \1 on"),
    (r"a str among \{([^}]*)\}", r"one of \1"),
    (r"(Got .*) instead\.$", r"\1."),
    (
        r"Centres given as init have shape \((\d+), (\d+)\), expected .* = \((\d+), (\d+)\)\.",
        r"--init has \1 centres of \2 features. Expected are \3 of \4.",
    ),
    (r"Centres given as init", "The centres of --init"),
    (
        r"sample_weight\.shape == \((\d+),\), expected \((\d+),\): one weight for each row\.",
        r"--weights has \1 values for \2 rows: one for each row is needed.",
    ),
    (r"Negative values in data passed to sample_weight", "Negative weights in --weights"),
    (r"Input sample_weight contains", "--weights contains"),
    (r"Sample weights must contain at least one non-zero number", "All weights of --weights are 0"),
    (r"\bn_samples\b", "the number of rows"),
)
# Complaints about data, not about how the command was used.
BAD_VALUES = re.compile(
    r"sample_weight: .* at row|sample_weight contains NaN|Sample weights must contain"
    r"|given as init contain"
)
# Characters that tell which warning came again.
SHOWN_OF_REPEATED = 40
EMPTY = re.compile(r"Found array with 0 (sample|feature)")
OTHER_WIDTH = re.compile(r"X has (\d+) features, but \w+ is expecting (\d+) features")

_subject: ContextVar[str] = ContextVar("subject", default="")


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
        print(f"boostkmeans: {escape_untrusted(message)}", file=sys.stderr)


def code_of(error: Exception) -> int:
    """The exit code for an error."""
    if isinstance(error, (DataFormatError, NotFiniteError)) and not isinstance(error, ChoiceError):
        return BAD_DATA
    return USAGE if isinstance(error, (ValueError, *WRONG_PATHS)) else FAILURE


def message_of(error: Exception) -> str:
    """What to say about an error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory. {in_options(str(error))}".strip()
    if isinstance(error, ValueError):
        return in_options(str(error))
    if isinstance(error, (OSError, ImportError)):
        return str(error)
    return f"unexpected {type(error).__name__}: {error} (--debug tells where)"


def option_of(parameter: str) -> str:
    """The option that stands for a parameter."""
    return OPTIONS.get(parameter, "--" + parameter.replace("_", "-"))


def in_options(text: str) -> str:
    """A message of the package, in words of the command line."""

    def option(match: re.Match[str]) -> str:
        return option_of(match[1])

    text = re.sub(r"The '(\w+)' parameter of \w+", option, text)
    for pattern, replacement in PHRASES:
        text = re.sub(pattern, replacement, text)
    # Not within names of files.
    return re.sub(rf"(?<![\w./'-])({NAMED})(?![\w/'-]|\.\w)", option, text)


def about(error: ValueError, source: str, model: str | None) -> ValueError:
    """The same error with the names of the files that it is about, and whether these are at fault."""
    text = str(error)
    width = OTHER_WIDTH.match(text)
    if isinstance(error, NotFiniteError):
        return DataFormatError(f"{source}: {text}")
    if isinstance(error, DataFormatError):
        return error
    if width is not None:
        other = "the model" if model is None else model
        return DataFormatError(
            f"{source} has {width[1]} features, and {other} has {width[2]}. They must be the same."
        )
    if empty := EMPTY.match(text):
        what = "rows" if empty[1] == "sample" else "features"
        return DataFormatError(f"{source}: there are no {what} in it.")
    if BAD_VALUES.search(text):
        return DataFormatError(in_options(text))
    if few := re.fullmatch(r"n_samples=(\d+) should be >= n_clusters=(\d+)\.", text):
        return ValueError(f"-k {few[2]} is more than the {int(few[1]):,} rows of {source}.")
    return error


def warn_about(subject: str) -> None:
    """Warnings from now on begin with this name; with none, if it is empty."""
    _subject.set(subject)


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Each message once, when it comes up; at the end, how often those came that came again."""
    seen: Counter[str] = Counter()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        subject = _subject.get()
        text = in_options(f"{subject}: {message}" if subject else str(message))
        seen[text] += 1
        if seen[text] == 1:
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        finally:
            warn_about("")
            for text, times in seen.items():
                if times > 1:
                    say(f"warning: {text[:SHOWN_OF_REPEATED]}... ({times} times)")


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
