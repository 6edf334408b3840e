"""Running the paper's experiments, storing their results, and writing their pages.

An experiment is a module with

- `NAME` and `TITLE`;
- `plan(full)`: the settings of each run, as a list of dictionaries, at the small or at the paper's size;
- `measure(run)`: the figures of one run, as a dictionary;
- `page(result)`: the page as Markdown, written from the result file alone;
- optionally `draw(result)`: the pictures of the page, saved in `IMAGES`;
- optionally `cost(run)`: the estimated seconds of a run, or None if it is unknown;
- optionally `priority(run)`: a number; runs with a lower one are measured first (default: 5);
- optionally `trace_of(run)`: `{"trace": ..., "view": ...}` if the figures of a run come from a trace
  that several experiments share (see `traces.py`), or None. `measure` then computes the trace;
- optionally `measure_seconds(duration)`: measures times at the paper's size on a quiet machine, and
  stores them separately; it begins no measurement after `duration` seconds, if this is not None;
- with it `estimate_seconds()`: how many measurements are missing, and their estimated seconds;
- optionally `NEEDS_QUIET`: True if the page shows times of a quiet machine only;
- optionally `LARGER_SIZE`: the name of the larger size, if it is not that of the paper;
- optionally `LOAD_MATTERS`: False if the page shows no times, or processor times, which hardly depend
  on other processes;
- optionally `SHOWS_BOTH`: True if the page shows the small size, too, while the paper's is incomplete,
  or "always".

`results/NAME.json` stores the runs at the small size, `results/full/NAME.json` those at the paper's
size; `run_files.py` describes their format. Runs that are stored are not measured again, whatever
version measured them, so an interrupted experiment continues where it stopped. A long run keeps its
state in `run_folder(NAME, run)`, so it continues, too.
"""

import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))  # Experiments share modules with the benchmarks.

import run_files
import traces
from environment import N_THREADS, Json
from page import table
from provenance import machines_text, stamp, versions_text
from run_load import load_text
from run_state import measured_once, note_progress, remove_run_folder, request_again, run_folder

__all__ = ["IMAGES", "N_THREADS", "Experiment", "Json", "load_result", "load_size", "main",
           "note_progress", "run_folder", "stored_runs", "table"]  # fmt: skip

RESULTS = HERE / "results"
PAGES = HERE.parent / "docs" / "paper"
IMAGES = HERE.parent / "docs" / "images"

# Priority of runs without another one.
DEFAULT_PRIORITY = 5


Plan = Callable[[bool], list[Json]]
"""Function that returns the settings of all runs, at the small or at the paper's size."""


class Experiment(Protocol):
    """One table or figure of the paper."""

    NAME: str
    TITLE: str

    def plan(self, full: bool) -> list[Json]:
        """Return the settings of all runs."""

    def measure(self, run: Json) -> Json:
        """Return the figures of one run."""

    def page(self, result: Json) -> str:
        """Return the page as Markdown, without its title."""


# --- Results -------------------------------------------------------------------------------------------


def path_of(name: str, full: bool) -> Path:
    """Return the path of a result file."""
    return RESULTS / ("full" if full else "") / f"{name}.json"


def traces_folder() -> Path:
    """Return the folder of the traces at the paper's size."""
    return RESULTS / "full" / "traces"


def load_size(name: str, full: bool, running: bool = False, plan: Plan | None = None) -> Json | None:
    """Return the result at one size, or None without its file.

    It has all stored runs, also if others of the plan are missing (`complete` is then False). With
    `running`, it includes the runs that are still being measured; they have `so_far`.
    """
    path = path_of(name, full)
    if not path.exists():
        return None
    return run_files.read_runs(path, running, None if plan is None else plan(full))


def load_result(name: str, plan: Plan | None = None) -> Json | None:
    """Return the result at the paper's size if it is complete, else the result at the small size.

    If neither is complete, return the first that exists, or None.
    """
    found = [one for full in (True, False) if (one := load_size(name, full, plan=plan)) is not None]
    return next((one for one in found if one.get("complete")), found[0] if found else None)


def stored_runs(name: str, full: bool) -> list[Json]:
    """Return the runs of a result file, or an empty list without the file."""
    result = load_size(name, full)
    return [] if result is None else list(result["runs"])


# --- Measuring -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """A run that has to be measured."""

    experiment: Experiment
    run: Json
    full: bool
    label: str

    @property
    def priority(self) -> float:
        """The place of the job in the order: lower ones come first."""
        priority: Any = getattr(self.experiment, "priority", None)
        return DEFAULT_PRIORITY if priority is None else float(priority(self.run))


def trace_of(experiment: Experiment, run: Json) -> Json | None:
    """Return the reference of a run to its trace, if it has one."""
    reference: Any = getattr(experiment, "trace_of", None)
    return None if reference is None else reference(run)


def prepare_file(experiment: Experiment, full: bool) -> None:
    """Arrange the runs of a result file by the plan, and add references to traces."""
    plan = experiment.plan(full)
    head = {"name": experiment.NAME, "size": "full" if full else "small"}
    traced = [(run, trace_of(experiment, run)) for run in plan]
    references = [{"run": run, **reference} for run, reference in traced if reference is not None]
    path = path_of(experiment.NAME, full)
    if path.exists() or references:
        run_files.update(path, lambda content: run_files.arranged(content, head, plan, references))


def missing_jobs(experiment: Experiment, full: bool, again: bool | Collection[str] = False) -> list[Job]:
    """Return the runs of the plan that are not stored, in the order of the plan.

    `again` adds stored runs: all of them if it is True, or those of some methods.
    """
    plan, stored = experiment.plan(full), stored_runs(experiment.NAME, full)
    finished = [one for one in stored if run_files.is_finished(one)]

    def is_missing(run: Json) -> bool:
        repeated = again if isinstance(again, bool) else run.get("method") in again
        return repeated or not any(run_files.matches(one, run) for one in finished)

    return [
        Job(experiment, run, full, f"{experiment.NAME} {number}/{len(plan)}")
        for number, run in enumerate(plan, start=1)
        if is_missing(run)
    ]


