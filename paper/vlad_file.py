"""Files of rows in blocks, written by several threads, and continued after an interruption.

A file gets its name when it is complete. Until then, `NAME.part` has the rows, and `NAME.done` has the
number of complete groups of blocks. Processes that need the same file wait for the one that writes it.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Rows per block.
BLOCK = 4096
# Blocks after which progress is recorded: 256 MB of 512 dimensions in float16.
GROUP = 64
# Bytes that stay free on the disk.
SPARE_BYTES = 2 << 30

BlockOf = Callable[[int], Array]
"""Function that returns block i: rows i * BLOCK to (i + 1) * BLOCK."""


def fill(rows: Array, block: BlockOf, first: int = 0, n_threads: int | None = None) -> None:
    """Write the blocks from number `first` on to an array. NumPy draws and rounds without the GIL."""

    def write(number: int) -> None:
        begin = number * BLOCK
        rows[begin : begin + BLOCK] = block(first + number)[: len(rows) - begin]

    with ThreadPoolExecutor(n_threads or os.cpu_count()) as threads:
        for _ in threads.map(write, range(-(-len(rows) // BLOCK))):
            pass  # Reading the results raises the errors of the threads.


def write_rows(path: Path, shape: tuple[int, int], dtype: str, block: BlockOf) -> None:
    """Write a file of rows, or what is missing of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.with_name(f"{path.name}.part").exists():
        _check_space(shape[0] * shape[1] * np.dtype(dtype).itemsize, path.parent)
    with _locked(path.with_name(f"{path.name}.lock")):
        if not path.exists():
            _write_missing(path, shape, np.dtype(dtype), block)


def _write_missing(path: Path, shape: tuple[int, int], dtype: np.dtype[Any], block: BlockOf) -> None:
    part, record = (path.with_name(f"{path.name}.{ending}") for ending in ("part", "done"))
    if not (part.exists() and record.exists()):
        np.lib.format.open_memmap(part, mode="w+", dtype=dtype, shape=shape)
        record.write_text("0")
    n_groups = -(-shape[0] // (GROUP * BLOCK))
    for group in range(int(record.read_text()), n_groups):
        # Mapped anew for each group, so that the process does not keep the whole file in memory.
        rows = np.lib.format.open_memmap(part, mode="r+")
        begin = group * GROUP * BLOCK
        fill(rows[begin : begin + GROUP * BLOCK], block, group * GROUP)
        rows.flush()
        del rows
        record.write_text(str(group + 1))
    part.replace(path)
    record.unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock, whose file remains if the work was interrupted."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
        path.unlink(missing_ok=True)


def _check_space(needed: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE_BYTES:
        raise OSError(
            f"{folder} has {free / 1e9:.1f} GB free, but the rows need {needed / 1e9:.1f} GB, and "
            f"{SPARE_BYTES / 1e9:.1f} GB must stay free. Set XDG_CACHE_HOME to a folder with more "
            "space, or use float16."
        )
