"""Progress reports: callbacks, and the logger "boostkmeans" that `verbose` makes visible."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger("boostkmeans")

ProgressCallback = Callable[[str, int, int | None], None]
"""Function called as `progress(what, done, total)` during long work; `total` is None if unknown."""


def ignore_progress(what: str, done: int, total: int | None) -> None:
    """Ignore a progress report; the default callback."""


@contextmanager
def visible_log(verbose: int) -> Iterator[None]:
    """Enable the log messages of the package while the block runs, if `verbose` is positive.

    Messages go to stderr unless the application has configured a log handler. `verbose` above 1 shows
    debug messages too.
    """
    if not verbose:
        yield
        return
    level = logger.level
    handler = None if logger.hasHandlers() else logging.StreamHandler()
    if handler is not None:
        handler.setFormatter(logging.Formatter("[boostkmeans] %(message)s"))
        logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        if handler is not None:
            logger.removeHandler(handler)
