"""Memory budget: the estimated memory of a fit, and the sizes of blocks and samples."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Bytes of a process that has imported the package and holds no data.
PROCESS = 256 * 2**20
# Bytes per row besides the row itself, if all rows are in memory.
PER_ROW = 64
# Bytes per streamed row: its label, its runner-up, and a new label during assignment.
PER_STREAMED_ROW = 12
# Bytes per value of the centres.
PER_CENTRE_VALUE = 96
# Bytes per cluster: two neighbour lists, visiting stamps, and the pairs of clusters that a repair
# compares.
PER_CLUSTER = 2048
# Bytes per row weight: the user's value, the scaled value and a row index.
PER_WEIGHT = 24
# Share of the remaining memory for one block. Two blocks are in memory: one is processed while the next
# is read.
BLOCK_SHARE = 0.3
# Share of the remaining memory for a sample.
SAMPLE_SHARE = 0.35
# Larger blocks do not make sweeps faster.
MAX_BLOCK_BYTES = 2**29
# Smaller blocks would waste time on reading.
MIN_BLOCK_ROWS = 1024
# Share of the machine's memory that data may use if the user sets no limit.
MACHINE_SHARE = 0.5
CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class MemoryEstimate:
    """The memory that a fit needs."""

    n_rows: int
    row_bytes: int
    n_clusters: int
    n_features: int
    weighted: bool = False
    own_row_bytes: int = 0
    """Bytes of a row in the type of the source; 0 if it need not be converted."""
    held_bytes: int = 0
    """Bytes that the source uses while it is read in blocks."""
    task: str | None = None
    """What is done with the rows, for messages, e.g. "Reading"; None for a fit."""
    max_block_bytes: int | None = None
    """Largest size of a block; None for that of a fit."""

    def fits(self, limit: int) -> bool:
        """Return True if all rows can be in memory at once."""
        return self.in_memory <= limit

    @property
    def in_memory(self) -> int:
        """Bytes of a fit with all rows in memory."""
        return self._fixed + self.n_rows * (self.row_bytes + self.own_row_bytes + PER_ROW)

    def split(self, limit: int) -> tuple[int, int]:
        """Return the number of rows of a block and of a sample.

        They depend only on the sizes and the limit, so that a fit is reproducible.
        """
        each = self.row_bytes + PER_ROW
        fixed = self._fixed_of_blocks
        left = limit - fixed
        most = MAX_BLOCK_BYTES if self.max_block_bytes is None else self.max_block_bytes
        block = int(min(left * BLOCK_SHARE, most)) // each
        sample = int(left * SAMPLE_SHARE) // each
        min_block = min(MIN_BLOCK_ROWS, self.n_rows)
        min_sample = max(min_block, self.n_clusters)
        if block < min_block or sample < min_sample:
            needed = fixed + int(max(min_block / BLOCK_SHARE, min_sample / SAMPLE_SHARE) * each) + 1
            needed = min(needed, self.in_memory)
            raise MemoryError(
                f"{self._task_text} needs at least {format_bytes(needed)} of memory. The limit is "
                f"{format_bytes(limit)}."
            )
        return min(block, self.n_rows), min(sample, self.n_rows)

    def limit_for_blocks(self, n_rows: int) -> int:
        """Return the memory limit that allows blocks of this number of rows, or all rows at once."""
        left = n_rows * (self.row_bytes + PER_ROW) / BLOCK_SHARE
        return min(self._fixed_of_blocks + int(left) + 1, self.in_memory)

    @property
    def _task_text(self) -> str:
        rows = f"{self.n_rows:,} rows with {self.n_features:,} features"
        if self.task is None:
            return f"Clustering {rows} into {self.n_clusters:,} clusters"
        return f"{self.task} {rows}"

    @property
    def _fixed_of_blocks(self) -> int:
        """Bytes besides blocks and samples, if rows are read in blocks."""
        return self._fixed + self.held_bytes + self.n_rows * PER_STREAMED_ROW

    @property
    def _fixed(self) -> int:
        centres = self.n_clusters * (self.n_features * PER_CENTRE_VALUE + PER_CLUSTER)
        return PROCESS + centres + (self.n_rows * PER_WEIGHT if self.weighted else 0)


def default_memory_limit() -> int:
    """Return the bytes that data may use if the user sets no limit."""
    return int(MACHINE_SHARE * available_memory())


def available_memory() -> int:
    """Return the memory of the machine or of the control group of this process, in bytes."""
    found = [2**62]
    with suppress(ValueError, OSError, AttributeError):  # Not every system reports its memory.
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in CGROUP_LIMITS:
        with suppress(ValueError, OSError):  # The file is missing or contains "max".
            found.append(int(Path(name).read_text("ascii")))
    return min(found)


def format_bytes(n_bytes: int) -> str:
    """Format a number of bytes in a human-readable unit."""
    return f"{n_bytes / 2**30:.2f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MiB"
