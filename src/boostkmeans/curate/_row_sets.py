"""Rows of this process: validated, in memory or read in blocks."""

import math
import warnings
from dataclasses import replace
from typing import Any

from boostkmeans._data.memory import MemoryEstimate, format_bytes
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
# Number of blocks from which a comparison of all blocks warns, and the number that the warning proposes.
# With b blocks, a file is read about b/2 times.
MANY_BLOCKS = 100
FEW_BLOCKS = 10


class Curation(RowInput):
    """Validation of rows. Messages name this class."""


def open_rows(
    X: Any, metric: str, n_threads: int, *, task: str, compares_blocks: bool = False
) -> RowSet:
    """Validate X. Files that do not fit into memory are read in blocks.

    `task` is what is done with the rows, for messages. If each block is compared with all others, blocks
    are as large as possible.
    """
    source = as_source(X)
    need = None if source is None else _memory_need(source, task)
    if source is None or need is None or need.fits(memory_limit(source)):
        return Rows.in_own_frame(Curation()._validate(X, reset=True), metric, n_threads)
    Curation()._validate_source(source, reset=True, whole=False)
    limit = memory_limit(source)
    if compares_blocks:
        need = replace(need, max_block_bytes=limit)
    block_rows, max_sample = need.split(limit)
    block_rows = max(1, block_rows // SMALLER_BLOCKS)
    if compares_blocks:
        _warn_of_many_blocks(need, block_rows, limit)
    return StreamedRows(source, metric, n_threads, block_rows=block_rows, max_sample=max_sample)


def _warn_of_many_blocks(need: MemoryEstimate, block_rows: int, limit: int) -> None:
    """Warn if the time for reading grows far beyond that for one pass over the file."""
    n_blocks = math.ceil(need.n_rows / block_rows)
    if n_blocks <= MANY_BLOCKS:
        return
    enough = need.limit_for_blocks(SMALLER_BLOCKS * math.ceil(need.n_rows / FEW_BLOCKS))
    warnings.warn(
        f"The memory limit of {format_bytes(limit)} leaves room for {n_blocks:,} blocks of "
        f"{block_rows:,} rows, so that the file is read about {n_blocks // 2:,} times. With a limit of "
        f"{format_bytes(enough)}, it is read {FEW_BLOCKS // 2} times or less.",
        stacklevel=4,
    )


def _memory_need(source: RowSource, task: str) -> MemoryEstimate:
    """Return the memory for a search. Its centres have few values."""
    need = estimate_memory(source, 1, weighted=False)
    return replace(
        need,
        own_row_bytes=need.own_row_bytes + PER_ROW + PER_ROW_IN_MEMORY,
        held_bytes=need.held_bytes + PER_ROW * need.n_rows,
        task=task,
    )
