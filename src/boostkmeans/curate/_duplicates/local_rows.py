"""Rows of this process: validated, in memory or read in blocks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._data.frame import Frame
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._pairs.limits import PairLimit
from boostkmeans._pairs.links import Indices
from boostkmeans._pairs.search import NearRows, SearchOptions, find_near_rows
from boostkmeans.curate._duplicates.keeping import TakeRows
from boostkmeans.curate._duplicates.missed_pairs import Block, count_partners, count_sparse_partners
from boostkmeans.curate._row_sets import open_rows


class LocalRows:
    """Rows of this process, and what is computed from them."""

    def __init__(self, rows: RowSet, limit: PairLimit, options: SearchOptions) -> None:
        self._rows = rows
        self._limit = limit
        self._options = options

    @classmethod
    def of(cls, X: ArrayLike, limit: PairLimit, options: SearchOptions) -> "LocalRows":
        """Validate X. Files that do not fit into memory are read in blocks."""
        rows = open_rows(
            X,
            limit.metric,
            options.n_threads,
            task="Finding near duplicates among",
            compares_blocks=True,
        )
        return cls(rows, limit, options)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self._rows.n_rows, self._rows.n_features

    @property
    def frame(self) -> Frame:
        """Frame of the points that `take` returns, and of the distances that `find` returns."""
        return self._rows.frame

    @property
    def square(self) -> float:
        """Largest squared distance of a pair, in the unit of the points that `take` returns."""
        return self._limit.square_in(self._rows.frame)

    @property
    def take(self) -> TakeRows:
        """Function that returns some rows, given by ascending numbers."""
        return self._rows.take

    def find(self) -> NearRows:
        """Return all pairs of near rows."""
        return find_near_rows(self._rows, self._limit, self._options)

    def count_partners(self, checked: Indices, found: NearRows) -> Indices:
        """Compare some rows with all rows, and return their numbers of partners."""
        rows = self._rows
        if isinstance(rows, Rows) and rows.stays_sparse:
            return count_sparse_partners(rows.in_frame_units(), checked, found.is_compared, self.square)
        points = rows.take(checked)
        return count_partners(
            points, self._blocks(), found.is_compared, self.square, self._options.n_threads
        )

    def _blocks(self) -> Iterator[Block]:
        for number, block in enumerate(self._rows.blocks()):
            self._options.progress("checking pairs", number, self._rows.n_blocks)
            yield block.rows.n_rows, _taker(block.rows)


def _taker(rows: Rows) -> Any:
    return lambda where: rows.take(np.arange(where.start, where.stop))