def measure_job(job: Job, again: bool = False) -> None:
    """Measure one run and store it, unless another process does so."""
    name, path = job.experiment.NAME, path_of(job.experiment.NAME, job.full)
    stored = [one for one in stored_runs(name, job.full) if run_files.is_finished(one)]
    if not again and any(run_files.matches(one, job.run) for one in stored):
        return  # A run with the same trace has computed it, or another process has.

    reference = trace_of(job.experiment, job.run)
    if again and reference is not None:
        request_again(reference["trace"])

    def measure() -> None:
        print(f"{job.label}: {one_line(job.run)}", end=" ", flush=True)
        began = time.perf_counter()
        figures = job.experiment.measure(job.run)
        duration = time.perf_counter() - began
        print(f"-> {one_line(figures)} ({duration:.1f} s)", flush=True)
        if reference is None:
            entry = {"run": job.run, **figures, "duration": round(duration, 1), **stamp()}
            run_files.update(path, lambda content: run_files.with_run(content, entry))
        remove_run_folder(name, job.run)

    if not measured_once(name, job.run, measure):
        print(f"{job.label}: {one_line(job.run)} is being measured by another process", flush=True)


def run_jobs(jobs: Sequence[Job], again: bool = False) -> None:
    """Measure runs in the order of their priority."""
    for job in sorted(jobs, key=lambda one: one.priority):
        if not path_of(job.experiment.NAME, job.full).exists():
            store_empty(job.experiment, job.full)
        measure_job(job, again)


def store_empty(experiment: Experiment, full: bool) -> None:
    """Write a result file without runs."""
    head = {"name": experiment.NAME, "size": "full" if full else "small"}
    plan = experiment.plan(full)
    run_files.update(
        path_of(experiment.NAME, full), lambda content: run_files.arranged(content, head, plan, [])
    )


def run_experiment(
    experiment: Experiment, full: bool, remeasure: bool | Collection[str] = False
) -> None:
    """Measure the runs of the plan that are not stored, and also stored ones if `remeasure`.

    `remeasure` is True for all runs, or has the names of methods.
    """
    prepare_file(experiment, full)
    run_jobs(missing_jobs(experiment, full, remeasure), again=bool(remeasure))


def one_line(values: Json) -> str:
    """Return the values as "name=value" on one line, without lists, dictionaries and the origin."""
    parts = [
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in values.items()
        if not isinstance(value, list | dict) and name not in ("sha256", *traces.STAMP)
    ]
    return ", ".join(parts)


# --- Pages ---------------------------------------------------------------------------------------------


def shown_results(experiment: Experiment) -> list[Json]:
    """Return the results that a page shows: one, or both sizes while the paper's is incomplete."""
    both = getattr(experiment, "SHOWS_BOTH", False)
    if not both:
        result = load_result(experiment.NAME, experiment.plan)
        return [] if result is None else [result]
    sizes = [
        load_size(experiment.NAME, full, running=True, plan=experiment.plan) for full in (True, False)
    ]
    found = [one for one in sizes if one is not None and one["runs"]]
    return found[:1] if both != "always" and found and found[0].get("complete") else found


def write_page(experiment: Experiment) -> None:
    """Write `docs/paper/NAME.md` and its pictures, if there are results."""
    results = shown_results(experiment)
    if not results:
        return
    PAGES.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    draw: Any = getattr(experiment, "draw", None)
    for result in results if draw is not None else []:
        draw(result)
    (PAGES / f"{experiment.NAME}.md").write_text(page_text(experiment, *results))


def page_text(experiment: Experiment, *results: Json) -> str:
    """Return the whole page of an experiment: title, origin of the figures, and content.

    With two results, each has a section of its own.
    """
    parts = [f"# {experiment.TITLE}\n"]
    for result in results:
        text = f"{origin(experiment, result)}\n\n{experiment.page(result).strip()}\n"
        if len(results) > 1:
            text = f"## At {size_name(experiment, result)}\n\n" + text.replace("\n## ", "\n### ")
        parts.append(text)
    return "\n".join(parts)


def size_name(experiment: Experiment, result: Json) -> str:
    """Return the name of the size of a result."""
    larger: str = getattr(experiment, "LARGER_SIZE", "the paper's size")
    return larger if result["size"] == "full" else "the small size"


def origin(experiment: Experiment, result: Json) -> str:
    """Return a paragraph about the size, the file, the machine and the versions of a result."""
    full = result["size"] == "full"
    size = size_name(experiment, result) + ("" if full else " (`make paper`)")
    script = Path(str(experiment.__file__)).name  # type: ignore[attr-defined]
    runs = result["runs"]
    incomplete = " Some runs are still missing." if result.get("complete") is False else ""
    load = load_text(runs, getattr(experiment, "NEEDS_QUIET", False))
    note = f" {load}" if load and getattr(experiment, "LOAD_MATTERS", True) else ""
    return (
        f"Measured at {size} by `paper/{script}`.{incomplete} Results: "
        f"`{path_of(experiment.NAME, full).relative_to(HERE.parent)}`. Machine: {machines_text(runs)}. "
        f"Versions: {versions_text(runs)}. The names of the methods are explained in [The paper's "
        f"claims](../paper.md).{note}"
    )


def main(*experiments: Experiment) -> int:
    """Run the command line of one experiment, or of all of them. Return the exit code."""
    import command_line

    return command_line.main(*experiments)
