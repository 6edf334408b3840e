"""Attacks on resources: decompression bombs, full disks, and forks of processes that fit."""

import gzip
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attacks.files import folder
from boostkmeans import BoostKMeans, load_model
from boostkmeans.cli.files.column_input import read_column, read_numbers
from boostkmeans.cli.files.table_input import read_lines
from boostkmeans.io import open_vectors, write_vectors

# Limits of memory and disk for a bomb, in bytes, and the size of its content.
LIMIT = 8 * 10**6
BOMB_BYTES = 64 * 10**6
# Number of bytes by which the process may grow beyond the limit: buffers and modules that are imported.
SLACK = 64 * 10**6
# Size of a hostile file with one value per row, and the number of bytes that reading may take per byte.
COLUMN_BYTES = 4 * 10**6
MAX_PER_BYTE = 32
COLUMN_READERS: tuple[Callable[[str], object], ...] = (read_numbers, read_column, read_lines)
# A bomb must be refused within this number of seconds.
MAX_SECONDS = 30.0
# Number of bytes of `ru_maxrss`: macOS counts bytes, Linux kilobytes.
UNIT = 1 if sys.platform == "darwin" else 1024
# Size of the small disk, and the largest free space before a write.
DISK_BYTES, MAX_FREE = 1 << 20, 300_000
FULL_DEVICE = Path("/dev/full")
ROWS = np.random.default_rng(0).normal(size=(1000, 32))
# Number of seconds after which a forked process counts as hanging.
FORK_SECONDS = 120


