"""The course of scikit-learn's k-means, read from the lines that it prints.

It has no callback, but with `verbose` it prints a line with the inertia after each iteration.
"""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any, cast

from boostkmeans.baselines._stopwatch import Stopwatch

ITERATION = re.compile(r"Iteration \d+, inertia (\d[\d.e+-]*?|inf|nan)\.?$")
OTHER_LINES = ("Initialization complete", "Converged at iteration")

# stdout belongs to the whole process: one fit at a time may stand in for it.
_stdout_taken = threading.Lock()


class IterationLog:
    """Stands in for stdout: keeps what k-means prints in this thread, and passes on everything else."""

    def __init__(self, stdout: Any, watch: Stopwatch) -> None:
        self._stdout = stdout
        self._watch = watch
        self._thread = threading.get_ident()
        self._line = ""
        self.entries: list[tuple[float, float]] = []
        """Seconds and inertia of each iteration."""

    def write(self, text: str) -> int:
        """What `print` calls, with parts of lines."""
        if threading.get_ident() != self._thread:
            self._pass_on(text)
            return len(text)
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._take(line)
        return len(text)

    def flush(self) -> None:
        """Passed on."""
        if self._stdout is not None:
            self._stdout.flush()

    def close_line(self) -> None:
        """What was written without an end of line belongs to somebody else."""
        self._pass_on(self._line)
        self._line = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout, name)

    def _take(self, line: str) -> None:
        iteration = ITERATION.match(line)
        if iteration:
            self.entries.append((self._watch.seconds, float(iteration[1])))
        elif not line.startswith(OTHER_LINES):
            self._pass_on(line + "\n")

    def _pass_on(self, text: str) -> None:
        if self._stdout is not None:  # as in programs without a console
            self._stdout.write(text)


@contextmanager
def reading(watch: Stopwatch) -> Iterator[IterationLog]:
    """Within it, the lines of k-means go to the log."""
    with _stdout_taken:
        log = IterationLog(sys.stdout, watch)
        with redirect_stdout(cast(IO[str], log)):
            try:
                yield log
            finally:
                log.close_line()
