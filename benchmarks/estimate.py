"""Estimate of the duration of the comparison with other libraries, from earlier measurements."""

from collections.abc import Callable

from environment import Json
from measure import median
from peers import CONTESTANTS, Contestant
from problems import Problem

# Seconds for the start of a process, for loading rows and for computing an inertia.
OVERHEAD = 3.0
# A contestant without an earlier measurement is assumed to need this share of the time limit.
UNKNOWN_SHARE = 0.25

Runs = dict[str, list[Json]]


def remaining_seconds(
    chosen: list[Problem],
    problems: dict[str, Json],
    earlier: dict[str, Runs],
    n_rounds: int,
    worth_repeating: Callable[[str, Json], bool],
    hopeless: Callable[[Problem, str, dict[str, Json]], str],
) -> float:
    """Return the estimated duration of all fits that are missing."""
    total = 0.0
    for problem in chosen:
        for contestant in CONTESTANTS.values():
            done = problems[problem.name]["runs"].get(contestant.name, [])
            if (done and not worth_repeating(contestant.name, done[0])) or contestant.obstacle(
                problem.kind
            ):
                continue
            if not done and hopeless(problem, contestant.name, problems):
                continue
            seconds = expected_seconds(problem, contestant, earlier.get(problem.name, {}))
            rounds = n_rounds if worth_repeating(contestant.name, {"seconds": seconds}) else 1
            missing = max(0, rounds - len(done))
            total += missing * seconds + (OVERHEAD if missing else 0.0)
    return total


def expected_seconds(problem: Problem, contestant: Contestant, earlier: Runs) -> float:
    """Return the expected time of one fit."""
    # An earlier release is expected to take as long as the current one.
    names = [contestant.name, "boostkmeans"] if contestant.role == "baseline" else [contestant.name]
    for name in names:
        runs = earlier.get(name, [])
        seconds = [run["seconds"] for run in runs if "seconds" in run]
        if seconds:
            return median(seconds)
        if runs:
            failure = runs[0]["failure"]
            return problem.limit if failure.startswith("more than") and " for " not in failure else 0.0
    return UNKNOWN_SHARE * problem.limit
