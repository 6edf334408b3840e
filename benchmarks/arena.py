"""All contestants on all problems: `python benchmarks/arena.py [--only TEXT ...] [--report]`.

Each contestant has a process of its own with a time limit. They are interleaved: a round with one seed,
then, for those that took less than `SHORT`, another with two more. What was measured is in
`results/peers.json` at once, and is not measured again by the same versions on the same processor.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from environment import Json, commit, environment
from isolated import isolated
from peers import CONTESTANTS, Contestant, Fit, figures_of
from problems import PROBLEMS, Problem

RESULT = Path(__file__).parent / "results" / "peers.json"
ROUNDS = [[0], [1, 2]]  # seeds
SHORT = 5.0  # seconds: what takes longer varies little
LOADING = 15.0  # seconds more until a process is stopped: for imports, rows, and the inertia at the end


def compete(problem_name: str, name: str, seeds: list[int]) -> list[Json]:
    """One contestant on one problem, in this process: figures of its fits."""
    warnings.simplefilter("ignore")
    problem = next(problem for problem in PROBLEMS if problem.name == problem_name)
    fit = CONTESTANTS[name].fit
    X = problem.rows()
    fit(X[:1000].copy(), 4, 0)  # imports and pools of threads are not what is measured
    return [one_fit(X, problem.k, seed, fit) for seed in seeds]


def one_fit(X: Any, k: int, seed: int, fit: Fit) -> Json:
    """Time, peak of memory above what there was, inertia."""
    before = forget_peak()
    began = time.perf_counter()
    found = fit(X, k, seed)
    seconds = time.perf_counter() - began
    peak = megabytes("VmHWM") - before
    return {"seed": seed, "seconds": seconds, "megabytes": peak, **figures_of(X, found)}


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


def hopeless(problem: Problem, name: str, problems: dict[str, Json]) -> str:
    """Whether it was stopped on the same rows with a tenth of the clusters, or fewer."""
    for other in PROBLEMS:
        runs = problems.get(other.name, {}).get("runs", {}).get(name)
        same_rows = other.file == problem.file != "" and 10 * other.k <= problem.k
        if same_rows and runs and runs[0].get("failure", "").startswith("more than"):
            return f"more than {other.limit:g} s for k={other.k:,}"
    return ""


def attempt(problem: Problem, contestant: Contestant, seeds: list[int]) -> list[Json]:
    """Its figures, or why there are none."""
    reason = contestant.cannot(problem.kind)
    if reason:
        return [{"failure": reason}]
    limit = problem.limit * len(seeds) + LOADING
    outcome = isolated(compete, problem.name, contestant.name, seeds, limit=limit)
    too_long = f"more than {problem.limit:g} s"
    if outcome.failure:
        return [{"failure": too_long if outcome.failure.startswith("more than") else outcome.failure}]
    return [run if run["seconds"] <= problem.limit else {"failure": too_long} for run in outcome.value]


def meet(problem: Problem, problems: dict[str, Json]) -> Iterator[None]:
    """All that is not there yet; yields after each contestant."""
    runs: dict[str, list[Json]] = problems[problem.name]["runs"]
    for number, seeds in enumerate(ROUNDS):
        n_before = sum(map(len, ROUNDS[:number]))
        for name, contestant in CONTESTANTS.items():
            there = runs.setdefault(name, [])
            if len(there) > n_before or (number and not worth_repeating(there[0])):
                continue
            reason = hopeless(problem, name, problems)
            found = [{"failure": reason}] if reason else attempt(problem, contestant, seeds)
            there += [{**run, "commit": commit()} for run in found]
            shown = there[-1].get("failure") or ", ".join(
                f"{run['seconds']:.3g} s ({run['inertia']:.6g})" for run in there if "seconds" in run
            )
            print(f"{problem.name}: {name}: {shown}", flush=True)
            yield


def worth_repeating(first: Json) -> bool:
    """Short runs are."""
    return "failure" not in first and first["seconds"] < SHORT


def measure(wanted: list[str]) -> None:
    """All problems whose names contain one of these texts."""
    now = environment()
    before = json.loads(RESULT.read_text()) if RESULT.exists() else {"environment": {}, "problems": {}}
    result: Json = {"environment": now, "problems": still_valid(before, now)}
    for problem in PROBLEMS:
        if wanted and not any(text in problem.name for text in wanted):
            continue
        shape = problem.rows().shape
        entry: Json = {"data": problem.origin(), "kind": problem.kind, "n": shape[0], "d": shape[1],
                       "k": problem.k, "limit": problem.limit}  # fmt: skip
        old = result["problems"].get(problem.name, {})
        same = all(old.get(key) == value for key, value in entry.items())
        entry["runs"] = old["runs"] if same else {}
        result["problems"][problem.name] = entry
        for _ in meet(problem, result["problems"]):
            written = RESULT.with_suffix(".part")
            written.write_text(json.dumps(result, default=float) + "\n")
            written.replace(RESULT)


def still_valid(before: Json, now: Json) -> dict[str, Json]:
    """Problems without the runs of another machine or of another version of a library."""
    same_machine = all(
        before["environment"].get(key) == now[key] for key in ("processor", "n_threads", "python")
    )
    if not same_machine:
        return {}
    versions = (before["environment"]["packages"], now["packages"])
    problems: dict[str, Json] = before["problems"]
    for problem in problems.values():
        problem["runs"] = {
            name: runs
            for name, runs in problem["runs"].items()
            if name in CONTESTANTS and len({one.get(CONTESTANTS[name].package) for one in versions}) == 1
        }
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description="The peers' table.")
    parser.add_argument("--only", nargs="*", default=[], help="problems whose names contain this")
    parser.add_argument("--report", action="store_true", help="write the page only")
    given = parser.parse_args()
    if not given.report:
        measure(given.only)
    from arena_report import write_report

    write_report()


if __name__ == "__main__":
    main()
