"""State of a run in progress: its folder outside the repository, its lock and its progress.

A long run keeps what it needs to continue in its folder. The folder is removed when the run is stored.
"""

import fcntl
import hashlib
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from environment import Json

# Seconds between two lines about the progress of a run.
PAUSE = 60.0
PROGRESS = "progress.txt"


def state_folder() -> Path:
    """Return the folder of all runs in progress."""
    import vlad

    return vlad.cache_folder() / "paper"


def run_folder(name: str, run: Json) -> Path:
    """Return the folder of a run, which may not exist yet. `name` is that of the experiment."""
    text = json.dumps({key: value for key, value in run.items() if key != "limit"}, sort_keys=True)
    return state_folder() / name / hashlib.sha256(text.encode()).hexdigest()[:16]


def remove_run_folder(name: str, run: Json) -> None:
    """Remove the folder of a run that is stored."""
    shutil.rmtree(run_folder(name, run), ignore_errors=True)


def again_mark(trace: str) -> Path:
    """Return the path of a file that requests to compute a complete trace again."""
    return state_folder() / "again" / trace


def request_again(trace: str) -> None:
    """Request that a trace is computed again. The stored one stays until this is done."""
    again_mark(trace).parent.mkdir(parents=True, exist_ok=True)
    again_mark(trace).touch()


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a file between processes. Yield False if `wait` is False and it is taken.

    The lock is released when the process ends, whatever ends it.
    """
    lock = state_folder() / "locks" / f"{hashlib.sha256(str(path).encode()).hexdigest()[:16]}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def note_progress(folder: Path, text: str) -> None:
    """Store a short text about the progress of a run, which `reporting` prints."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{PROGRESS}.part"
    part.write_text(text)
    part.replace(folder / PROGRESS)


def progress_of(folder: Path) -> str:
    """Return the last text about the progress of a run."""
    path = folder / PROGRESS
    return path.read_text() if path.exists() else ""


@contextmanager
def reporting(folder: Path, pause: float = PAUSE) -> Iterator[None]:
    """Print a line with the elapsed time and the progress of a run from time to time."""
    ended, began = threading.Event(), time.monotonic()

    def report() -> None:
        while not ended.wait(pause):
            note = progress_of(folder)
            print(f"\n  {duration_text(time.monotonic() - began)} {note}", end=" ", flush=True)

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def duration_text(seconds: float) -> str:
    """Return a duration with a suitable unit."""
    units = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
    size, unit = next((one for one in units if seconds >= 1.5 * one[0]), units[-1])
    return f"{seconds / size:.1f} {unit}"


def measured_once(name: str, run: Json, measure: Callable[[], None]) -> bool:
    """Call `measure` unless another process measures the same run. Return whether it was called."""
    folder = run_folder(name, run)
    with locked(folder, wait=False) as mine:
        if mine:
            with reporting(folder):
                measure()
        return mine
