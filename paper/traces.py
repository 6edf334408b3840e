"""Traces: the distortion after each iteration of a run, stored while it goes on.

A trace at the paper's size takes hours, and several figures use it, so each has a file of its own in
`results/full/traces`:

- `run`: method, n, k and seed; `data` and `sha256`: name and fingerprint of the rows;
- `iterations`: [iteration, distortion, moves] after each iteration; iteration 0 is a tree or another
  start that took long;
- `complete`; and at the end `stop_reason` and `distortion`, which is computed from the labels alone;
- `figures`: further figures of the method, such as the passes of a tree;
- the stamp of its origin (see `provenance.py`);
- `computed_seconds`: the time of the computation. Other processes ran meanwhile, so it is no result.

`python paper/import_traces.py FILE ...` adds traces that were computed elsewhere, also while they are
incomplete.
"""

import json
from collections.abc import Callable
from pathlib import Path

from environment import Json
from result_files import write_json

from provenance import stamp_of

# Numbers of refinement sweeps after which Table 2 shows the distortion.
STORED_SWEEPS = (1, 2, 3, 5, 10, 20)
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
    """Return the figures of a trace in one of `VIEWS`, or None if it has no iteration yet.

    An incomplete trace has `so_far`, the number of its last iteration.
    """
    trace = read_trace(path)
    if trace is None or not trace["iterations"]:
        return None
    stamped = {name: trace[name] for name in STAMP if name in trace}
    about = {name: trace[name] for name in ("data", "sha256") if name in trace}
    found = VIEWS[view](trace)
    if found is None:
        return None
    return {**about, **found, **trace.get("figures", {}), **stamped}


def curve_view(trace: Json) -> Json:
    """Return a trace as a curve without seconds, which come from `seconds.py`."""
    points = trace["iterations"]
    return {
        "distortion": trace.get("distortion", points[-1][1]),
        "iterations": points[-1][0],
        "ended": ended(trace),
        "curve": [[point[0], None, point[1]] for point in points],
        **so_far(trace),
    }


def tree_view(trace: Json) -> Json | None:
    """Return the tree with which a trace began, as a curve of one point."""
    number, distortion = trace["iterations"][0][:2]
    if number != 0:
        return None
    return {"distortion": distortion, "iterations": 1, "ended": "tree", "curve": [[1, None, distortion]]}


def refinement_view(trace: Json) -> Json | None:
    """Return the figures of a tree and of its refinement."""
    points = trace["iterations"]
    if points[0][0] != 0:
        return None
    sweeps = [point[1] for point in points[1:]]
    after = [sweeps[min(number, len(sweeps)) - 1] for number in STORED_SWEEPS] if sweeps else []
    return {
        "distortion": points[0][1],
        "refined": trace.get("distortion", points[-1][1]),
        "refined_after": after,
        "refinement_sweeps": len(sweeps),
        "ended": ended(trace),
        **so_far(trace),
    }


VIEWS: dict[str, Callable[[Json], Json | None]] = {
    "curve": curve_view,
    "tree": tree_view,
    "refinement": refinement_view,
}


def ended(trace: Json) -> str:
    """Return why a trace ended, or "so far"."""
    reason = str(trace.get("stop_reason", "so far"))
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
    seconds = [point[3] for point in content["iterations"] if len(point) > 3]
    rest = ("complete", "stop_reason", "distortion", "figures", "computed_seconds")
    return {
        "run": run,
        "data": data,
        "sha256": sha256,
        **stamped,
        "iterations": [point[:3] for point in content["iterations"]],
        **({"computed_seconds": seconds[-1]} if seconds else {}),
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
