"""Seconds of the scalability experiment at the paper's size, measured on a quiet machine.

The runs that give the distortions take hours, and other processes run meanwhile. The seconds are
therefore measured separately (`run_paper.py scalability --seconds`) and stored in
`results/full/scalability_seconds.json`:

- Trees, Mini-Batch and boostkmeans are timed as a whole. Their distortion is stored, too.
- Direct k-way methods are timed as a whole up to `WHOLE_UP_TO`. Beyond, `FEW` iterations are timed. The
  mean of all but the first of these stands for the remaining ones, because the time of an iteration
  hardly changes.

`others` is the number of processors that other processes used meanwhile. Seconds of a busy machine are
not stored, but a distortion is: it does not depend on the load.
"""

import time
from collections.abc import Callable
from typing import Any

import experiment
from experiment import Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

import run_files
import vlad
from machine_load import is_busy, record_load
from provenance import stamp
from scalability_methods import DIRECT, ITERATIONS, Array, Fitted, fit
from seconds_runs import busy_text

# Number of rows times number of clusters up to which all iterations are timed.
WHOLE_UP_TO = 1_000_000 * 1024
# Iterations that are timed beyond.
FEW = 4
# From this number of rows on, a method is timed with one seed, and the rows are float16 beyond it.
ONE_SEED_FROM = 1_000_000
# Number of seeds for fewer rows.
SEEDS = 3
# Bytes between two values that are read to bring a mapped file into memory.
PAGE_BYTES = 4096

NAME = "scalability_seconds"


def load_rows(n: int) -> tuple[Array, str]:
    """Return the rows of a size, in memory. More than `ONE_SEED_FROM` rows are float16."""
    dtype = "float32" if n <= ONE_SEED_FROM else "float16"
    rows, name = vlad.rows(n, dtype=dtype)
    if isinstance(rows, np.memmap):
        rows.reshape(-1)[:: PAGE_BYTES // rows.itemsize].max()
    return rows, name


def is_timed(run: Json) -> bool:
    """Return whether the seconds of a run are measured."""
    return bool(run["seed"] < (SEEDS if run["n"] < ONE_SEED_FROM else 1))


def timed_iterations(run: Json) -> int:
    """Return how many iterations of a direct k-way method are timed."""
    is_batch = run["method"].startswith("Mini-Batch")
    return ITERATIONS if is_batch or run["n"] * run["k"] <= WHOLE_UP_TO else FEW


def time_method(run: Json) -> Json:
    """Return the seconds of a method and, if it was run as a whole, its distortion."""
    rows, name = load_rows(run["n"])
    iterations = timed_iterations(run)
    load: Json = {}
    with record_load(load):
        fitted = fit(run["method"], rows, run["k"], run["seed"], iterations)
    if run["method"] not in DIRECT:
        figures: Json = {"seconds": fitted.seconds}
    else:
        figures = seconds_of_iterations(fitted, iterations)
    if figures.get("timed_iterations", ITERATIONS) == ITERATIONS:
        figures["distortion"] = fitted.distortion
    return {"data": name, **figures, **load}


def seconds_of_iterations(fitted: Fitted, iterations: int) -> Json:
    """Return the seconds of `ITERATIONS` iterations, by those that were timed.

    `estimate` is what the first `FEW` iterations alone would give. A method that converged earlier than
    asked was timed as a whole.
    """
    times = fitted.times
    found: Json = {"seconds_of_iteration": mean_iteration(times)}
    if len(times) < iterations or iterations == ITERATIONS:
        found |= {"seconds": fitted.seconds, "timed_iterations": ITERATIONS}
        if len(times) == ITERATIONS:
            rest = fitted.seconds - times[-1]
            few = times[FEW - 1] + (ITERATIONS - FEW) * mean_iteration(times[:FEW]) + rest
            found["estimate"] = few
        return found
    total = fitted.seconds + (ITERATIONS - iterations) * found["seconds_of_iteration"]
    return {**found, "seconds": total, "timed_iterations": iterations}


def mean_iteration(times: list[float]) -> float:
    """Return the mean seconds of all iterations but the first, or of the only one."""
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else times[0]


def stored() -> list[Json]:
    """Return the stored seconds that were not disturbed."""
    return [one for one in experiment.stored_runs(NAME, True) if not is_busy(one)]


def missing_runs(plan: list[Json]) -> list[Json]:
    """Return the runs whose seconds are not stored, or whose process was killed."""
    known = [one for one in stored() if run_files.is_finished(one)]
    timed = filter(is_timed, plan)
    return [run for run in timed if not any(run_files.matches(one, run) for one in known)]


def measure_missing(
    name: str, plan: list[Json], measure: Callable[[Json], Json], duration: float | None
) -> None:
    """Measure the seconds of the runs that are not stored, until `duration` seconds have passed.

    `measure` calls `time_method` in a process of its own. The distortion of a whole run is stored as a
    result of the experiment `name`.
    """
    began = time.monotonic()
    for run in missing_runs(plan):
        if duration is not None and time.monotonic() - began > duration:
            return
        print(f"seconds of {experiment.one_line(run)}", end=" ", flush=True)
        figures = measure(run)
        print(f"-> {experiment.one_line(figures)}{busy_text(figures)}", flush=True)
        if not is_busy(figures) and run_files.is_finished(figures):
            keep(NAME, run, {one: value for one, value in figures.items() if one != "distortion"}, [run])
        if "distortion" in figures:
            whole = ("data", "distortion", "peak_megabytes")
            keep(name, run, {one: figures[one] for one in whole if one in figures}, plan)


def keep(name: str, run: Json, figures: Json, plan: list[Json]) -> None:
    """Store the figures of a run in a result file at the paper's size."""
    head = {"name": name, "size": "full"}
    entry: Any = {"run": run, **figures, **stamp()}

    def change(content: Json) -> Json:
        content = content or run_files.arranged(content, head, plan, [])
        return run_files.with_run(content, entry)

    run_files.update(experiment.path_of(name, True), change)
