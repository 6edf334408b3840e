"""Result files of the paper's experiments: stored runs, each with the stamp of its origin.

A file has the entries

- `name`, `size` ("small" or "full") and `planned`, the number of runs of the plan;
- `runs`: for each stored run its settings `run`, its figures, its stamp (see `provenance.py`) and
  `duration`, the seconds that it took. The duration includes disturbances by other processes, so it is
  used to estimate the time of further runs, and for nothing else;
  A run with times at the small size has `others`, the load of the machine (see `run_load.py`). If other
  processes disturbed it, its times are left out when the file is read;
- `former`: stored runs that are no longer in the plan.

Instead of figures, a run may have `trace`, the name of a file in `full/traces`, and `view`: the figures
are then computed from this trace, which several experiments share. A run may have `timing`, the name
of a method in `seconds.json`, whose seconds are added.

A file `NAME_seconds.json` next to a result file has seconds that were measured separately, by the
settings of the runs. They are added to the runs when a result is read.
"""

import json
from collections.abc import Callable
from pathlib import Path

import seconds
import traces
from environment import Json
from machine_load import is_busy
from provenance import stamp_of
from result_files import read_result, write_json
from run_load import without_disturbed_times
from run_state import locked

# Until 0.9, these names stood for other methods than today: for scikit-learn's implementations, and for
# trees that are built from samples.
NAMES_UNTIL_0_9 = {
    **{
        name: f"{name} (scikit-learn)"
        for name in ("k-means", "k-means++", "Mini-Batch", "BsKM", "BsKM++")
    },
    "RBK": "sampled RBK",
    "BsBKM(non)": "sampled tree",
    "BsBKM(rnd)": "sampled tree (rnd)",
    "BsBKM(kpp)": "sampled tree (kpp)",
    "BsBKM(non), refined": "sampled tree, refined",
}
# Figures of separately measured seconds.
TIMED = ("seconds", "seconds_of_iteration", "timed_iterations", "estimate", "failure", "others")
# Failures that another attempt may avoid, such as a process that was killed.
RETRIED = "ended with exit code"


def read_runs(path: Path, running: bool = False, plan: list[Json] | None = None) -> Json:
    """Return a result file with all figures, without traces that have not begun.

    `complete` says if all runs of the plan are there. Without a plan, the number of runs in the file
    counts, which may be that of an earlier plan. Runs of incomplete traces have `so_far`; they are
    included if `running`.
    """
    content = read_result(path)
    runs = [filled(one, content, path) for one in content.get("runs", [])]
    known = [one for one in runs if one is not None]
    known = with_seconds(known, path.with_name(f"{path.stem}_seconds.json"))
    finished = [one for one in known if "so_far" not in one]
    content["runs"] = known if running else finished
    content["seconds"] = [
        {"run": one["run"], **seconds.summary(one["samples"])} for one in seconds.entries(path.parent)
    ]
    if "planned" in content:
        enough = len(finished) >= content["planned"]
        content["complete"] = enough if plan is None else has_all(finished, plan)
    return content


def has_all(entries: list[Json], plan: list[Json]) -> bool:
    """Return whether each run of a plan matches an entry. It is faster than many calls of `matches`."""
    stored = {(key_of(one["run"], "failure" in one), "failure" in one) for one in entries}
    return all(any((key_of(run, failed), failed) in stored for failed in (False, True)) for run in plan)


def key_of(run: Json, with_limit: bool) -> str:
    """Return settings as a text that is equal for equal settings."""
    kept = {name: value for name, value in run.items() if with_limit or name != "limit"}
    return json.dumps(kept, sort_keys=True)


def filled(entry: Json, content: Json, path: Path) -> Json | None:
    """Return a stored run with its stamp and with the figures of its trace, or None without figures."""
    if "trace" in entry:
        figures = traces.figures(path.parent / "traces" / f"{entry['trace']}.json", entry["view"])
        if figures is None:
            return None
        entry = {**entry, **figures}
    if "timing" in entry:
        entry = {**entry, **seconds.of_sweeps(path.parent, entry)}
    entry = without_disturbed_times(entry)
    return entry if "version" in entry else with_stamp(entry, content)


