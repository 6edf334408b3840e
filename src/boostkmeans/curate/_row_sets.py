"""Rows of this process: validated, in memory or read in blocks."""

from dataclasses import replace
from typing import Any

from boostkmeans._data.row_source import RowSource, estimate_memory, memory_limit, source_to_stream
from boostkmeans._data.rows import Rows, RowSet
from boostkmeans._data.streamed_rows import StreamedRows
from boostkmeans._estimators.input import RowInput
from boostkmeans._pairs.plan import MAX_CLUSTERS

# Bytes per row besides the rows themselves: keys, groups, numbers of partners, distances, row numbers.
PER_ROW = 128
# Blocks are this much smaller than those of a fit, because a third block and coordinates of the rows are
# in memory, too.
SMALLER_BLOCKS = 3


class Curation(RowInput):
    """Validation of rows. Messages name this class."""


def open_rows(X: Any, metric: str, n_threads: int) -> RowSet:
    """Validate X. Files that do not fit into memory are read in blocks."""
    source = source_to_stream(X, MAX_CLUSTERS, weighted=False)
    if source is None:
        return Rows.in_own_frame(Curation()._validate(X, reset=True), metric, n_threads)
    Curation()._validate_source(source, reset=True, whole=False)
    return _streamed(source, metric, n_threads)


def _streamed(source: RowSource, metric: str, n_threads: int) -> StreamedRows:
    """Return rows in blocks. Three of them fit into memory, together with their coordinates."""
    need = estimate_memory(source, MAX_CLUSTERS, weighted=False)
    need = replace(need, held_bytes=need.held_bytes + PER_ROW * need.n_rows)
    block_rows, max_sample = need.split(memory_limit(source))
    block_rows = max(1, block_rows // SMALLER_BLOCKS)
    return StreamedRows(source, metric, n_threads, block_rows=block_rows, max_sample=max_sample)
