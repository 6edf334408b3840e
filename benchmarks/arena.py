"""Comparison of all contestants on all problems: `python benchmarks/arena.py [--only TEXT ...]`.

Each contestant runs in a separate process with a time limit. All contestants run with one seed first;
those that took less than `SHORT` seconds then run with two more seeds. `results/peers.json` is updated
after each run. Existing runs are reused if the machine and the version of the library are the same.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

from environment import Json, commit, environment
from isolated import isolated
from peers import CONTESTANTS, Contestant, Fit, figures_of
from problems import PROBLEMS, Problem
from process_memory import megabytes, reset_peak
from result_files import RESULTS, read_result, write_json

RESULT = RESULTS / "peers.json"
# Seeds of the first round, and of the second round for short runs.
ROUNDS = [[0], [1, 2]]
# Runs of at least this many seconds are not repeated, because they vary little.
SHORT = 5.0
# Extra seconds before a process is killed, for imports, loading rows and computing the inertia.
LOADING = 15.0


def run_contestant(problem_name: str, name: str, seeds: list[int]) -> list[Json]:
    """Fit one contestant to one problem in this process, and return the figures of each seed."""
    warnings.simplefilter("ignore")
    problem = next(problem for problem in PROBLEMS if problem.name == problem_name)
    fit = CONTESTANTS[name].fit
    X = problem.rows()
    fit(X[:1000].copy(), 4, 0)  # Imports and thread pools are not part of the measured time.
    return [measure_fit(X, problem.k, seed, fit) for seed in seeds]


def measure_fit(X: Any, k: int, seed: int, fit: Fit) -> Json:
    """Return the time, the peak memory above the input, and the inertia of one fit."""
    before = reset_peak()
    began = time.perf_counter()
    fitted = fit(X, k, seed)
    seconds = time.perf_counter() - began
    peak = megabytes("VmHWM") - before
    return {"seed": seed, "seconds": seconds, "megabytes": peak, **figures_of(X, fitted)}


def earlier_timeout(problem: Problem, name: str, problems: dict[str, Json]) -> str:
    """Return why a contestant is not tried, or "".

    It is not tried if it exceeded the time limit on the same rows with at most a tenth of the clusters.
    """
    for other in PROBLEMS:
        runs = problems.get(other.name, {}).get("runs", {}).get(name)
        same_rows = other.file == problem.file != "" and 10 * other.k <= problem.k
        if same_rows and runs and runs[0].get("failure", "").startswith("more than"):
            return f"more than {other.limit:g} s for k={other.k:,}"
    return ""


def attempt(problem: Problem, contestant: Contestant, seeds: list[int]) -> list[Json]:
    """Return the figures of each seed, or the reason why there are none."""
    obstacle = contestant.obstacle(problem.kind)
    if obstacle:
        return [{"failure": obstacle}]
    limit = problem.limit * len(seeds) + LOADING
    outcome = isolated(run_contestant, problem.name, contestant.name, seeds, limit=limit)
    too_long = f"more than {problem.limit:g} s"
    if outcome.failure:
        return [{"failure": too_long if outcome.failure.startswith("more than") else outcome.failure}]
    return [run if run["seconds"] <= problem.limit else {"failure": too_long} for run in outcome.value]


def run_problem(problem: Problem, problems: dict[str, Json]) -> Iterator[None]:
    """Run all contestants whose runs are missing, and yield after each contestant."""
    runs: dict[str, list[Json]] = problems[problem.name]["runs"]
    for number, seeds in enumerate(ROUNDS):
        n_before = sum(map(len, ROUNDS[:number]))
        for name, contestant in CONTESTANTS.items():
            existing = runs.setdefault(name, [])
            if len(existing) > n_before or (number and not worth_repeating(existing[0])):
                continue
            reason = earlier_timeout(problem, name, problems)
            new = [{"failure": reason}] if reason else attempt(problem, contestant, seeds)
            existing += [{**run, "commit": commit()} for run in new]
            message = existing[-1].get("failure") or ", ".join(
                f"{run['seconds']:.3g} s ({run['inertia']:.6g})" for run in existing if "seconds" in run
            )
            print(f"{problem.name}: {name}: {message}", flush=True)
            yield


def worth_repeating(first: Json) -> bool:
    """Return True if a run succeeded and was short."""
    return "failure" not in first and first["seconds"] < SHORT


def measure(wanted: list[str]) -> None:
    """Run all problems whose names contain one of the texts, or all problems without texts."""
    now = environment()
    before = read_result(RESULT) if RESULT.exists() else {"environment": {}, "problems": {}}
    result: Json = {"environment": now, "problems": reusable_runs(before, now)}
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
        for _ in run_problem(problem, result["problems"]):
            write_json(RESULT, result)


def reusable_runs(before: Json, now: Json) -> dict[str, Json]:
    """Return the problems without runs of another machine or another version of a library."""
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
    """Measure, unless `--report-only` is given, and write the page."""
    parser = argparse.ArgumentParser(description="Compare boostkmeans with other libraries.")
    parser.add_argument("--only", nargs="*", default=[], metavar="TEXT",
                        help="measure only problems whose names contain one of these texts")  # fmt: skip
    parser.add_argument("--report-only", action="store_true",
                        help="write the page from existing results, without measuring")  # fmt: skip
    given = parser.parse_args()
    if not given.report_only:
        measure(given.only)
    from arena_report import write_report

    write_report()


if __name__ == "__main__":
    main()
