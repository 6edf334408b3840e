"""Pairs within a block of rows, and between two blocks: pure functions, which workers can call."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats, Frame
from boostkmeans._data.projection import Projection
from boostkmeans._data.rows import Rows
from boostkmeans._pairs.links import Indices
from boostkmeans._pairs.plan import COLUMNS_UNIT, PairPlan
from boostkmeans._steps.nearest import nearest_labels

# A search is divided into about this number of calls, between which progress is reported.
N_CALLS = 64

ReportShare = Callable[[float], None]
"""Function called with the share of the work that is done."""


class BlockPairs(NamedTuple):
    """The pairs of some rows, in a size that does not depend on the number of pairs."""

    parents: Indices
    """First row of the group of each row."""
    degrees: Indices
    """Number of partners of each row. A partner that stands for several equal rows counts as several."""
    nearest: Floats
    """Squared distance to the nearest partner in the frame, or infinity."""

    @classmethod
    def none(cls, n_rows: int) -> "BlockPairs":
        """Return the pairs of rows that form none."""
        rows = np.arange(n_rows)
        return cls(rows, np.zeros(n_rows, dtype=np.int64), np.full(n_rows, np.inf))


@dataclass(frozen=True)
class BlockSide:
    """A block of rows, with the coordinates of its members in the order of their clusters."""

    core: _core.PairSide
    counts: Indices
    """Number of equal rows that each row stands for."""
    starts: Indices

    @classmethod
    def of(
        cls, rows: Rows, members: Indices, counts: Indices, plan: PairPlan, n_threads: int
    ) -> "BlockSide":
        """Project rows and assign them to the clusters. Only the members, given by number, take part."""
        projected = Projection.onto(rows, plan.axes, n_threads)
        order, starts = _by_cluster(projected.values, members, plan.centres, n_threads)
        n_columns = projected.n_axes + 1
        values = np.zeros((len(order), -(-n_columns // COLUMNS_UNIT) * COLUMNS_UNIT), dtype=np.float32)
        values[:, :n_columns] = projected.values[order]
        side = _core.PairSide(
            rows=rows.core, values=values, n_axes=projected.n_axes, order=order, starts=starts
        )
        return cls(side, counts, starts)


def find_pairs(
    left: BlockSide, right: BlockSide | None, plan: PairPlan, n_threads: int, report: ReportShare
) -> BlockPairs:
    """Return the pairs of a left and a right row, or those of two left rows if `right` is None.

    The right rows follow the left rows in the results.
    """
    counts = left.counts if right is None else np.concatenate([left.counts, right.counts])
    found = BlockPairs.none(len(counts))
    k = len(plan.centres)
    for first, last in _ranges(left.starts):
        _core.near_pairs(
            left.core,
            None if right is None else right.core,
            centres=plan.centres,
            lists=plan.lists,
            radius=plan.radius,
            square=plan.square,
            first=first,
            last=last,
            counts=counts,
            parents=found.parents,
            degrees=found.degrees,
            nearest=found.nearest,
            n_threads=n_threads,
        )
        report(last / k)
    return found


def _ranges(starts: Indices) -> list[tuple[int, int]]:
    """Return ranges of clusters with about the same number of rows."""
    targets = np.linspace(0, starts[-1], min(N_CALLS, len(starts) - 1) + 1)[1:-1]
    borders = np.unique([0, *np.searchsorted(starts[:-1], targets), len(starts) - 1]).tolist()
    return list(pairwise(borders))


def _by_cluster(
    values: NDArray[np.float32], members: Indices, centres: Floats, n_threads: int
) -> tuple[Indices, Indices]:
    """Return the members in the order of their nearest centres, and the start of each cluster."""
    labels = np.zeros(len(values), dtype=np.int32)
    if len(centres) > 1:
        own = Frame(np.zeros(values.shape[1]), 0)
        labels = nearest_labels(Rows(values, own, None), centres, n_threads)
    order = members[np.argsort(labels[members], kind="stable")]
    sizes = np.bincount(labels[members], minlength=len(centres))
    return order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
