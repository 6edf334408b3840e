"""Rows of this process: validated, in memory or read in blocks."""

from dataclasses import replace
from typing import Any

from boostkmeans._data.memory import MemoryEstimate
from boostkmeans._data.row_source import RowSource, as_source, estimate_memory, memory_limit
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.streamed_rows import StreamedRows
from boostkmeans._estimators.input import RowInput

# Bytes per row besides the rows themselves: keys, groups, numbers of partners, distances, row numbers.
PER_ROW = 128
# Bytes of the coordinates of a row, with 63 of them, twice.
PER_ROW_IN_MEMORY = 512
# Blocks are this much smaller than those of a fit, because a third block and coordinates of the rows are
# in memory, too.
SMALLER_BLOCKS = 3


class Curation(RowInput):
    """Validation of rows. Messages name this class."""


def open_rows(X: Any, metric: str, n_threads: int) -> RowSet:
    """Validate X. Files that do not fit into memory are read in blocks."""
    source = as_source(X)
    need = None if source is None else _memory_need(source)
    if source is None or need is None or need.fits(memory_limit(source)):
        return Rows.in_own_frame(Curation()._validate(X, reset=True), metric, n_threads)
    Curation()._validate_source(source, reset=True, whole=False)
    block_rows, max_sample = need.split(memory_limit(source))
    block_rows = max(1, block_rows // SMALLER_BLOCKS)
    return StreamedRows(source, metric, n_threads, block_rows=block_rows, max_sample=max_sample)


def _memory_need(source: RowSource) -> MemoryEstimate:
    """Return the memory for a search. Its centres have few values."""
    need = estimate_memory(source, 1, weighted=False)
    return replace(
        need,
        own_row_bytes=need.own_row_bytes + PER_ROW + PER_ROW_IN_MEMORY,
        held_bytes=need.held_bytes + PER_ROW * need.n_rows,
    )
