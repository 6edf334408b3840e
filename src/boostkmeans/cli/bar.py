"""Progress on stderr: a bar on a terminal, lines if they are wanted, else nothing."""

import io
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, cast

from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress_bar import ProgressBar
from rich.table import Column
from rich.text import Text

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, logger

# The least time between two pictures of the bar, in seconds.
PAUSE = 0.1
# Before this many seconds, a rate says nothing.
SECONDS_FOR_RATE = 0.5
# Of a terminal: where there are fewer, words are worth more than a bar.
COLUMNS_FOR_BAR = 60
# Of the clock, and of the spaces between it and what has no end to show.
COLUMNS_OF_CLOCK, SPACES = 7, 4


def _ignored_text(text: str) -> None:
    pass


@dataclass(frozen=True)
class Shown:
    """How functions are to tell of their progress."""

    progress: ProgressCallback
    verbose: int
    counting: Callable[[str], ProgressCallback]
    """Progress of what is counted in "rows" or "bytes": with a rate, and the time left."""
    describe: Callable[[str], None] = _ignored_text
    """Says what goes on where no end is known."""
    width: int = 80
    """Characters that `describe` has room for."""


@contextmanager
def shown_progress(*, verbose: bool) -> Iterator[Shown]:
    """While it lasts, progress is shown as it suits stderr."""
    if verbose:
        with _listening(_lines()):
            yield _unseen(1)
    elif sys.stderr is not None and sys.stderr.isatty():
        with _bar(Console(file=cast(IO[str], _Patient(sys.stderr)))) as shown:
            yield shown
    else:
        yield _unseen(0)


def rate_of(per_second: float, unit: str) -> str:
    """For people.

    >>> rate_of(1234567, "rows")
    '1,234,567 rows/s'
    """
    shown = decimal(int(per_second)) if unit == "bytes" else f"{per_second:,.0f} {unit}"
    return f"{shown}/s"


def short_count(number: float) -> str:
    """With two or three digits.

    >>> short_count(950), short_count(1234567), short_count(45_600)
    ('950', '1.2M', '46k')
    """
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.{0 if number >= 10 * unit else 1}f}{sign}"
    return f"{number:.0f}"


def joined(parts: Sequence[str], width: int) -> str:
    """As many of the parts as there is room for, the first ones first.

    >>> joined(["sweep 3", "distortion 2.5", "10 moves"], 24)
    'sweep 3, distortion 2.5'
    """
    text = parts[0]
    for part in parts[1:]:
        if len(text) + len(part) + 2 <= width:
            text = f"{text}, {part}"
    return text


class _Patient(io.TextIOBase):
    """A terminal, or what is left of one that was hung up: results are worth more than a bar."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """What cannot be shown is not."""
        with suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """The same."""
        with suppress(OSError):
            self._file.flush()

    def isatty(self) -> bool:
        """As the terminal was."""
        return self._file.isatty()

    def fileno(self) -> int:
        """That of the terminal."""
        return self._file.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the terminal."""
        return str(getattr(self._file, "encoding", None) or "utf-8")


class _BarOfKnown(BarColumn):
    """A bar where the end is known, and otherwise room for words."""

    def render(self, task: Task) -> ProgressBar | Text:  # type: ignore[override]
        """For the table of rich."""
        return Text("") if task.total is None else super().render(task)


def _columns(width: int) -> list[ProgressColumn]:
    """The clock comes first: where there is not enough room, the end of a line is cut off."""
    words = Column(no_wrap=True, overflow="ellipsis")
    bar = [_BarOfKnown()] if width >= COLUMNS_FOR_BAR else []
    return [
        TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=COLUMNS_OF_CLOCK)),
        TextColumn("{task.description}", table_column=words),
        *bar,
        TaskProgressColumn(),
        TextColumn("{task.fields[pace]}", table_column=words.copy()),
    ]


def _unseen(verbose: int) -> Shown:
    return Shown(ignore_progress, verbose, lambda _: ignore_progress)


@dataclass
class _Phase:
    """What goes on, since when, and from where on."""

    what: str
    began: float
    first: int

    def pace(self, done: int, total: int | None, unit: str) -> str:
        seconds = time.monotonic() - self.began
        if not unit or seconds < SECONDS_FOR_RATE or done <= self.first:
            return ""
        rate = (done - self.first) / seconds
        if total is None:
            return rate_of(rate, unit)
        left = timedelta(seconds=round(max(0, total - done) / rate))
        return f"{rate_of(rate, unit)}, {left} left"


@contextmanager
def _bar(console: Console) -> Iterator[Shown]:
    """One bar for all that happens; where no end is known, what the package logs stands beside it."""
    with Progress(*_columns(console.width), console=console, transient=True) as bar:
        number = bar.add_task("starting", total=None, pace="")
        (task,) = bar.tasks
        phase = _Phase("", time.monotonic(), 0)
        last, told = 0.0, False

        def update(what: str, done: int, total: int | None, unit: str = "") -> None:
            nonlocal last, phase
            begins = what != phase.what
            if not begins and time.monotonic() - last < PAUSE and done != total:
                return
            if begins:
                phase = _Phase(what, time.monotonic(), done)
            last = time.monotonic()
            pace = phase.pace(done, total, unit)
            if total is not None:
                bar.update(number, description=escape(what), completed=done, total=total, pace=pace)
            else:
                bar.update(number, description=escape(what), pace=pace)
                task.total = None  # which `update` takes for "as it was"

        def counting(unit: str) -> ProgressCallback:
            return lambda what, done, total: update(what, done, total, unit)

        def describe(text: str) -> None:
            nonlocal told
            told = True
            update(text, 0, None)

        class Describe(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                # Where a command tells itself, details of the package would only get in its way.
                if task.total is None and not (told and record.levelno < logging.INFO):
                    update(record.getMessage(), 0, None)

        with _listening(Describe()):
            yield Shown(update, 2, counting, describe, console.width - COLUMNS_OF_CLOCK - SPACES)


def _lines() -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("boostkmeans: %(message)s"))
    return handler


@contextmanager
def _listening(handler: logging.Handler) -> Iterator[None]:
    """With its logger at the lowest level of the package: `verbose` decides what is said."""
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
