"""Comparison of all contestants on all problems: `python benchmarks/arena.py [--only TEXT ...]`.

Each contestant has its own process, with a time limit for each fit. A round fits all contestants of a
problem, one after another, with the same seed; there are three rounds. So all contestants of a problem
are measured in one run, interleaved. Contestants that take longer than `SHORT` seconds have one round.

`results/peers.json` is updated after each fit, and an interrupted measurement continues there. The fits
of a problem are reused only if the machine, the sources and all libraries are the same; otherwise all
contestants of the problem run again. Peers that exceeded the time limit are not tried again, unless
their version has changed.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import baseline
import small_fits
from environment import Json, commit, environment, source
from estimate import remaining_seconds
from machine_load import record_load
from peers import CONTESTANTS, Contestant
from problems import PROBLEMS, Problem
from result_files import RESULTS, read_result, write_json
from worker import Worker

RESULT = RESULTS / "peers.json"
N_ROUNDS = 3
# Contestants whose first fit takes at least this many seconds have one round: long fits vary less.
SHORT = 5.0
# The limit is higher for the contestants on which most of the reported figures depend.
IMPORTANT = {"boostkmeans": 60.0, baseline.NAME: 60.0, "superkmeans": 60.0}
# Extra seconds for a fit: loading rows, warming up and computing the inertia.
LOADING = 15.0
# Bytes of rows above which a process is ended after each fit. Smaller rows stay in the memory of all.
LARGE_ROWS = 300_000_000
# A peer is not tried if an extrapolation is this many times above the time limit.
HOPELESS = 2.0


class Processes:
    """The open worker processes of a problem, by contestant."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._open: dict[str, Worker] = {}

    def fit(self, contestant: Contestant, seed: int) -> Json:
        """Return the figures of one fit, or the reason why there are none."""
        problem, name = self._problem, contestant.name
        obstacle = contestant.obstacle(problem.kind)
        if obstacle:
            return {"failure": obstacle}
        worker = self._open.get(name) or Worker(contestant.python)
        self._open[name] = worker
        run = worker.ask("fit", problem.limit + LOADING, contestant=name, rows=str(problem.path()),
                         k=problem.k, seed=seed)  # fmt: skip
        too_long = run.get("failure", "").startswith("more than")
        if too_long or run.get("seconds", 0) > problem.limit:
            run = {"failure": f"more than {problem.limit:g} s"}
        if not worth_repeating(name, run) or problem.path().stat().st_size > LARGE_ROWS:
            self.close(name)
        return run

    def close(self, name: str) -> None:
        """End the process of a contestant."""
        worker = self._open.pop(name, None)
        if worker is not None:
            worker.close()

    def close_all(self) -> None:
        """End all processes."""
        for name in list(self._open):
            self.close(name)


def worth_repeating(name: str, first: Json) -> bool:
    """Return True if the first fit of a contestant succeeded and was short."""
    return "failure" not in first and first["seconds"] < IMPORTANT.get(name, SHORT)


def run_problem(problem: Problem, problems: dict[str, Json]) -> Iterator[None]:
    """Fit all contestants whose fits are missing, round by round, and yield after each fit."""
    runs: dict[str, list[Json]] = problems[problem.name]["runs"]
    processes = Processes(problem)
    try:
        for number in range(N_ROUNDS):
            # Every second round is in reverse order, so that nobody always follows the same contestant.
            for name in list(CONTESTANTS)[:: -1 if number % 2 else 1]:
                existing = runs.setdefault(name, [])
                if len(existing) > number or (number and not worth_repeating(name, existing[0])):
                    continue
                reason = hopeless(problem, name, problems)
                run = {"failure": reason} if reason else processes.fit(CONTESTANTS[name], number)
                existing.append({**run, "commit": commit()})
                print(f"{problem.name}: {name}: {described(run)}", flush=True)
                yield
    finally:
        processes.close_all()


def described(run: Json) -> str:
    """Return a run in a few words."""
    return str(run.get("failure") or f"{run['seconds']:.3g} s ({run['inertia']:.6g})")