def _compressed(line: bytes) -> bytes:
    return gzip.compress(line * (BOMB_BYTES // len(line)))


def _array_file(path: Path) -> bytes:
    np.save(path, np.zeros((BOMB_BYTES // 64, 8)))
    return path.read_bytes()


@cache
def bombs() -> list[Path]:
    """Write small files of several formats with much content."""
    contents: dict[str, Callable[[], bytes]] = {
        "zeros.csv": lambda: _compressed(b"0,0,0,0\n"),
        "blank.csv": lambda: _compressed(b"\n"),
        "line.csv": lambda: _compressed(b"0,"),
        "lists.jsonl": lambda: _compressed(b"[0,0,0,0]\n"),
        "pairs.svm": lambda: _compressed(b"0 1:1 2:1\n"),
        "array.npy.gz": lambda: gzip.compress(_array_file(folder() / "zeros.npy")),
    }
    for name, content in contents.items():
        (folder() / name).write_bytes(content())
    np.savez_compressed(folder() / "array.npz", np.zeros((BOMB_BYTES // 64, 8)))
    return [*(folder() / name for name in contents), folder() / "array.npz"]


def open_bomb(number: int) -> str:
    """Read a bomb with little memory and disk."""
    path = bombs()[number % len(bombs())]
    before, began = _peak_bytes(), time.perf_counter()
    try:
        with open_vectors(path, max_memory=LIMIT, max_disk=LIMIT) as vectors:
            vectors.load()
    except (ValueError, MemoryError, OSError):
        return _excess(path, LIMIT, before, began)
    return f"{path.name}: it was read despite the limits"


def _excess(path: Path, limit: int, before: int, began: float) -> str:
    """Return why an attempt took too much memory or time, or ""."""
    grown, seconds = _peak_bytes() - before, time.perf_counter() - began
    if grown > limit + SLACK:
        return f"{path.name}: the process has grown by {grown:,} bytes"
    return "" if seconds < MAX_SECONDS else f"{path.name}: refused only after {seconds:.0f} s"


@cache
def columns() -> list[Path]:
    """Write text files with one value per row, whose memory a careless reader would multiply."""
    contents = {
        "long_line.txt": b"1\n" * 2000 + b"1" * COLUMN_BYTES,
        "long_allowed_line.txt": b"1\n" * 50_000 + b"1" * 65_000,
        "blank.txt": b"1\n" + b"\n" * COLUMN_BYTES,
        "blank_before_value.txt": b"\n" * COLUMN_BYTES + b"1",
    }
    for name, content in contents.items():
        (folder() / name).write_bytes(content)
    return [folder() / name for name in contents]


def read_hostile_column(number: int) -> str:
    """Read weights, classes or texts from a hostile file. Memory follows the size of the file."""
    path = columns()[number % len(columns())]
    read = COLUMN_READERS[number // len(columns()) % len(COLUMN_READERS)]
    before, began = _peak_bytes(), time.perf_counter()
    with suppress(ValueError):
        read(str(path))
    return _excess(path, MAX_PER_BYTE * path.stat().st_size, before, began)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """Mount a small disk, or yield None if this is not allowed."""
    place = folder() / "disk"
    place.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)]
    if not sys.platform.startswith("linux") or subprocess.run(mount, capture_output=True).returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def no_full_disk() -> str:
    """Return why no full disk can be tried here, or ""."""
    with small_disk() as disk:
        is_possible = disk is not None or FULL_DEVICE.exists()
    return "" if is_possible else "tmpfs cannot be mounted, and there is no /dev/full"


@cache
def saved_models() -> tuple[Any, Any]:
    """Return a model with a small file, and one with a file that may not fit on the disk."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 16))
    return BoostKMeans(2, random_state=0).fit(ROWS), BoostKMeans(500, random_state=0).fit(rows)


def write_to_full_disk(number: int) -> str:
    """Replace a file while the disk becomes full. The old or the new one must be complete."""
    with small_disk() as disk:
        if disk is None:
            return _write_to_device(number)
        return _replace_on(disk, number)


def _write_to_device(number: int) -> str:
    """Write to a device that is always full."""
    try:
        _write(number, FULL_DEVICE, saved_models()[1])
    except OSError:
        return ""
    return "an error was lost"


def _write(number: int, path: Path, model: Any) -> None:
    """Write a model, its centres, or the checkpoint of a fit."""
    kind = number % 3
    if kind == 0:
        model.save(path)
    elif kind == 1:
        write_vectors(path, model.cluster_centers_, format="npy", force=True)
    else:
        BoostKMeans(100, random_state=0, max_iter=3, checkpoint=path).fit(ROWS)


def _replace_on(disk: Path, number: int) -> str:
    kind, path, rng = number % 3, disk / "file", random.Random(number)
    if kind != 2:
        _write(number, path, saved_models()[0])
    before = path.read_bytes() if path.exists() else None
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "ballast").write_bytes(bytes(free - rng.randrange(MAX_FREE)))
    failed = False
    try:
        _write(number, path, saved_models()[1])
    except OSError:
        failed = True
    left = [one.name for one in disk.iterdir() if one.name not in ("file", "ballast")]
    if left:
        return f"files were left: {left}"
    if failed and kind != 2:
        return "" if path.read_bytes() == before else "the old file has changed"
    if failed and not path.exists():
        return ""
    return _is_readable(kind, path)


def _is_readable(kind: int, path: Path) -> str:
    """Return why a file cannot be read, or ""."""
    if kind == 0:
        load_model(path)
    elif kind == 1:
        np.load(path)
    else:
        BoostKMeans(100, random_state=0, max_iter=3, checkpoint=path).fit(ROWS)
    return ""


@cache
def expected_labels() -> Any:
    """Return the labels of a fit in a process that was not forked from a thread."""
    return _fit().labels_


def _fit() -> BoostKMeans:
    return BoostKMeans(20, random_state=0, n_threads=3, tol=0).fit(ROWS)


def fork(number: int) -> str:
    """Fork after a fit, or while another thread fits, and fit or predict in the child."""
    expected, model = expected_labels(), _fit()
    stop = threading.Event()
    thread = threading.Thread(target=_fit_until, args=(stop,))
    if number % 2:
        thread.start()
    time.sleep(0.01 * random.Random(number).random())
    try:
        child = os.fork()
        if child == 0:
            _compare_and_exit(model, expected)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        stop.set()
        if number % 2:
            thread.join()
    return "" if code == 0 else f"the child ended with {code}"


def _fit_until(stop: threading.Event) -> None:
    while not stop.is_set():
        _fit()


def _compare_and_exit(model: BoostKMeans, expected: Any) -> None:
    """End this process: with 0 if a fit and `predict` give the labels of the parent."""
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(FORK_SECONDS)  # a child that hangs is ended
        same = np.array_equal(_fit().labels_, expected)
        code = 0 if same and np.array_equal(model.predict(ROWS), expected) else 2
    finally:
        os._exit(code)
