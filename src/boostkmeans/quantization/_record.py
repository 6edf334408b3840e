"""How far the training of a product quantizer is, for a callback."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class QuantizerRecord:
    """A step of the training of a product quantizer."""

    seconds: float
    """Since `fit` began."""
    kind: str
    """"rotation" (a round) or "subspace" (its codebook is ready)."""
    done: int
    """Steps of this kind that are done, and how many there are."""
    total: int
    distortion: float
    """Of the subspace; NaN for a round of rotation."""


@dataclass
class Notes:
    """Tells a callback how far a training is."""

    callback: Callable[[QuantizerRecord], None] | None
    began: float
    done: int = 0
    _lock: Any = field(default_factory=threading.Lock)

    def trained(self, total: int) -> Callable[[int, float], None]:
        """To be called when one of so many subspaces is ready."""

        def after(subspace: int, distortion: float) -> None:
            with self._lock:  # subspaces end in threads of their own
                self.done += 1
                self._tell("subspace", self.done, total, distortion)

        return after

    def rotated(self, total: int) -> Callable[[int], None]:
        """To be called after each of so many rounds."""
        return lambda number: self._tell("rotation", number + 1, total, float("nan"))

    def _tell(self, kind: str, done: int, total: int, distortion: float) -> None:
        if self.callback is not None:
            seconds = time.perf_counter() - self.began
            self.callback(QuantizerRecord(seconds, kind, done, total, distortion))
