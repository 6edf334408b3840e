"""Measurement of the seconds of a few iterations of each method, on a quiet machine.

See `seconds.py` for the file. Methods are measured in turns: one sample of each, then the next round. A
measurement that is interrupted continues with the method that has the fewest samples. Samples that other
processes disturbed are not stored.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import experiment
from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported. It also makes
# `isolated` importable.
from all_contenders import CONTENDERS
from boostkmeans.baselines import MiniBatchKMeans
from contenders import ITERATIONS, Task
from costs import model_of
from isolated import isolated
from machine_load import QUIET, is_busy, record_load
from provenance import stamp
from public_data import sift
from result_files import write_json
from run_state import duration_text, locked
from seconds import NAME, entries, samples_of

# Iterations of a sample; the first one includes the start.
FEW = 4
# Batches of a sample of Mini-Batch.
FEW_BATCHES = 10
# Samples of a method, and of one that takes minutes.
ROUNDS = 3

# Estimated seconds to start a process and to load the rows.
LOADING = 5.0

Estimate = tuple[int, float]
"""Number of measurements that are missing, and their estimated seconds."""
Sampler = Callable[[Json], Json]
"""Return `start` and `iterations`, in seconds, of the settings of a timing; called in a process."""


@dataclass(frozen=True)
class Timing:
    """A method whose seconds are measured."""

    method: str
    n: int
    k: int
    sampler: Sampler
    rounds: int = ROUNDS
    iterations: int | None = None
    """Number of iterations of a sample, for the estimate; None is that of the sampler."""

    @property
    def run(self) -> Json:
        """The settings, as they are stored."""
        return {"method": self.method, "n": self.n, "k": self.k}

    def count(self, folder: Path) -> int:
        """Return the number of undisturbed samples that are stored."""
        return len(samples_of(folder, self.method, self.n, self.k))

    def missing(self, folder: Path) -> int:
        """Return the number of samples that are not stored."""
        return max(0, self.rounds - self.count(folder))

    def cost(self) -> float:
        """Return the estimated seconds of a sample."""
        start, step, number = model_of(self.method, self.n, self.k)
        return LOADING + start + step * (self.iterations or ITERATIONS_OF.get(self.sampler, number))


def folder_of_results() -> Path:
    """Return the folder of the file."""
    return experiment.traces_folder().parent


def next_timing(timings: Sequence[Timing], failed: Sequence[Timing]) -> Timing | None:
    """Return the timing that is due: the first one with the fewest samples."""
    folder = folder_of_results()
    due = [one for one in timings if one.count(folder) < one.rounds and one not in failed]
    return min(due, key=lambda one: one.count(folder), default=None)


def estimate(timings: Sequence[Timing]) -> Estimate:
    """Return the number of missing samples, and their estimated seconds."""
    folder = folder_of_results()
    missing = [(one.missing(folder), one) for one in timings]
    return sum(n for n, _ in missing), sum(n * one.cost() for n, one in missing if n)


def measure(timings: Sequence[Timing], duration: float | None = None) -> None:
    """Measure all samples that are missing, or as many as begin within `duration` seconds.

    A method with a disturbed sample is left to the next call, so that this one ends on a busy machine.
    """
    began = time.monotonic()
    failed: list[Timing] = []
    while (timing := next_timing(timings, failed)) is not None:
        if duration is not None and time.monotonic() - began >= duration:
            left = sum(one.missing(folder_of_results()) for one in timings)
            print(f"{left} samples are missing. The same command continues.", flush=True)
            return
        print(f"seconds of {timing.method}, {timing.n:,} x 128, k={timing.k:,}:", end=" ", flush=True)
        outcome = isolated(sample, timing.sampler, timing.run, limit=None)
        if outcome.failure:
            print(outcome.failure, flush=True)
            failed.append(timing)
            continue
        print(sample_text(outcome.value), flush=True)
        if is_busy(outcome.value):
            failed.append(timing)
        else:
            add_sample(timing, outcome.value)


def sample(sampler: Sampler, run: Json) -> Json:
    """Return a sample with the load of the machine; called in a separate process."""
    found: Json = {}
    with record_load(found):
        found |= sampler(run)
    return found


def sample_text(found: Json) -> str:
    """Return a short text about a sample, with a warning if other processes were busy."""
    steps = found["iterations"]
    each = f", {duration_text(statistics.median(steps))} per iteration" if steps else ""
    return f"{duration_text(found['start'])}{each}{busy_text(found)}"


def busy_text(found: Json) -> str:
    """Return a warning if other processes were busy during a measurement."""
    if not is_busy(found):
        return ""
    return f" NOT STORED: others used {found['others']:.2f} cores (at most {QUIET} are allowed)"


def add_sample(timing: Timing, found: Json) -> None:
    """Store a sample."""
    folder = folder_of_results()
    with locked(folder / NAME):
        known = entries(folder)
        entry = next((one for one in known if one["run"] == timing.run), None)
        if entry is None:
            entry = {"run": timing.run, "samples": []}
            known.append(entry)
        entry["samples"].append({**found, **stamp()})
        write_json(folder / NAME, {"runs": known})


# --- Samples -------------------------------------------------------------------------------------------


def task_of(run: Json, iterations: int = ITERATIONS) -> Task:
    """Return the task of a timing, after a tiny fit that starts the threads."""
    rows, _ = sift(run["n"])
    task = Task(rows, run["k"], 0, iterations=iterations)
    CONTENDERS["BKM(non)"](Task(rows[:2_000], 10, 0, iterations=2))
    return task


def steps_of(times: Sequence[float]) -> Json:
    """Return the seconds of each iteration but the first, and those of the start."""
    steps = [after - before for before, after in pairwise(times)]
    start = times[0] - statistics.median(steps) if steps else 0.0
    return {"start": max(0.0, start), "iterations": steps or [times[0]]}


def iterations(run: Json) -> Json:
    """Time a few iterations of a direct k-way method."""
    trace = CONTENDERS[run["method"]](task_of(run, FEW))
    return steps_of([point.seconds for point in trace.points])


def one_iteration(run: Json) -> Json:
    """Time the first iteration of a slow method."""
    trace = CONTENDERS[run["method"]](task_of(run, 1))
    return steps_of([trace.points[0].seconds])


def batches(run: Json) -> Json:
    """Time a few batches of Mini-Batch."""
    task, share_of = task_of(run), "total" if "total" in run["method"] else "batch"
    model = MiniBatchKMeans(task.k, share_of=share_of, max_iter=ITERATIONS, record_every=FEW_BATCHES,
                            random_state=0, callback=lambda record: True).fit(task.X)  # fmt: skip
    return {"start": 0.0, "iterations": [model.history_[0].seconds / FEW_BATCHES]}


def whole(run: Json) -> Json:
    """Time a whole fit."""
    trace = CONTENDERS[run["method"]](task_of(run))
    return {"start": trace.points[-1].seconds, "iterations": []}


# Number of iterations of a sample; other samples are whole fits.
ITERATIONS_OF: dict[Sampler, int] = {iterations: FEW, one_iteration: 1, batches: FEW_BATCHES}
