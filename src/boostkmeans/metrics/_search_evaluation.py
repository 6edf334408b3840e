"""`evaluate_search`: recall, distortion and run time of a search among product-quantizer codes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io import Vectors
from boostkmeans.metrics._recall import recall_at
from boostkmeans.quantization import (
    Codes,
    ProductQuantizer,
    check_codes,
    exact_neighbors,
    search_batches,
)


@dataclass(frozen=True)
class SearchEvaluation:
    """Quality and run time of a search among codes."""

    recall: dict[int, float]
    """Recall by depth: the share of queries whose nearest row is among the first results."""
    distortion: float
    """Mean squared error of the codes."""
    seconds: dict[str, float | None]
    """Run time of "encoding", "searching" and "truth" (exact search); None for a skipped step."""


def evaluate_search(
    quantizer: ProductQuantizer,
    vectors: Vectors,
    queries: Vectors,
    depths: Sequence[int] = (1, 10, 100),
    *,
    codes: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    symmetric: bool = False,
    progress: ProgressCallback | None = None,
) -> SearchEvaluation:
    """Measure how often a search among codes finds the true nearest row of a query.

    Parameters
    ----------
    quantizer : ProductQuantizer
        Fitted quantizer.
    vectors, queries : Vectors
        Rows to search among, and rows to search for, e.g. from `boostkmeans.io.open_vectors`.
    depths : sequence of int, default=(1, 10, 100)
        Numbers of results for which the recall is computed.
    codes : array-like of shape (n, n_subspaces), default=None
        Codes of `vectors`. By default, the rows are encoded.
    truth : array-like of shape (n_queries,) or (n_queries, n_neighbors), default=None
        Index of the nearest row of each query. By default, it is computed by exact search.
    symmetric : bool, default=False
        Encode the queries, too, and compare codes with codes.
    progress : callable, default=None
        Called as `progress(what, done, total)`.

    Returns
    -------
    SearchEvaluation
        Recall, distortion and run times.
    """
    for _ in quantizer.encode_batches(queries):
        pass  # invalid queries raise an error before the long steps
    report, clock = progress or ignore_progress, _Clock()
    if codes is None:
        codes = _encode(quantizer, vectors, report)
        clock.record("encoding")
    else:
        codes = check_codes(codes, quantizer.codebooks_)
    errors = quantizer.errors(vectors, codes, progress=_renamed(report, "measuring"))
    clock.restart()
    batches = search_batches(
        quantizer, queries, codes, max(depths), symmetric=symmetric, progress=report
    )
    found = np.concatenate([batch.indices for batch in batches])
    clock.record("searching")
    if truth is None:
        truth = exact_neighbors(
            vectors,
            queries.load(),
            1,
            n_threads=quantizer.n_threads,
            progress=_renamed(report, "comparing all with all"),
        ).indices
        clock.record("truth")
    recall = recall_at(list(depths), found, truth)
    return SearchEvaluation(
        recall=dict(zip(depths, recall.tolist(), strict=True)),
        distortion=float(errors.mean()),
        seconds=clock.seconds,
    )


class _Clock:
    """Run times of the steps."""

    def __init__(self) -> None:
        self.seconds: dict[str, float | None] = {"encoding": None, "searching": None, "truth": None}
        self.restart()

    def restart(self) -> None:
        self._start = time.perf_counter()

    def record(self, step: str) -> None:
        """Store the time since the last call as that of `step`."""
        self.seconds[step] = time.perf_counter() - self._start
        self.restart()


def _encode(quantizer: ProductQuantizer, vectors: Vectors, progress: ProgressCallback) -> Codes:
    batches, n_done = [], 0
    progress("encoding", 0, len(vectors))
    for codes in quantizer.encode_batches(vectors):
        batches.append(codes)
        n_done += len(codes)
        progress("encoding", n_done, len(vectors))
    return np.concatenate(batches)


def _renamed(progress: ProgressCallback, what: str) -> ProgressCallback:
    return lambda _, done, total: progress(what, done, total)
