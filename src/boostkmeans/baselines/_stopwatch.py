"""Time of a fit, without the time spent on measuring it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Clock that starts when it is created and can be paused."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the start, without pauses."""
        return time.perf_counter() - self._start

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock within the context."""
        pause = time.perf_counter()
        try:
            yield
        finally:
            self._start += time.perf_counter() - pause
