"""Progress on stderr: a bar on a terminal, lines if they are wanted, else nothing."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from boostkmeans import _progress

# The least time between two pictures of the bar, in seconds.
PAUSE = 0.1


@dataclass(frozen=True)
class Shown:
    """How functions are to tell of their progress."""

    progress: _progress.Progress
    verbose: int


@contextmanager
def shown_progress(*, verbose: bool) -> Iterator[Shown]:
    """While it lasts, progress is shown as it suits stderr."""
    console = Console(stderr=True)
    if verbose:
        with _listening(_lines()):
            yield Shown(_progress.ignored, 1)
    elif console.is_terminal:
        with _bar(console) as shown:
            yield shown
    else:
        yield Shown(_progress.ignored, 0)


@contextmanager
def _bar(console: Console) -> Iterator[Shown]:
    """One bar for all that happens; where no end is known, what the package logs stands beside it."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        number = bar.add_task("starting", total=None)
        (task,) = bar.tasks
        last = 0.0

        def update(what: str, done: int, total: int | None) -> None:
            nonlocal last
            if total is None and (done == 0 or task.total is not None):
                bar.update(number, description=escape(what))
                task.total = None  # which `update` takes for "as it was"
            elif total is not None and time.monotonic() - last > PAUSE:
                bar.update(number, description=escape(what), completed=done, total=total)
                last = time.monotonic()

        class Describe(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                if task.total is None:
                    bar.update(number, description=escape(record.getMessage()))

        with _listening(Describe()):
            yield Shown(update, 2)


def _lines() -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("boostkmeans: %(message)s"))
    return handler


@contextmanager
def _listening(handler: logging.Handler) -> Iterator[None]:
    """With its logger at the lowest level of the package: `verbose` decides what is said."""
    level, propagate = _progress.logger.level, _progress.logger.propagate
    _progress.logger.addHandler(handler)
    _progress.logger.setLevel(logging.INFO)
    _progress.logger.propagate = False
    try:
        yield
    finally:
        _progress.logger.removeHandler(handler)
        _progress.logger.setLevel(level)
        _progress.logger.propagate = propagate
