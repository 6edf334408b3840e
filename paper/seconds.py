"""Seconds of the methods at the paper's size, from a few iterations on a quiet machine.

Traces are computed for hours in the background, so their own times are disturbed by other processes.
`run_paper.py --seconds` therefore measures times separately, and stores them in
`results/full/seconds.json`. For each method, n and k, the file has samples, which were measured in turns
with those of the other methods:

- `iterations`: the seconds of some iterations, or an empty list for methods that are measured as a
  whole, such as trees;
- `start`: the seconds before the first iteration, or of the whole fit;
- `others`: the processors that other processes used meanwhile. Samples of a busy machine are not
  stored, and are ignored if they are in the file;
- the stamp of their origin (see `provenance.py`).
"""

import json
import statistics
from pathlib import Path

from environment import Json
from machine_load import is_busy

NAME = "seconds.json"


def entries(folder: Path) -> list[Json]:
    """Return the entries of the file in a folder of results, or an empty list without the file."""
    path = folder / NAME
    return list(json.loads(path.read_text())["runs"]) if path.exists() else []


def samples_of(folder: Path, method: str, n: int, k: int) -> list[Json]:
    """Return the undisturbed samples of a method, or an empty list."""
    wanted = {"method": method, "n": n, "k": k}
    found: list[Json] = next((one["samples"] for one in entries(folder) if one["run"] == wanted), [])
    return [sample for sample in found if not is_busy(sample)]


def summary(samples: list[Json]) -> Json:
    """Return medians of undisturbed samples: `start_seconds` and `seconds_of_iteration`, if known."""
    samples = [sample for sample in samples if not is_busy(sample)]
    if not samples:
        return {}
    steps = [one for sample in samples for one in sample["iterations"]]
    found: Json = {"start_seconds": statistics.median(sample["start"] for sample in samples)}
    return {**found, "seconds_of_iteration": statistics.median(steps)} if steps else found


def timed(folder: Path, run: Json, view: str, found: Json) -> Json:
    """Return the figures of a trace that depend on seconds; empty if they were not measured.

    The seconds of a run are those of its start and those of an iteration times their number. A method
    that was measured as a whole has no seconds per iteration.
    """
    method = run["method"]
    if view == "refinement" or method.endswith(", refined"):
        method = method.removesuffix(", refined")
        whole = summary(samples_of(folder, method, run["n"], run["k"]))
        if view == "curve" or not whole:
            return {}
        return {"seconds": whole["start_seconds"], **curve_at(found, whole["start_seconds"], 0.0)}
    known = summary(samples_of(folder, method, run["n"], run["k"]))
    if not known:
        return {}
    if "seconds_of_iteration" not in known:
        return {"seconds": known["start_seconds"]}
    start, step = known["start_seconds"], known["seconds_of_iteration"]
    return {**known, "seconds": start + found["iterations"] * step, **curve_at(found, start, step)}


def curve_at(found: Json, start: float, step: float) -> Json:
    """Return the curve of a trace with seconds."""
    if "curve" not in found:
        return {}
    return {"curve": [[one[0], round(start + one[0] * step, 3), one[2]] for one in found["curve"]]}


def of_sweeps(folder: Path, entry: Json) -> Json:
    """Return the seconds of a sweep and of all sweeps of a run with a `timing`, if they are known."""
    run = entry["run"]
    known = summary(samples_of(folder, entry["timing"], run["n"], run["k"]))
    if "seconds_of_iteration" not in known:
        return {}
    one = known["seconds_of_iteration"]
    return {"sweep_seconds": one, **({"seconds": one * entry["sweeps"]} if "sweeps" in entry else {})}
