"""Projection of shards onto the principal components of a sample."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.projection import (
    Projection,
    Spectrum,
    contraction,
    projection_scale,
    spectrum_rows,
)
from boostkmeans._runtime.threads import threads_of_lone_task
from boostkmeans._sharded.shard.sampling import Sample
from boostkmeans._sharded.shard.view import ShardView


class ShardProjection(NamedTuple):
    """Coordinates of the rows of a shard, and the axes that they belong to."""

    values: Array
    """Coordinates of each row, and in the last column the length of its rest, in float32."""
    axes: Floats

    def whole(self) -> Projection:
        """Return the projection as sweeps use it."""
        return Projection(self.axes, projection_scale(len(self.axes)), self.values)


def find_axes(sample: Sample) -> tuple[Floats, Floats]:
    """Return the principal components of some sampled rows, and the shares of the variance."""
    problem = sample.problem(1, 1)
    n = problem.rows.n_rows
    some = np.unique(np.linspace(0, n - 1, spectrum_rows(problem.rows.n_features)).astype(np.int64))
    weights = None if sample.weights is None else sample.weights[some]
    spectrum = Spectrum.of(problem.rows.take(some), weights)
    return spectrum.axes, spectrum.shares


def leading_axes(axes: Floats, n_axes: int) -> Floats:
    """Return the first components, shortened so that they lengthen no vector."""
    return contraction(axes[:, :n_axes])


def project_shard(block: Any, view: ShardView, axes: Floats) -> ShardProjection:
    """Project the rows of a shard."""
    values = np.empty((block.shape[0], axes.shape[1] + 1), dtype=np.float32)
    if len(values):
        values = Projection.onto(view.rows(block), axes, 1).values
    return ShardProjection(values, axes)


def leading_block(projected: ShardProjection) -> Array:
    """Return the coordinates without the lengths of the rests."""
    return projected.values[:, :-1]


def view_projected(view: ShardView, n_axes: int) -> ShardView:
    """Return the view of the coordinates of a shard."""
    return replace(view, frame=Frame(np.zeros(n_axes), 0), stays_sparse=False, factors=None)


def project_sample(sample: Sample, axes: Floats, max_threads: int | None) -> Sample:
    """Project sampled rows."""
    n_threads = threads_of_lone_task(max_threads)
    rows = sample.problem(1, n_threads).rows_in_memory
    values = Projection.onto(rows, axes, n_threads).values
    return Sample(values[:, :-1], sample.weights, Frame(np.zeros(axes.shape[1]), 0), False)
