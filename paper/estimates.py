"""Estimates of the time that the missing runs of experiments take."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from environment import Json
from page import table
from run_files import matches
from run_state import duration_text

FOOT = (
    "The time is that of a machine that does nothing else. A trace of several experiments counts once.\n"
)
SECONDS_FOOT = (
    "The time is that of a quiet machine. Times that other processes disturb are not stored. `--for S` "
    "ends after about S seconds, and the same command continues.\n"
)


def cost_of(experiment: Any, run: Json, stored: list[Json]) -> float | None:
    """Return the estimated seconds of a run, or None if nothing is known.

    Stored runs of the same method and size tell best. Otherwise an experiment may have a function
    `cost(run)`, or else any stored runs of the same method tell, or all of them.
    """
    timed = [one for one in stored if "duration" in one and "failure" not in one]
    names = [name for name in ("method", "n", "k", "m") if name in run]
    known = mean_duration(timed, run, names)
    if known is not None:
        return known
    cost = getattr(experiment, "cost", None)
    modelled: float | None = None if cost is None else cost(run)
    if modelled is not None:
        return modelled
    known = mean_duration(timed, run, ["method"])
    return mean_duration(timed, run, []) if known is None else known


def mean_duration(timed: list[Json], run: Json, names: Sequence[str]) -> float | None:
    """Return the mean duration of the stored runs that have the same settings of some names."""
    some = [
        one["duration"] for one in timed
        if all(one["run"].get(name) == run.get(name) for name in names)
    ]  # fmt: skip
    return statistics.fmean(some) if some else None


def estimate_text(
    plans: Iterable[tuple[Any, list[Json], list[Json], list[Json]]],
    trace_of: Callable[[Any, Json], Json | None] = lambda experiment, run: None,
) -> str:
    """Return a table of what is stored and what is missing, with the estimated time.

    For each experiment, give its plan, its missing runs, and its stored ones. A trace counts once, even
    if several runs need it.
    """
    rows: list[list[str]] = []
    total, unknown = 0.0, 0
    counted: set[str] = set()
    for experiment, plan, missing, stored in plans:
        costs: list[float | None] = []
        for run in missing:
            trace = (trace_of(experiment, run) or {}).get("trace")
            costs.append(0.0 if trace in counted else cost_of(experiment, run, stored))
            counted |= {trace} if trace else set()
        known = [cost for cost in costs if cost is not None]
        total, unknown = total + sum(known), unknown + len(costs) - len(known)
        n_stored = sum(any(matches(one, run) for one in stored) for run in plan if run not in missing)
        rows.append([experiment.NAME, f"{n_stored} of {len(plan)}", str(len(missing)),
                     time_text(known, len(costs))])  # fmt: skip
    rows.append(["total", "", "", time_text([total], 1 + unknown)])
    return table(["experiment", "stored", "to measure", "estimated time"], rows) + FOOT


def time_text(known: list[float], number: int) -> str:
    """Return the sum of the known times, and how many of all are unknown."""
    missing = number - len(known)
    text = duration_text(sum(known)) if known or not missing else ""
    more = f"{missing} runs of unknown time" if missing else ""
    return " + ".join(part for part in (text, more) if part)


def seconds_text(missing: Sequence[tuple[str, int, float]]) -> str:
    """Return a table of the times that are not measured yet: experiment, number and seconds."""
    rows = [[name, str(number), duration_text(cost)] for name, number, cost in missing]
    rows.append(["total", str(sum(number for _, number, _ in missing)),
                 duration_text(sum(cost for _, _, cost in missing))])  # fmt: skip
    return table(["experiment", "times to measure", "estimated time"], rows) + SECONDS_FOOT
