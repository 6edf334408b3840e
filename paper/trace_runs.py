"""Computation of traces, each in a process of its own, which can be interrupted at any time.

The state of a trace is in `run_folder("traces", run)`: a checkpoint or centres, from which the fit
continues. The trace itself is stored after each iteration.
"""

import os
import shutil
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import experiment
from experiment import Json, note_progress, run_folder

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported. It also makes
# `isolated` importable.
import numpy as np

import traces
from all_contenders import CONTENDERS, may_use_bounds
from bounded_fits import number_of_components
from contenders import FitState, Task, Trace, TracePoint
from isolated import isolated
from machine_load import record_load
from provenance import joined, stamp
from public_data import fingerprint, sift
from result_files import write_json
from run_state import again_mark, locked, state_folder


def key_of(run: Json) -> Json:
    """Return the settings that identify a trace."""
    return {name: run[name] for name in ("method", "n", "k", "seed")}


def reference(run: Json, method: str, view: str) -> Json | None:
    """Return the reference of a run to the trace of a method, if its figures come from a trace."""
    return {"trace": traces.slug(method, run["seed"]), "view": view} if run.get("traced") else None


def path_of(run: Json) -> Path:
    """Return the path of the trace of a run."""
    return experiment.traces_folder() / f"{traces.slug(run['method'], run['seed'])}.json"


def labels_path(run: Json) -> Path:
    """Return the path of the final labels, which are kept outside the repository."""
    return state_folder() / "labels" / f"{traces.slug(run['method'], run['seed'])}.npy"


def measure(run: Json, view: str) -> Json:
    """Compute the trace of a run, unless it is complete. Return its figures, or why it failed.

    There is no time limit: the trace is stored after each iteration, so its progress is visible.
    """
    run = key_of(run)
    path, folder = path_of(run), run_folder("traces", run)
    known = traces.read_trace(path)
    again = again_mark(path.stem).exists()
    if known is not None and known["run"] == run and not again:
        if known.get("computed_elsewhere") and not known["complete"]:
            return {"skipped": "computed elsewhere; import it again when it is complete"}
        if known["complete"]:
            return traces.figures(path, view) or {}
    with locked(folder, wait=False) as mine:
        if not mine:
            return {"skipped": "another process computes this trace"}
        outcome = isolated(compute_in_process, run, str(path), limit=None)
    return {"failure": outcome.failure} if outcome.failure else traces.figures(path, view) or {}


def compute_in_process(run: Json, target: str) -> None:
    """Compute a trace in a separate process, which only its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    compute_stored(run, target)


def compute_stored(run: Json, target: str) -> None:
    """Compute a trace, and store it after each iteration."""
    folder = run_folder("traces", run)
    folder.mkdir(parents=True, exist_ok=True)
    known = traces.read_trace(Path(target))
    # A complete trace is replaced at the end. Others are replaced after each iteration.
    replaced = known is not None and known["run"] == run and known["complete"]
    path = folder / "trace.json" if replaced else Path(target)
    head, points = begin(run, traces.read_trace(path), folder)
    keep = partial(keep_points, path, head, os.getppid(), folder, time.monotonic())
    trace = CONTENDERS[run["method"]](task_of(run, FitState(folder, points, keep), bounded=True))
    keep(trace.points)
    content = complete(traces.read_trace(path) or head, trace)
    labels_path(run).parent.mkdir(parents=True, exist_ok=True)
    np.save(labels_path(run), trace.labels)
    write_json(Path(target), content)
    again_mark(Path(target).stem).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def begin(run: Json, known: Json | None, folder: Path) -> tuple[Json, list[TracePoint]]:
    """Return a trace without iterations, and the points before an interruption."""
    rows, data = sift(run["n"])
    head: Json = {"run": run, "data": data, "sha256": fingerprint(rows), **stamp()}
    if may_use_bounds(run["method"]) and (count := number_of_components(rows, run["k"])):
        head["bounds"] = f"{count} principal components"
    same = known is not None and known["run"] == run and known["sha256"] == head["sha256"]
    if known is None or not same or not has_state(folder):
        return {**head, "computed_seconds": 0.0}, []
    for name in ("version", "commit"):
        head[name] = joined(known[name], head[name])
    points = [TracePoint(number, 0.0, distortion, moves) for number, distortion, moves in
              known["iterations"]]  # fmt: skip
    return {**head, "computed_seconds": known.get("computed_seconds", 0.0)}, points


def has_state(folder: Path) -> bool:
    """Return whether a fit can continue from the files in a folder."""
    return any(path.suffix in (".checkpoint", ".pickle") for path in folder.iterdir())


def task_of(run: Json, state: FitState | None = None, **settings: Any) -> Task:
    """Return the task of a run."""
    rows, _ = sift(run["n"])
    return Task(rows, run["k"], run["seed"], state=state, **settings)


def keep_points(
    path: Path, head: Json, parent: int, folder: Path, began: float, points: list[TracePoint]
) -> None:
    """Store a trace after an iteration."""
    if os.getppid() != parent:
        os._exit(1)  # The parent process was killed, and another one may continue.
    spent = head["computed_seconds"] + time.monotonic() - began
    content = {
        **head,
        "computed_seconds": round(spent, 1),
        "iterations": [[one.iteration, one.distortion, one.moves] for one in points],
        "complete": False,
    }
    write_json(path, content)
    last = points[-1]
    note_progress(folder, f"iteration {last.iteration}, distortion {last.distortion:,.1f}")


def complete(content: Json, trace: Trace) -> Json:
    """Return the content of a trace that has ended."""
    return {
        **content,
        "stop_reason": trace.stop_reason,
        "distortion": trace.distortion,
        "figures": trace.figures,
        "complete": True,
    }


def compute_timed(run: Json) -> Json:
    """Return a whole trace with the seconds of each iteration and the load, which is not stored.

    It is for the small size, where a run takes seconds; called in a separate process.
    """
    rows, data = sift(run["n"])
    head: Json = {"run": key_of(run), "data": data, "sha256": fingerprint(rows)}
    with record_load(head):
        trace = CONTENDERS[run["method"]](Task(rows, run["k"], run["seed"]))
    points = [[one.iteration, one.distortion, one.moves, round(one.seconds, 4)] for one in trace.points]
    return complete({**head, "iterations": points}, trace)
