"""Progress reports: callbacks, and the logger "boostkmeans" that `verbose` makes visible."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from boostkmeans._runtime.live_line import (
    SHARE,
    LiveLine,
    NotebookSurface,
    TerminalSurface,
    in_notebook,
    is_terminal,
)

logger = logging.getLogger("boostkmeans")

ProgressCallback = Callable[[str, int, int | None], None]
"""Function called as `progress(what, done, total)` during long work; `total` is None if unknown."""

# Names of the current parts of the work, such as "run 2 of 5" and "sample", outermost first.
_stages: ContextVar[tuple[str, ...]] = ContextVar("stages", default=())

# Largest number of sweeps of the current fit; None if it is unknown.
_max_sweeps: ContextVar[int | None] = ContextVar("max_sweeps", default=None)


def ignore_progress(what: str, done: int, total: int | None) -> None:
    """Ignore a progress report; the default callback."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name a part of the work, such as "run 2 of 5", for the log messages of the block.

    An empty name adds nothing.
    """
    token = _stages.set((*_stages.get(), name) if name else _stages.get())
    try:
        yield
    finally:
        _stages.reset(token)


def run_name(number: int, n_runs: int) -> str:
    """Return the name of a run, counted from 0, as a stage; "" if there is only one.

    >>> run_name(1, 5)
    'run 2 of 5'
    """
    return f"run {number + 1} of {n_runs}" if n_runs > 1 else ""


def stage_prefix() -> str:
    """Return the names of the current stages for the beginning of a log message."""
    return "".join(f"{name}, " for name in _stages.get())


def sweep_share(n_sweeps: int) -> dict[str, float | None]:
    """Return the extra field of a log record that a progress bar shows: the share of the sweeps."""
    most = _max_sweeps.get()
    return {SHARE: min(1.0, n_sweeps / most) if most else None}


@contextmanager
def visible_log(verbose: int, max_sweeps: int | None = None) -> Iterator[None]:
    """Show the log messages of the package while the block runs, if `verbose` is positive.

    If the application has configured a log handler, messages go there. Otherwise `verbose=1` shows the
    latest message on one line of the terminal, or below a progress bar in the notebook. If there is
    neither, and if `verbose` is above 1, messages are lines on stderr. `verbose` above 1 shows debug
    messages, too. The bar is full after `max_sweeps` sweeps, or when the block ends.
    """
    if not verbose:
        yield
        return
    handler = _handler(verbose)
    level, propagate = logger.level, logger.propagate
    if handler is not None:
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    token = _max_sweeps.set(max_sweeps)
    try:
        yield
    finally:
        _max_sweeps.reset(token)
        logger.setLevel(level)
        if handler is not None:
            logger.removeHandler(handler)
            logger.propagate = propagate
        if isinstance(handler, LiveLine):
            handler.finish()


def _handler(verbose: int) -> logging.Handler | None:
    """Return a handler for the messages, or None if the application handles them."""
    notebook = in_notebook()
    if _is_configured(notebook=notebook):
        return None
    if verbose == 1 and notebook:
        return LiveLine(NotebookSurface())
    if verbose == 1 and is_terminal(sys.stderr):
        return LiveLine(TerminalSurface(sys.stderr))
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[boostkmeans] %(message)s"))
    return handler


def _is_configured(*, notebook: bool) -> bool:
    """Return True if the application has configured a handler for messages of the package.

    Some notebooks, such as Colab's, come with a handler of the root logger that is meant for warnings.
    """
    if notebook and not logger.handlers:
        return logging.root.isEnabledFor(logging.INFO) and logger.hasHandlers()
    return logger.hasHandlers()
