"""Progress on standard error: a bar on a terminal, lines if requested, otherwise nothing."""

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

from boostkmeans._runtime.live_line import UPDATE_INTERVAL
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, logger

# A rate is shown only after this number of seconds, because it is inaccurate before.
MIN_SECONDS_FOR_RATE = 0.5
# On narrower terminals, the bar is omitted, because the text is more useful.
MIN_COLUMNS_FOR_BAR = 60
# Shortest time between two lines about the same step, in seconds.
LINE_INTERVAL = 5.0
# Width of the elapsed time.
CLOCK_COLUMNS = 7
# Spaces between the elapsed time, the description and the empty columns after it.
SPACES = 4


def _ignore_text(text: str) -> None:
    pass


@dataclass(frozen=True)
class ProgressDisplay:
    """Functions by which a command reports its progress."""

    report: ProgressCallback
    """Report progress as `report(what, done, total)`."""
    verbose: int
    """Value of the `verbose` parameter of estimators."""
    counter: Callable[[str], ProgressCallback]
    """Return a function like `report` that also shows a rate in a unit ("rows", "bytes")."""
    describe: Callable[[str], None] = _ignore_text
    """Show a text while the total is unknown."""
    width: int = 80
    """Number of characters that `describe` can show."""


@contextmanager
def progress_display(*, verbose: bool) -> Iterator[ProgressDisplay]:
    """Show progress on standard error inside a `with` block."""
    if verbose:
        with _attached_to_log(_line_handler()):
            yield _silent_display(verbose=1)
    elif sys.stderr is not None and sys.stderr.isatty():
        with _bar_display(Console(file=cast(IO[str], _FailSafeStream(sys.stderr)))) as display:
            yield display
    else:
        yield _silent_display(verbose=0)


def log_steps() -> ProgressCallback:
    """Return a function that logs each step when it begins, and then every few seconds."""
    last, begun = 0.0, ""

    def report(what: str, done: int, total: int | None) -> None:
        nonlocal last, begun
        now = time.monotonic()
        # The estimator logs its sweeps itself.
        if what.startswith("clustering") or (what == begun and now - last < LINE_INTERVAL):
            return
        last, begun = now, what
        logger.info("%s%s", what, "" if total is None else f": {done:,} of {total:,}")

    return report


def format_rate(per_second: float, unit: str) -> str:
    """Return a rate as text.

    >>> format_rate(1234567, "rows")
    '1,234,567 rows/s'
    """
    amount = decimal(int(per_second)) if unit == "bytes" else f"{per_second:,.0f} {unit}"
    return f"{amount}/s"


def format_count(number: float) -> str:
    """Return a number as text with two or three digits.

    >>> format_count(950), format_count(1234567), format_count(45_600)
    ('950', '1.2M', '46k')
    """
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.{0 if number >= 10 * unit else 1}f}{sign}"
    return f"{number:.0f}"


def join_within(parts: Sequence[str], width: int) -> str:
    """Join parts by commas, leaving out those that exceed the width.

    >>> join_within(["sweep 3", "distortion 2.5", "10 moves"], 24)
    'sweep 3, distortion 2.5'
    """
    text = parts[0]
    for part in parts[1:]:
        if len(text) + len(part) + 2 <= width:
            text = f"{text}, {part}"
    return text


class _FailSafeStream(io.TextIOBase):
    """A terminal whose write errors are ignored, so that a closed terminal does not end a fit."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write the text if possible."""
        with suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the terminal if possible."""
        with suppress(OSError):
            self._file.flush()

    def isatty(self) -> bool:
        """Return True if the wrapped file is a terminal."""
        return self._file.isatty()

    def fileno(self) -> int:
        """Return the file descriptor of the wrapped file."""
        return self._file.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of the wrapped file."""
        return str(getattr(self._file, "encoding", None) or "utf-8")


class _KnownTotalBar(BarColumn):
    """A bar if the total is known, otherwise nothing, which leaves room for the description."""

    def render(self, task: Task) -> ProgressBar | Text:  # type: ignore[override]
        """Return the bar or an empty text."""
        return Text("") if task.total is None else super().render(task)


def _columns(width: int) -> list[ProgressColumn]:
    """Return the columns. The time is first, because narrow terminals cut off the end of the line."""
    text = Column(no_wrap=True, overflow="ellipsis")
    bar = [_KnownTotalBar()] if width >= MIN_COLUMNS_FOR_BAR else []
    return [
        TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=CLOCK_COLUMNS)),
        TextColumn("{task.description}", table_column=text),
        *bar,
        TaskProgressColumn(),
        TextColumn("{task.fields[pace]}", table_column=text.copy()),
    ]


def _silent_display(*, verbose: int) -> ProgressDisplay:
    return ProgressDisplay(ignore_progress, verbose, lambda _: ignore_progress)


@dataclass
class _Phase:
    """A step of the command: its name, start time and first count."""

    what: str
    start: float
    first: int

    def pace(self, done: int, total: int | None, unit: str) -> str:
        """Return the rate and the remaining time, or "" if they are unknown."""
        seconds = time.monotonic() - self.start
        if not unit or seconds < MIN_SECONDS_FOR_RATE or done <= self.first:
            return ""
        rate = (done - self.first) / seconds
        if total is None:
            return format_rate(rate, unit)
        left = timedelta(seconds=round(max(0, total - done) / rate))
        return f"{format_rate(rate, unit)}, {left} left"


class _Bar(logging.Handler):
    """One bar for all steps. While no total is known, it shows the log messages of the package."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        self._task_id = progress.add_task("starting", total=None, pace="")
        self._phase = _Phase("", time.monotonic(), 0)
        self._last_update = 0.0
        self._is_described = False

    def update(self, what: str, done: int, total: int | None, unit: str = "") -> None:
        """Show the progress of a step, at most once per interval."""
        now = time.monotonic()
        is_new = what != self._phase.what
        if not is_new and now - self._last_update < UPDATE_INTERVAL and done != total:
            return
        if is_new:
            self._phase = _Phase(what, now, done)
        self._last_update = now
        pace = self._phase.pace(done, total, unit)
        if total is not None:
            self._progress.update(
                self._task_id, description=escape(what), completed=done, total=total, pace=pace
            )
        else:
            self._progress.update(self._task_id, description=escape(what), pace=pace)
            self._task.total = None  # `update(total=None)` would keep the old total

    def counter(self, unit: str) -> ProgressCallback:
        """Return a function that shows progress with a rate in this unit."""
        return lambda what, done, total: self.update(what, done, total, unit)

    def describe(self, text: str) -> None:
        """Show a text while the total is unknown."""
        self._is_described = True
        self.update(text, 0, None)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a log message. Details are omitted if the command describes its own progress."""
        is_detail = self._is_described and record.levelno < logging.INFO
        if self._task.total is None and not is_detail:
            self.update(record.getMessage(), 0, None)

    @property
    def _task(self) -> Task:
        return self._progress.tasks[0]


@contextmanager
def _bar_display(console: Console) -> Iterator[ProgressDisplay]:
    with Progress(*_columns(console.width), console=console, transient=True) as progress:
        bar = _Bar(progress)
        width = console.width - CLOCK_COLUMNS - SPACES
        with _attached_to_log(bar):
            yield ProgressDisplay(bar.update, 2, bar.counter, bar.describe, width)


def _line_handler() -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("boostkmeans: %(message)s"))
    return handler


@contextmanager
def _attached_to_log(handler: logging.Handler) -> Iterator[None]:
    """Send the log messages of the package to the handler only.

    The level is INFO; the `verbose` parameter of an estimator lowers it during a fit.
    """
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
