"""Progress of the training of a product quantizer, reported to a callback."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class QuantizerRecord:
    """A completed step in the training of a product quantizer."""

    seconds: float
    """Time since `fit` was called."""
    kind: str
    """"rotation" (one round is done) or "subspace" (one codebook is done)."""
    done: int
    """Number of steps of this kind that are done."""
    total: int
    """Total number of steps of this kind."""
    distortion: float
    """Mean squared error of the subspace; NaN for a rotation round."""


@dataclass
class TrainingReporter:
    """Reporter of completed training steps to the user's callback."""

    callback: Callable[[QuantizerRecord], None] | None
    start: float
    """Start time of the fit (`time.perf_counter()`)."""
    n_trained: int = 0
    """Number of subspaces that are done."""
    _lock: Any = field(default_factory=threading.Lock)

    def on_subspace(self, total: int) -> Callable[[int, float], None]:
        """Return a function to call with the number and the distortion of each trained subspace."""

        def report(subspace: int, distortion: float) -> None:
            # Subspaces are trained in parallel: the lock keeps the counts and the calls in order.
            with self._lock:
                self.n_trained += 1
                self._report("subspace", self.n_trained, total, distortion)

        return report

    def on_rotation(self, total: int) -> Callable[[int], None]:
        """Return a function to call with the 0-based number of each completed round of rotation."""
        return lambda number: self._report("rotation", number + 1, total, float("nan"))

    def _report(self, kind: str, done: int, total: int, distortion: float) -> None:
        if self.callback is not None:
            seconds = time.perf_counter() - self.start
            self.callback(QuantizerRecord(seconds, kind, done, total, distortion))
