"""How much memory a fit takes, and how it keeps within what it may take."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# What Python with the libraries takes before it has any data.
PROCESS = 256 * 2**20
# Beside the rows: for each row and for each value of the centres, at most so many bytes. Rows that are
# not in memory have a label, a runner-up, and a new label while these are made.
PER_ROW, PER_ROW_ELSEWHERE, PER_CENTRE_VALUE = 64, 12, 96
# For each cluster, its neighbours and when it was visited; for each weight, that of the user, ours, and
# the number of a row that has one.
PER_CLUSTER, PER_WEIGHT = 2048, 24
# Of what is left, a part of the rows has this share (there are two, of which one is being read), and a
# sample of them that one.
SHARE_OF_PART, SHARE_OF_SAMPLE = 0.3, 0.35
# More does not make sweeps faster; fewer rows would be read in vain.
LARGEST_PART, FEWEST_ROWS = 2**29, 1024
# Without a limit of the user, data that takes more than this share of the memory is read in parts.
SHARE_OF_MACHINE = 0.5
CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Need:
    """The size of a fit."""

    n_rows: int
    row_bytes: int
    n_clusters: int
    n_features: int
    weighted: bool = False
    own_row_bytes: int = 0
    """Of a row as the source has it, if it has to be converted."""
    held_bytes: int = 0
    """What the source takes while rows are read one part after the other."""

    def fits(self, limit: int) -> bool:
        """Whether all rows can be in memory at once."""
        return self.in_memory <= limit

    @property
    def in_memory(self) -> int:
        """What it takes with all rows in memory."""
        return self._fixed + self.n_rows * (self.row_bytes + self.own_row_bytes + PER_ROW)

    def split(self, limit: int) -> tuple[int, int]:
        """Rows in a part and in a sample. Depends on nothing else, so that a fit can be repeated."""
        each = self.row_bytes + PER_ROW
        fixed = self._fixed + self.held_bytes + self.n_rows * PER_ROW_ELSEWHERE
        left = limit - fixed
        part = int(min(left * SHARE_OF_PART, LARGEST_PART)) // each
        sample = int(left * SHARE_OF_SAMPLE) // each
        few = min(FEWEST_ROWS, self.n_rows)
        least = max(few, self.n_clusters)
        if part < few or sample < least:
            needed = fixed + int(max(few / SHARE_OF_PART, least / SHARE_OF_SAMPLE) * each) + 1
            needed = min(needed, self.in_memory)
            raise MemoryError(
                f"{self.n_rows:,} rows into {self.n_clusters:,} clusters of {self.n_features:,} "
                f"features take at least {shown(needed)} of memory; the limit is {shown(limit)}."
            )
        return min(part, self.n_rows), min(sample, self.n_rows)

    @property
    def _fixed(self) -> int:
        centres = self.n_clusters * (self.n_features * PER_CENTRE_VALUE + PER_CLUSTER)
        return PROCESS + centres + (self.n_rows * PER_WEIGHT if self.weighted else 0)


def limit_of_machine() -> int:
    """What data may take if the user does not say."""
    return int(SHARE_OF_MACHINE * memory_of_machine())


def memory_of_machine() -> int:
    """Bytes of memory, of which this process may be allowed a part only."""
    found = [2**62]
    with suppress(ValueError, OSError, AttributeError):  # not every system tells
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in CGROUP_LIMITS:
        with suppress(ValueError, OSError):  # "max", or none
            found.append(int(Path(name).read_text("ascii")))
    return min(found)


def shown(n_bytes: int) -> str:
    """For people."""
    return f"{n_bytes / 2**30:.2f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MiB"
