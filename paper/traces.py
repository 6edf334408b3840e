"""Traces: the distortion after each iteration of a run, stored while it goes on.

A trace at the paper's size takes hours, and several figures use it, so each has a file of its own in
`results/full/traces`:

- `run`: method, n, k and seed; `data` and `sha256`: name and fingerprint of the rows;
- `iterations`: [iteration, distortion, moves] after each iteration; iteration 0 is a tree or another
  start that took long;
- `complete`; and at the end `stop_reason` and `distortion`, which is computed from the labels alone;
- `figures`: further figures of the method, such as the passes of a tree;
- the stamp of its origin (see `provenance.py`);
- `computed_seconds`: the time of the computation. Other processes ran meanwhile, so it is no result;
- `computed_elsewhere`: True if it was imported;
- `bounds`: the components whose bounds saved time, if any (see `bounded_fits.py`).

`python paper/import_traces.py FILE ...` adds traces that were computed elsewhere, also while they are
incomplete.
"""

import json
import statistics
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import seconds
from environment import Json
from provenance import stamp_of
from result_files import write_json

# Numbers of refinement sweeps after which Table 2 shows the distortion.
STORED_SWEEPS = (1, 2, 3, 5, 10, 20)
# Sweeps over all clusters before candidates are used: "a few iterations" in the paper.
SWEEPS_BEFORE = 3
# The default tolerance of `BoostKMeans`.
TOL = 1e-4
# Curves with more points are thinned out.
MAX_POINTS = 150
# They keep all of the first iterations.
ALL_UP_TO = 20
# Later points are this factor apart.
STEP = 1.06
STAMP = ("version", "commit", "date", "processor", "instruction_set", "n_threads", "packages")
# Names of stop reasons that all methods share.
STOP_REASONS = {"certified": "converged", "max_iter": "iterations", "max_time": "time"}


def slug(method: str, seed: int = 0) -> str:
    """Return the name of the file of a trace, without its ending."""
    name = method.replace("++", "pp")
    name = "".join(one if one.isalnum() else "_" for one in name)
    name = "_".join(part for part in name.split("_") if part)
    return name if seed == 0 else f"{name}_seed{seed}"


def read_trace(path: Path) -> Json | None:
    """Return the content of a trace, or None without the file."""
    if not path.exists():
        return None
    content: Json = json.loads(path.read_text())
    return content


def figures(path: Path, view: str) -> Json | None:
    """Return the figures of a stored trace in one of `VIEWS`, or None if it has no iteration yet.

    An incomplete trace has `so_far`, the number of its last iteration.
    """
    trace = read_trace(path)
    if trace is None or not trace["iterations"]:
        return None
    found = seen(trace, view)
    if found is None:
        return None
    stamped = {name: trace[name] for name in STAMP if name in trace}
    if view == "candidates":
        return {**found, **stamped}
    return {**found, **seconds.timed(path.parents[1], trace["run"], view, found), **stamped}


def seen(trace: Json, view: str) -> Json | None:
    """Return the figures of a trace in one of `VIEWS`, or None if this view does not exist yet."""
    found = VIEWS[view](trace)
    if found is None:
        return None
    about = {
        name: trace[name] for name in ("data", "sha256", "others", "computed_seconds") if name in trace
    }
    return {**about, **found, **trace.get("figures", {})}


def curve_view(trace: Json) -> Json:
    """Return a trace as a curve [iteration, seconds or None, distortion]."""
    points = trace["iterations"]
    return {
        "distortion": trace.get("distortion", points[-1][1]),
        "after_one": next((point[1] for point in points if point[0] == 1), points[0][1]),
        "iterations": points[-1][0],
        "ended": ended(trace),
        "curve": thinned([[one[0], seconds_at(one), round(one[1], 3)] for one in points]),
        **so_far(trace),
        **own_seconds(points),
    }


def tree_view(trace: Json) -> Json | None:
    """Return the tree with which a trace began, as a curve of one point."""
    point = trace["iterations"][0]
    if point[0] != 0:
        return None
    curve = [[1, seconds_at(point), point[1]]]
    found = {"distortion": point[1], "iterations": 1, "ended": "tree", "curve": curve}
    return {**found, "seconds": point[3]} if len(point) > 3 else found


def refinement_view(trace: Json) -> Json | None:
    """Return the figures of a tree and of its refinement."""
    points = trace["iterations"]
    if points[0][0] != 0:
        return None
    sweeps = [point[1] for point in points[1:]]
    after = [sweeps[min(number, len(sweeps)) - 1] for number in STORED_SWEEPS] if sweeps else []
    found = {
        "distortion": points[0][1],
        "refined": trace.get("distortion", points[-1][1]),
        "refined_after": after,
        "refinement_sweeps": len(sweeps),
        "ended": ended(trace),
        **so_far(trace),
    }
    if len(points[0]) > 3:
        found |= {"seconds": points[0][3], "refinement_seconds": points[-1][3] - points[0][3]}
    return found


