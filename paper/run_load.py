"""Load of the machine during stored runs: which of their times count, and what a page says about it.

A run that is timed at the small size stores `others`, the processors that other processes used meanwhile
(see `benchmarks/machine_load.py`). Runs of 0.13 and earlier have no such figure: their load is unknown.
"""

from collections.abc import Sequence

from environment import Json
from machine_load import is_busy, is_quiet

# Figures of a run that depend on the load.
TIMES = ("seconds", "seconds_of_iteration", "start_seconds", "refinement_seconds", "sweep_seconds",
         "seconds_tree", "seconds_refinement", "timed_iterations", "estimate")  # fmt: skip


def without_disturbed_times(entry: Json) -> Json:
    """Return a run without its times if other processes disturbed them."""
    if not is_busy(entry):
        return entry
    kept = {name: value for name, value in entry.items() if name not in TIMES}
    if "curve" in kept:
        kept["curve"] = [[number, None, value] for number, _, value in kept["curve"]]
    return kept


def is_timed(entry: Json) -> bool:
    """Return whether the times of a run are, or were, its own.

    Traces and sweeps get their times from `seconds.json`, which has no times of a busy machine.
    """
    is_own = "trace" not in entry and "timing" not in entry
    return is_own and (is_busy(entry) or any(name in entry for name in TIMES))


def load_text(runs: Sequence[Json], needs_quiet: bool = False) -> str:
    """Return sentences about times that other processes disturbed, or may have; empty if there are none.

    With `needs_quiet`, the page leaves out times of unknown load, too.
    """
    timed = [run for run in runs if is_timed(run)]
    busy = [run for run in timed if is_busy(run)]
    unknown = [run for run in timed if not is_busy(run) and not is_quiet(run)]
    n_out = len(busy) + len(unknown)
    if needs_quiet:
        return (
            f"Seconds are left out for {n_out} of {len(timed)} timed runs, because other processes "
            "disturbed them or the load of the machine was not recorded."
        ) if n_out else ""  # fmt: skip
    texts = []
    if busy:
        texts.append(
            f"Other processes disturbed {len(busy)} of {len(timed)} timed runs, so their seconds are "
            "left out."
        )
    if unknown:
        texts.append(
            f"The load of the machine was not recorded for {len(unknown)} of {len(timed)} timed runs, "
            "so other processes may have disturbed their seconds."
        )
    return " ".join(texts)
