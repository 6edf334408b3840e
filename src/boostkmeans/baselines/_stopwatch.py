"""Time of a fit, without the time that is spent on measuring it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Runs from its making on, but while it is paused."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """So far."""
        return time.perf_counter() - self._began

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For what the method itself would do without."""
        since = time.perf_counter()
        try:
            yield
        finally:
            self._began += time.perf_counter() - since