def candidates_view(trace: Json) -> Json | None:
    """Return the course after a few sweeps until a sweep gains less than the default tolerance.

    It is what a fit over all clusters would do, so that fits over candidates can be compared with it.
    """
    values = [point[1] for point in trace["iterations"]]
    if len(values) <= SWEEPS_BEFORE:
        return None
    later = list(pairwise(values[SWEEPS_BEFORE - 1 :]))
    quiet = [number for number, (old, new) in enumerate(later, start=1) if old - new < TOL * old]
    if not quiet and not trace["complete"]:
        return None
    sweeps = quiet[0] if quiet else len(later)
    start, end = values[SWEEPS_BEFORE - 1], later[sweeps - 1][1]
    return {"start": start, "distortion": end, "sweeps": sweeps, "ended": "tol"}


VIEWS: dict[str, Callable[[Json], Json | None]] = {
    "curve": curve_view,
    "tree": tree_view,
    "refinement": refinement_view,
    "candidates": candidates_view,
}


def seconds_at(point: list[Any]) -> float | None:
    """Return the seconds of a point, if the trace has them."""
    return point[3] if len(point) > 3 else None


def own_seconds(points: list[list[Any]]) -> Json:
    """Return the seconds of a trace and of one of its iterations, if the trace has them."""
    times = [point[3] for point in points if len(point) > 3]
    if not times:
        return {}
    steps = [after - before for before, after in pairwise(times)]
    one = statistics.median(steps) if steps else times[0]
    return {"seconds": times[-1], "seconds_of_iteration": one}


def thinned(curve: list[list[Any]]) -> list[list[Any]]:
    """Return a long curve with fewer points, including the first ones and the last."""
    if len(curve) <= MAX_POINTS:
        return curve
    some: list[list[Any]] = []
    for point in curve:
        if point[0] <= ALL_UP_TO or point[0] >= STEP * some[-1][0] or point is curve[-1]:
            some.append(point)
    return some


def ended(trace: Json) -> str:
    """Return why a trace ended, or "so far"."""
    reason = str(trace["stop_reason"]) if trace["complete"] else "so far"
    return STOP_REASONS.get(reason, reason)


def so_far(trace: Json) -> Json:
    """Return the number of the last iteration of an incomplete trace."""
    return {} if trace["complete"] else {"so_far": trace["iterations"][-1][0]}


# --- Traces that were computed elsewhere ---------------------------------------------------------------


def adopted(content: Json, name_of: Callable[[int], tuple[str, str]]) -> Json:
    """Return a trace in the format of this module. `name_of` returns name and fingerprint of n rows.

    Seconds, as a fourth value of the iterations, are removed. Raise ValueError if the rows differ.
    """
    run = {name: content["run"][name] for name in ("method", "n", "k", "seed")}
    data, sha256 = name_of(run["n"])
    if content["sha256"] != sha256:
        raise ValueError(f"The trace of {run['method']} belongs to other rows.")
    stamped = {name: content[name] for name in STAMP if name in content}
    if "environment" in content:
        stamped = {**stamp_of(content["environment"], content.get("date", "")), **stamped}
    times = [point[3] for point in content["iterations"] if len(point) > 3]
    rest = ("complete", "stop_reason", "distortion", "figures", "computed_seconds")
    return {
        "run": run,
        "data": data,
        "sha256": sha256,
        **stamped,
        "iterations": [point[:3] for point in content["iterations"]],
        **({"computed_seconds": times[-1]} if times else {}),
        "computed_elsewhere": True,
        **{name: content[name] for name in rest if name in content},
    }


def is_longer(trace: Json, than: Json | None) -> bool:
    """Return whether a trace should replace a stored one."""
    if than is None or trace["run"] != than["run"]:
        return True
    if than["complete"] or trace["complete"]:
        return bool(trace["complete"])
    return len(trace["iterations"]) > len(than["iterations"])


def import_trace(path: Path, folder: Path, name_of: Callable[[int], tuple[str, str]]) -> str:
    """Store a trace from another file, unless the stored one is longer. Return a sentence about it."""
    trace = adopted(json.loads(path.read_text()), name_of)
    run = trace["run"]
    target = folder / f"{slug(run['method'], run['seed'])}.json"
    state = "complete" if trace["complete"] else "so far"
    text = f"{run['method']}: {len(trace['iterations'])} iterations, {state}"
    if not is_longer(trace, read_trace(target)):
        return f"{text}; the stored trace is as long."
    write_json(target, trace)
    return f"{text}; stored as {target.name}."
