"""All contestants on all cells: `python benchmarks/arena.py [--only TEXT ...] [--report]`.

Each run is a process of its own with a time limit. Runs are interleaved: all contestants with one seed,
then all with the next. What takes longer than `SHORT` runs once. What was measured is in
`results/peers.json` at once, and is not measured again by the same versions on the same processor.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

from cells import CELLS, Cell
from environment import Json, environment
from isolated import isolated
from peers import CONTESTANTS, Contestant, figures_of

RESULT = Path(__file__).parent / "results" / "peers.json"
REPEATS = 3
SHORT = 20.0  # seconds: what takes longer varies little
LOADING = 30.0  # seconds more until a process is stopped: for imports, rows, and the inertia at the end


def compete(cell_name: str, name: str, seed: int) -> Json:
    """One contestant on one cell, in this process: figures of its fit."""
    warnings.simplefilter("ignore")
    cell = next(cell for cell in CELLS if cell.name == cell_name)
    fit = CONTESTANTS[name].fit
    X = cell.rows()
    fit(X[:1000].copy(), 4, 0)  # imports and pools of threads are not what is measured
    before = forget_peak()
    began = time.perf_counter()
    found = fit(X, cell.k, seed)
    seconds = time.perf_counter() - began
    peak = megabytes("VmHWM") - before
    return {"seconds": seconds, "megabytes": peak, **figures_of(X, found)}


def forget_peak() -> float:
    """The peak of memory counts from here; what is used now, in megabytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return megabytes("VmRSS")


def megabytes(key: str) -> float:
    """Of this process, as the system tells it; not a number where it does not."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def attempt(cell: Cell, contestant: Contestant, seed: int) -> Json:
    """Its figures, or why there are none."""
    reason = contestant.cannot(cell.kind)
    if reason:
        return {"failure": reason}
    outcome = isolated(compete, cell.name, contestant.name, seed, limit=cell.limit + LOADING)
    if outcome.failure.startswith("more than") or (
        not outcome.failure and outcome.value["seconds"] > cell.limit
    ):
        return {"failure": f"more than {cell.limit:g} s"}
    return {"failure": outcome.failure} if outcome.failure else dict(outcome.value)


def meet(cell: Cell, runs: dict[str, list[Json]]) -> Any:
    """All that is not there yet; yields after each run."""
    for seed in range(REPEATS):
        for name, contestant in CONTESTANTS.items():
            there = runs.setdefault(name, [])
            if len(there) > seed or (seed and not worth_repeating(there[0])):
                continue
            figures = attempt(cell, contestant, seed)
            there.append({"seed": seed, **figures})
            shown = figures.get("failure") or f"{figures['seconds']:.2f} s, {figures['inertia']:.6g}"
            print(f"{cell.name}: {name}, seed {seed}: {shown}", flush=True)
            yield


def worth_repeating(first: Json) -> bool:
    """Short runs are."""
    return "failure" not in first and first["seconds"] < SHORT


def measure(wanted: list[str]) -> None:
    """All cells whose names contain one of these texts."""
    now = environment()
    result: Json = {"environment": now, "cells": {}}
    if RESULT.exists():
        before = json.loads(RESULT.read_text())
        if {**before["environment"], "commit": ""} == {**now, "commit": ""}:
            result["cells"] = before["cells"]
    for cell in CELLS:
        if wanted and not any(text in cell.name for text in wanted):
            continue
        shape = cell.rows().shape
        entry = result["cells"].setdefault(
            cell.name,
            {"data": cell.origin(), "kind": cell.kind, "n": shape[0], "d": shape[1], "k": cell.k,
             "limit": cell.limit, "runs": {}},
        )  # fmt: skip
        for _ in meet(cell, entry["runs"]):
            RESULT.write_text(json.dumps(result, default=float) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="The peers' table.")
    parser.add_argument("--only", nargs="*", default=[], help="cells whose names contain this")
    parser.add_argument("--report", action="store_true", help="write the page only")
    given = parser.parse_args()
    if not given.report:
        measure(given.only)
    from arena_report import write_report

    write_report()


if __name__ == "__main__":
    main()
