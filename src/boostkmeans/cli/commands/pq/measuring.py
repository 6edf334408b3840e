"""Recall and distortion of a quantizer, and how long it took to get there."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans import ProductQuantizer, metrics
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.bar import Shown
from boostkmeans.cli.commands.pq.lookup import found_by_batches
from boostkmeans.io import Vectors
from boostkmeans.quantization._codes import Codes


@dataclass(frozen=True)
class Measuring:
    """What is measured on what."""

    quantizer: ProductQuantizer
    vectors: Vectors
    queries: Any
    shown: Shown

    def run(
        self,
        codes: Codes | None,
        nearest: NDArray[np.int64] | None,
        depths: list[int],
        *,
        symmetric: bool,
    ) -> dict[str, Any]:
        """Distortion, recall and seconds. Codes and true neighbours are made if they are not given."""
        clock, show = _Clock(), self.shown.counting("rows")
        if codes is None:
            codes = _encoded(self.quantizer, self.vectors, show)
            clock.stop("encoding")
        errors = self.quantizer.errors(self.vectors, codes, progress=_named(show, "measuring"))
        clock.go()
        found = [
            one.indices
            for one in found_by_batches(
                self.quantizer, self.queries, codes, depths[-1], symmetric=symmetric,
                progress=self.shown.counting("queries"),
            )
        ]  # fmt: skip
        clock.stop("searching")
        if nearest is None:
            nearest = metrics.exact_neighbors(
                self.vectors,
                self.queries.load(),
                1,
                n_threads=self.quantizer.n_threads,
                progress=_named(show, "comparing all with all"),
            ).indices[:, 0]
            clock.stop("truth")
        recall = metrics.recall_at(depths, np.concatenate(found), nearest)
        return {
            "distortion": errors.mean(),
            "distortion_of_training": self.quantizer.distortion_,
            "recall": [{"at": r, "recall": one} for r, one in zip(depths, recall, strict=True)],
            "seconds": clock.seconds,
        }


class _Clock:
    """Seconds of what is done, by its name; None for what was not."""

    def __init__(self) -> None:
        self.seconds: dict[str, float | None] = {"encoding": None, "searching": None, "truth": None}
        self.go()

    def go(self) -> None:
        """Begins anew."""
        self._began = time.perf_counter()

    def stop(self, what: str) -> None:
        """What was done since it began, which it does again."""
        self.seconds[what] = time.perf_counter() - self._began
        self.go()


def _encoded(quantizer: ProductQuantizer, vectors: Vectors, show: ProgressCallback) -> Codes:
    parts, done = [], 0
    show("encoding", 0, len(vectors))
    for codes in quantizer.encode_batches(vectors):
        parts.append(codes)
        done += len(codes)
        show("encoding", done, len(vectors))
    return np.concatenate(parts)


def _named(show: ProgressCallback, what: str) -> ProgressCallback:
    return lambda _, done, total: show(what, done, total)
