"""Figures of the comparison with other libraries: time to equal inertia, and inertia at equal time."""

import math

import baseline
from environment import Json
from measure import median, seconds_to
from peers import CONTESTANTS

DEFAULTS = "boostkmeans"
BASELINE = baseline.NAME
OWN = [name for name, contestant in CONTESTANTS.items() if contestant.own]
PEERS = [name for name, contestant in CONTESTANTS.items() if contestant.role == "peer"]
# Inertias within this factor are rounded values of the same optimum.
SAME_INERTIA = 1 + 1e-6


def finished_runs(problem: Json, name: str) -> list[Json]:
    """Return the runs of a contestant that did not fail."""
    return [run for run in problem["runs"].get(name, []) if "failure" not in run]


def failure(problem: Json, name: str) -> str:
    """Return why a contestant has no figures on a problem."""
    runs = problem["runs"].get(name, [])
    return str(runs[0]["failure"]) if runs else "not measured"


def median_figure(problem: Json, name: str, figure: str) -> float:
    """Return the median of a figure over the finished runs, or NaN without any."""
    runs = finished_runs(problem, name)
    return median([run[figure] for run in runs]) if runs else math.nan


def peak_megabytes(problem: Json, name: str) -> float:
    """Return the highest peak of the memory of all runs, or NaN without any.

    The first run of a process has the highest peak: later runs reuse memory that is still reserved.
    """
    return max((float(run["megabytes"]) for run in finished_runs(problem, name)), default=math.nan)


def curve(run: Json) -> list[tuple[float, float]]:
    """Return seconds and inertia of a boostkmeans run, as if it had been stopped at each record.

    The time after the last record, for final sums and labels, is added to each record, because the times
    of the peers include it too.
    """
    rest = max(0.0, run["seconds"] - run["curve"][-1][0])
    records = [(seconds + rest, inertia) for seconds, inertia in run["curve"]]
    return [*records, (run["seconds"], run["inertia"])]


def seconds_to_inertia(problem: Json, own: str, target: float) -> float:
    """Return the median seconds until a setting of boostkmeans is at or below an inertia.

    Return infinity if it never is.
    """
    runs = finished_runs(problem, own)
    return median([seconds_to(curve(run), target * SAME_INERTIA) for run in runs]) if runs else math.inf


def time_ratio(problem: Json, own: str, peer: str) -> float:
    """Return the time of a peer divided by the time of boostkmeans to the inertia of the peer.

    The ratio is above 1 if boostkmeans is faster, 0 if it never reaches this inertia, and NaN if the
    peer did not finish, because its inertia is unknown then.
    """
    if not finished_runs(problem, peer):
        return math.nan
    seconds = seconds_to_inertia(problem, own, median_figure(problem, peer, "inertia"))
    return median_figure(problem, peer, "seconds") / seconds


def best_ratio(problem: Json, peer: str, own: list[str] | None = None) -> float:
    """Return the highest time ratio of the given settings of boostkmeans (default: all)."""
    return max(time_ratio(problem, one, peer) for one in own or OWN)


def finished_peers(problem: Json) -> list[str]:
    """Return the peers that finished."""
    return [peer for peer in PEERS if finished_runs(problem, peer)]


def stopped_peers(problem: Json) -> list[str]:
    """Return the peers that exceeded the time limit."""
    unfinished = [peer for peer in PEERS if not finished_runs(problem, peer)]
    return [peer for peer in unfinished if failure(problem, peer).startswith("more than")]


def is_first(problem: Json, own: list[str]) -> bool:
    """Return True if one of these settings is faster to the inertia of each finished peer."""
    peers = finished_peers(problem)
    return bool(peers) and all(best_ratio(problem, peer, own) > 1 for peer in peers)


def n_won(problems: list[Json], own: list[str]) -> int:
    """Return the number of pairs of problem and finished peer that one of these settings wins."""
    return sum(
        best_ratio(problem, peer, own) > 1 for problem in problems for peer in finished_peers(problem)
    )


def n_never(problems: list[Json], own: list[str]) -> int:
    """Return the number of comparisons in which none of these settings reaches the peer's inertia."""
    return sum(
        best_ratio(problem, peer, own) == 0 for problem in problems for peer in finished_peers(problem)
    )


def gap_at_equal_time(problem: Json, peer: str) -> float:
    """Return the relative inertia of the defaults at the time at which a peer ends.

    Negative values mean that boostkmeans is lower. Return infinity if it has no result at that time.
    """
    end, gaps = median_figure(problem, peer, "seconds"), []
    for run in finished_runs(problem, DEFAULTS):
        reached = [inertia for seconds, inertia in curve(run) if seconds <= end]
        gaps.append(min(reached, default=math.inf) / median_figure(problem, peer, "inertia") - 1)
    return median(gaps) if gaps else math.inf