def with_stamp(entry: Json, content: Json) -> Json:
    """Return a run of a file of version 0.9 or earlier with a stamp, and with its name of today.

    Such a file has one environment for all runs.
    """
    if "environment" not in content:
        return entry
    run = entry["run"]
    if run.get("method") in NAMES_UNTIL_0_9:
        run = {**run, "method": NAMES_UNTIL_0_9[run["method"]]}
    return {**stamp_of(content["environment"]), **entry, **renamed_methods(entry), "run": run}


def renamed_methods(entry: Json) -> Json:
    """Return the figures of a run of several methods with their names of today."""
    methods = entry.get("methods")
    if isinstance(methods, dict):
        return {"methods": {NAMES_UNTIL_0_9.get(name, name): one for name, one in methods.items()}}
    if isinstance(methods, list):
        return {
            "methods": [
                {**one, "method": NAMES_UNTIL_0_9.get(one["method"], one["method"])} for one in methods
            ]
        }
    return {}


def with_seconds(runs: list[Json], path: Path) -> list[Json]:
    """Return the runs with the undisturbed seconds in a file, if it exists.

    Seconds of a run that is not stored yet are added as a run with `so_far`.
    """
    stored = list(read_result(path)["runs"]) if path.exists() else []
    timings = [one for one in stored if not is_busy(one)]
    found = []
    for run in runs:
        timing = next((one for one in timings if same_settings(one, run)), None)
        if timing is None:
            found.append(run)
        else:
            timings.remove(timing)
            found.append({**figures_of_timing(timing, run), **run})
    return [*found, *[{**one, "so_far": 0} for one in timings]]


def figures_of_timing(timing: Json, run: Json) -> Json:
    """Return the figures of separately measured seconds that a run gets.

    If only the measurement of the seconds failed, the distortion of the run still counts.
    """
    left_out = {"failure"} if "distortion" in run else set()
    return {key: timing[key] for key in TIMED if key in timing and key not in left_out}


def matches(entry: Json, run: Json) -> bool:
    """Return whether a stored run has these settings.

    The time limit matters only for a run that failed.
    """
    ignored = () if "failure" in entry else ("limit",)
    left, right = (
        {name: value for name, value in settings.items() if name not in ignored}
        for settings in (entry["run"], run)
    )
    return left == right


def is_finished(entry: Json) -> bool:
    """Return whether a run, as `read_runs` returns it, need not be measured."""
    return "so_far" not in entry and not str(entry.get("failure", "")).startswith(RETRIED)


def update(path: Path, change: Callable[[Json], Json]) -> None:
    """Replace the content of a result file in one step, even if several processes do so."""
    with locked(path):
        before = read_result(path) if path.exists() else {}
        after = change(before)
        if after != before:
            write_json(path, after)


def arranged(content: Json, head: Json, plan: list[Json], references: list[Json]) -> Json:
    """Return the content of a file with the runs of the plan first, and the others as `former`.

    `references` has an entry for each run whose figures come from a trace.
    """
    entries = [*content.get("runs", []), *content.get("former", [])]
    known = [one if "version" in one else with_stamp(one, content) for one in entries]
    entries = [*references, *[one for one in known if "trace" not in one]]
    runs: list[Json] = []
    for run in plan:
        found = next((one for one in entries if matches(one, run)), None)
        if found is not None:
            runs.append(found)
    former = [one for one in entries if not any(one is other for other in runs)]
    return {**head, "planned": len(plan), "runs": runs, **({"former": former} if former else {})}


def with_run(content: Json, entry: Json) -> Json:
    """Return the content of a file with a new run, which replaces a stored one with its settings."""
    others = [one for one in content["runs"] if not same_settings(one, entry)]
    return {**content, "runs": [*others, entry]}


def same_settings(one: Json, other: Json) -> bool:
    """Return whether two entries have the same settings, apart from their time limits."""
    return matches({"run": one["run"]}, other["run"])
