"""Progress goes to the logger "boostkmeans"; `verbose` makes it visible."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger("boostkmeans")

ProgressCallback = Callable[[str, int, int | None], None]
"""Called as `progress(what, done, total)` while something long goes on; a total of None is unknown."""


def ignore_progress(what: str, done: int, total: int | None) -> None:
    """Stands for a progress that nobody wants to see."""


@contextmanager
def visible_log(verbose: int) -> Iterator[None]:
    """While it lasts, records of the package pass if `verbose`: to stderr if nobody else listens."""
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
