"""Time and inertia of each iteration of scikit-learn's k-means, parsed from its printed lines.

scikit-learn's KMeans has no callback, and calling it once per iteration (``max_iter=1``) takes three
times as long and gives slightly different results, because each call prepares X and rounds the centres
again.
"""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any, cast

from boostkmeans.baselines._stopwatch import Stopwatch

# Line that KMeans(verbose=1) prints after each iteration.
ITERATION = re.compile(r"Iteration \d+, inertia (\d[\d.e+-]*?|inf|nan)\.?$")
# Beginnings of its other lines, which are dropped.
OTHER_LINES = ("Initialization complete", "Converged at iteration")

# stdout belongs to the whole process, so only one fit at a time may replace it.
_stdout_lock = threading.Lock()


class IterationLog:
    """Replacement of stdout that records the lines of k-means and forwards all other output.

    Output of other threads is forwarded unchanged.
    """

    def __init__(self, stdout: Any, watch: Stopwatch) -> None:
        self._stdout = stdout
        self._watch = watch
        self._thread = threading.get_ident()
        self._line = ""
        self.entries: list[tuple[float, float]] = []
        """Seconds and inertia of each iteration."""

    def write(self, text: str) -> int:
        """Process a piece of output, which may be an incomplete line."""
        if threading.get_ident() != self._thread:
            self._forward(text)
            return len(text)
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._parse(line)
        return len(text)

    def flush(self) -> None:
        """Flush the real stdout."""
        if self._stdout is not None:
            self._stdout.flush()

    def forward_rest(self) -> None:
        """Forward the last line if it has no line break. It is not a line of k-means."""
        self._forward(self._line)
        self._line = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout, name)

    def _parse(self, line: str) -> None:
        iteration = ITERATION.match(line)
        if iteration:
            self.entries.append((self._watch.seconds, float(iteration[1])))
        elif not line.startswith(OTHER_LINES):
            self._forward(line + "\n")

    def _forward(self, text: str) -> None:
        if self._stdout is not None:  # stdout is None in programs without a console
            self._stdout.write(text)


@contextmanager
def capture_iterations(watch: Stopwatch) -> Iterator[IterationLog]:
    """Redirect the lines that k-means prints within the context to a log."""
    with _stdout_lock:
        log = IterationLog(sys.stdout, watch)
        with redirect_stdout(cast(IO[str], log)):
            try:
                yield log
            finally:
                log.forward_rest()
