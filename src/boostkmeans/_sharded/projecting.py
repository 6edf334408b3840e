"""Fits in the leading principal components: the choice of their number, and the projected rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats, Frame
from boostkmeans._engine.dimensions import number_of_axes, projection_note
from boostkmeans._sharded.backend import Reference, identity
from boostkmeans._sharded.rows import ShardedRows
from boostkmeans._sharded.shard.projecting import (
    find_axes,
    leading_axes,
    leading_block,
    project_sample,
    project_shard,
    view_projected,
)


@dataclass(frozen=True)
class ShardedProjection:
    """Sharded rows in a few dimensions."""

    axes: Floats
    note: str
    shards: tuple[Reference, ...]
    """Projection of each shard, from which sweeps in all dimensions derive lower bounds."""
    rows: ShardedRows
    """The rows in the coordinates of the axes."""
    sample: Reference
    """The sample in the coordinates of the axes."""

    @property
    def n_axes(self) -> int:
        """Number of axes."""
        return int(self.axes.shape[1])


def choose_projection(
    rows: ShardedRows, requested: Any, sizes: Any, sample: Reference
) -> ShardedProjection | None:
    """Return the projection in which the fit runs first; None for no projection.

    `requested` and `sizes` are those of the plan. The result depends on the data alone.
    """
    tasks = rows.tasks
    if rows.stays_sparse or number_of_axes(requested, sizes, None) is None:
        return None
    all_axes, shares_of = tasks.submit(find_axes, sample, n_results=2)
    shares = tasks.get(shares_of)[0]
    n_axes = number_of_axes(requested, sizes, shares)
    if n_axes is None:
        return None
    axes = tasks.get(tasks.submit(leading_axes, all_axes, n_axes))[0]
    return project_rows(rows, axes, projection_note(n_axes, rows.n_features, shares), sample)


def project_rows(rows: ShardedRows, own_axes: Floats, note: str, sample: Reference) -> ShardedProjection:
    """Project all shards onto axes of the driver.

    The axes come from the driver, because another worker might compute others: linear algebra libraries
    round differently on other processors.
    """
    tasks, n_axes = rows.tasks, own_axes.shape[1]
    axes = tasks.submit(identity, own_axes)
    shards = tuple(tasks.submit(project_shard, *shard, axes) for shard in rows.shards)
    few = replace(
        rows,
        blocks=tuple(tasks.submit(leading_block, one) for one in shards),
        views=tuple(tasks.submit(view_projected, view, n_axes) for view in rows.views),
        descriptions=tuple(
            replace(one, n_features=n_axes, dtype="float32") for one in rows.descriptions
        ),
        frame=Frame(np.zeros(n_axes), 0),
        stays_sparse=False,
    )
    return ShardedProjection(
        own_axes,
        note,
        shards,
        few,
        tasks.submit(project_sample, sample, axes, tasks.n_threads),
    )
