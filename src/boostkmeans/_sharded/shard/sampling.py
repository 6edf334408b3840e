"""Sample: rows of all shards on one worker, whose fit provides the first centres of all rows."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans._data.frame import Floats, Frame
from boostkmeans._data.rows import Rows, unit_factors
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.fit import FitContext, prepare_run, start_kway
from boostkmeans._engine.plan import RequestedSettings
from boostkmeans._engine.stopping import StoppingCriteria
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._runtime.progress import stage
from boostkmeans._runtime.threads import threads_of_lone_task
from boostkmeans._sharded.shard.view import ShardView
from boostkmeans._steps.partition import Labels
from boostkmeans._steps.problem import Problem, stratified_indices

# Relative gain of a sweep below which the fit of a sample ends. Rounds over all rows follow.
TOL = 1e-4


@dataclass(frozen=True)
class SampleDraw:
    """Which rows of positive weight are drawn, from all shards together."""

    n_positive: int
    """Number of rows of positive weight in all shards."""
    n_drawn: int
    seed: int

    def indices(self, first: int, n: int) -> NDArray[np.int64]:
        """Return the drawn rows among `n` rows of positive weight that start at `first`."""
        rng = np.random.RandomState(self.seed)
        drawn = stratified_indices(self.n_positive, self.n_drawn, rng)
        begin, end = np.searchsorted(drawn, [first, first + n])
        return drawn[begin:end] - first


def draw_rows(block: Any, view: ShardView, draw: SampleDraw, first: int) -> tuple[Any, Any]:
    """Copy the drawn rows of a shard and their weights. `first` counts those of the shards before."""
    weights = view.weights
    if weights is None:
        return block[draw.indices(first, block.shape[0])], None
    weighted = np.flatnonzero(weights > 0)
    some = weighted[draw.indices(first, len(weighted))]
    return block[some], weights[some]


@dataclass(frozen=True)
class Sample(SizedByFields):
    """Sampled rows in the frame of the fit."""

    array: Any
    weights: Floats | None
    frame: Frame
    stays_sparse: bool

    def problem(self, n_clusters: int, n_threads: int) -> Problem:
        """Return the sample as a problem."""
        factors = None
        if self.frame.metric == "cosine":
            factors = unit_factors(self.array, "cosine", n_threads)
        rows = Rows(self.array, self.frame, factors, stays_sparse=self.stays_sparse)
        weights = RowWeights(self.weights, 1.0, 1.0, rows.n_rows)
        return Problem(rows, weights, n_clusters, n_threads)


def join_sample(frame: Frame, stays_sparse: bool, *parts: tuple[Any, Any]) -> Sample:
    """Join the sampled rows of all shards, in the order of the shards."""
    blocks = [block for block, _ in parts if block.shape[0]]
    weights = [some for block, some in parts if block.shape[0]]
    array = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)
    joined = None if weights[0] is None else np.concatenate(weights)
    return Sample(array, joined, frame, stays_sparse)


@dataclass(frozen=True)
class SampleFit(SizedByFields):
    """Centres of a fitted sample, in the frame, and a description for the history."""

    centres: Floats
    labels: Labels
    """Cluster of each sampled row."""
    n_rows: int
    n_sweeps: int
    note: str


def fit_sample(
    sample: Sample,
    requested: RequestedSettings,
    n_clusters: int,
    seed: int,
    n_threads: int | None,
    max_seconds: float,
) -> SampleFit:
    """Fit a sample like any other problem in memory. The result does not depend on the threads."""
    began = time.perf_counter()
    problem = sample.problem(n_clusters, threads_of_lone_task(n_threads))
    context = FitContext(
        requested=requested,
        criteria=StoppingCriteria(TOL, requested.max_iter, began + max_seconds),
        rng=np.random.RandomState(seed),
        began=began,
    )
    with stage("sample"):
        run, schedule = prepare_run(problem, context, start_kway)
        if schedule is not None:
            schedule.execute()
    return SampleFit(
        centres=run.partition.centres,
        labels=run.partition.labels,
        n_rows=problem.rows.n_rows,
        n_sweeps=run.n_sweeps,
        note=str(run.plan),
    )