def hopeless(problem: Problem, name: str, problems: dict[str, Json]) -> str:
    """Return why a peer is not tried, or "".

    It is not tried if it exceeded the time limit on the same data with fewer rows or clusters, so that
    the extrapolated time, proportional to rows and clusters, is far above the time limit.
    """
    entry = problems[problem.name]
    for other in PROBLEMS:
        smaller = problems.get(other.name)
        if not problem.family or other.family != problem.family or other is problem or not smaller:
            continue
        runs = smaller["runs"].get(name) or [{}]
        stopped = runs[0].get("failure", "").startswith("more than")
        if not stopped or CONTESTANTS[name].role != "peer":
            continue
        growth = entry["n"] * entry["k"] / (smaller["n"] * smaller["k"])
        contained = smaller["n"] <= entry["n"] and smaller["k"] <= entry["k"]
        if contained and smaller["limit"] * growth >= HOPELESS * problem.limit:
            return f"more than {smaller['limit']:g} s for {smaller['n']:,} rows, k={smaller['k']:,}"
    return ""


def measure(wanted: list[str]) -> None:
    """Run all problems whose names contain one of the texts, or all problems without texts."""
    baseline.prepare()
    now = environment()
    result = earlier_result(now)
    chosen = [one for one in PROBLEMS if not wanted or any(text in one.name for text in wanted)]
    earlier = {name: dict(entry["runs"]) for name, entry in result["problems"].items()}
    for problem in chosen:
        result["problems"][problem.name] = new_entry(problem, result["problems"], now)
    missing = remaining_seconds(chosen, result["problems"], earlier, N_ROUNDS, worth_repeating, hopeless)
    print(f"Measuring {len(chosen)} problems; about {missing / 60:.0f} minutes remain.", flush=True)
    began = time.perf_counter()
    measure_small(wanted, result, now)
    for problem in chosen:
        with record_load(result["problems"][problem.name]):
            for _ in run_problem(problem, result["problems"]):
                write_json(RESULT, result)
        write_json(RESULT, result)
    print(f"Measured for {(time.perf_counter() - began) / 60:.0f} minutes.", flush=True)


def earlier_result(now: Json) -> Json:
    """Return the result file without problems of another machine, and with the new environment."""
    before = read_result(RESULT) if RESULT.exists() else {"environment": {}}
    same = all(
        before["environment"].get(key) == now[key] for key in ("processor", "n_threads", "python")
    )
    problems: dict[str, Json] = before.get("problems", {}) if same else {}
    for entry in problems.values():
        entry.setdefault("packages", before["environment"]["packages"])
    return {"environment": now, "problems": problems, "small": before.get("small", {}) if same else {}}


def new_entry(problem: Problem, problems: dict[str, Json], now: Json) -> Json:
    """Return the entry of a problem, with the earlier runs that can be reused."""
    n, d = problem.shape()
    described: Json = {"data": problem.origin(), "kind": problem.kind, "n": n, "d": d, "k": problem.k,
                       "limit": problem.limit}  # fmt: skip
    made_of = {"packages": now["packages"], "source": source()}
    old = problems.get(problem.name, {})
    if any(old.get(key) != value for key, value in described.items()):
        runs: dict[str, list[Json]] = {}
    elif all(old.get(key) == value for key, value in made_of.items()):
        runs = {name: one for name, one in old["runs"].items() if name in CONTESTANTS and settled(one)}
    else:
        runs = stopped_runs(problem, old, now)
    load = {"others": old["others"]} if runs and "others" in old else {}
    return {**described, **made_of, **load, "runs": runs}


def settled(runs: list[Json]) -> bool:
    """Return True if a contestant finished or exceeded the time limit; errors are tried again."""
    return bool(runs) and runs[0].get("failure", "more than").startswith("more than")


def stopped_runs(problem: Problem, old: Json, now: Json) -> dict[str, list[Json]]:
    """Return the runs of peers of the same version that exceeded the time limit."""
    failure = f"more than {problem.limit:g} s"
    return {
        name: runs
        for name, runs in old["runs"].items()
        if name in CONTESTANTS
        and CONTESTANTS[name].role == "peer"
        and len({one.get(CONTESTANTS[name].package) for one in (old["packages"], now["packages"])}) == 1
        and runs
        and runs[0].get("failure") == failure
    }


def measure_small(wanted: list[str], result: Json, now: Json) -> None:
    """Measure the fits that take milliseconds, unless they were measured with these sources."""
    made_of: dict[str, Any] = {"packages": now["packages"], "source": source()}
    for name in small_fits.PROBLEMS:
        old = result["small"].get(name, {})
        reusable = all(old.get(key) == value for key, value in made_of.items())
        if reusable or (wanted and not any(text in name for text in wanted)):
            continue
        entry = result["small"][name] = {**made_of, "runs": {}}
        with record_load(entry):
            runs = entry["runs"] = small_fits.measure_problem(name)
        write_json(RESULT, result)
        for contestant, run in runs.items():
            print(f"{name}: {contestant}: {described(run)}", flush=True)


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
