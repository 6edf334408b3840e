"""The paper's claim that looking at the k0 nearest clusters alone is 7 to 8 times faster.

`python paper/top_k0.py` measures it; see `experiment.py`.
"""

import statistics
import sys
from itertools import pairwise

from experiment import Json, main, table

# isort: split
# What is above settles threads, before NumPy is imported.
from boostkmeans import BoostKMeans, SweepRecord
from contenders import PLAIN, Array, Task, distortion_of, in_own_process
from public_data import fingerprint, sift

NAME = "top_k0"
TITLE = "Candidates: the claim of 7 to 8 times (top-k0)"

K0 = (4, 8, 16, 32, 64, 128, 256, 512)
# The paper looks at few clusters "after a few iterations".
SWEEPS_BEFORE = 3
# Of which the median is taken: some begin with new lists of neighbours.
TIMED_SWEEPS = 8
LIMIT = 3_600.0


def plan(full: bool) -> list[Json]:
    """For each size all clusters first, then fewer and fewer candidates."""
    sizes = [(100_000, 1_024), (100_000, 4_096), *([(1_000_000, 10_000)] if full else [])]
    return [{"n": n, "k": k, "k0": k0, "seed": 0} for n, k in sizes for k0 in (None, *reversed(K0))]


def measure(run: Json) -> Json:
    """Sweeps from the same start, and a whole fit."""
    return in_own_process(fitted, run, LIMIT)


def start(task: Task) -> Array:
    """BKM(rnd) after a few sweeps over all clusters."""
    model = BoostKMeans(task.k, init="random", max_iter=SWEEPS_BEFORE, tol=0, random_state=task.seed,
                        **PLAIN).fit(task.X)  # fmt: skip
    labels: Array = model.labels_
    return labels


def fitted(run: Json) -> Json:
    """In a process of its own."""
    X, data = sift(run["n"])
    task = Task(X, run["k"], run["seed"])
    labels = start(task)
    settings = {**PLAIN, "n_candidates": run["k0"], "init": labels, "random_state": task.seed}
    few = BoostKMeans(task.k, tol=0, max_iter=TIMED_SWEEPS, **settings).fit(X)
    # With a tolerance, as nobody waits for the last move.
    whole = BoostKMeans(task.k, max_time=LIMIT, **settings).fit(X)
    return {
        "data": data,
        "sha256": fingerprint(X),
        "start": distortion_of(task, labels),
        "sweep_seconds": statistics.median(seconds_of_sweeps(few.history_)),
        "after_sweeps": few.history_[-1].inertia / len(X),
        "evaluations": few.history_[-1].evaluations,
        "seconds": whole.history_[-1].seconds,
        "sweeps": whole.n_iter_,
        "distortion": distortion_of(task, whole.labels_),
        "ended": whole.stop_reason_,
    }


def seconds_of_sweeps(history: list[SweepRecord]) -> list[float]:
    """Each without the one before; the first one has the start in it, and is left out."""
    return [after.seconds - before.seconds for before, after in pairwise(history)]


def page(result: Json) -> str:
    """A table for each size."""
    good = [run for run in result["runs"] if "failure" not in run]
    sizes = sorted({(run["run"]["n"], run["run"]["k"]) for run in good})
    parts = []
    for n, k in sizes:
        some = [run for run in good if (run["run"]["n"], run["run"]["k"]) == (n, k)]
        parts.append(f"## {n:,} rows, {k:,} clusters\n\nData: {some[0]['data']}.\n\n{as_table(some)}")
    return TEXT.format(before=SWEEPS_BEFORE, timed=TIMED_SWEEPS, tables="\n".join(parts),
                       verdicts="\n".join(verdict(good, n, k) for n, k in sizes))  # fmt: skip


def as_table(runs: list[Json]) -> str:
    """All clusters first."""
    base = next((run for run in runs if run["run"]["k0"] is None), None)
    rows = []
    for run in sorted(runs, key=lambda run: run["run"]["k0"] or float("inf"), reverse=True):
        cells = [
            "all" if run["run"]["k0"] is None else str(run["run"]["k0"]),
            f"{1000 * run['sweep_seconds']:,.0f}",
            f"{base['sweep_seconds'] / run['sweep_seconds']:.1f}" if base else "-",
            f"{run['seconds']:,.2f}",
            f"{base['seconds'] / run['seconds']:.1f}" if base else "-",
            str(run["sweeps"]),
            f"{run['distortion']:,.1f}",
            f"{100 * (run['distortion'] / base['distortion'] - 1):+.2f} %" if base else "-",
        ]
        rows.append(cells)
    header = ["k0", "ms a sweep", "times faster", "seconds of a fit", "times faster", "sweeps",
              "distortion", "loss"]  # fmt: skip
    return table(header, rows)


def verdict(good: list[Json], n: int, k: int) -> str:
    """Which k0 gives the paper's factor, and what it costs."""
    some = [run for run in good if (run["run"]["n"], run["run"]["k"]) == (n, k)]
    base = next((run for run in some if run["run"]["k0"] is None), None)
    rest = [run for run in some if run["run"]["k0"] is not None]
    if base is None or not rest:
        return f"- {n:,} into {k:,}: not to be had."
    factors = {run["run"]["k0"]: base["sweep_seconds"] / run["sweep_seconds"] for run in rest}
    enough = [run for run in rest if factors[run["run"]["k0"]] >= 7]
    best = max(rest, key=lambda run: factors[run["run"]["k0"]])
    if not enough:
        k0 = best["run"]["k0"]
        return (
            f"- {n:,} into {k:,}: a sweep is never 7 times faster; at most {factors[k0]:.1f} times, "
            f"with k0 = {k0}."
        )
    chosen = max(enough, key=lambda run: run["run"]["k0"])
    loss = 100 * (chosen["distortion"] / base["distortion"] - 1)
    return (
        f"- {n:,} into {k:,}: a sweep is 7 times faster or more up to k0 = {chosen['run']['k0']} "
        f"({factors[chosen['run']['k0']]:.1f} times; a whole fit "
        f"{base['seconds'] / chosen['seconds']:.1f} times), at a loss of {loss:+.2f} %."
    )


TEXT = """The paper: after a few iterations, a row need only be compared with the k0 nearest of the k
clusters, which "typically leads to 7~8 times speed-up while without significant performance
degradation". It does not say for which k0 or k. Here BKM(rnd) makes {before} sweeps over all clusters;
from there, {timed} sweeps are timed (their median counts; some of them make lists of neighbours anew),
and whole fits go on until a sweep gains less than 1e-4. The seconds of a fit are those from that point
on. "all" is a sweep over all clusters, which is a matrix product: what candidates save in distances
they pay for in part by gathering centres.

{tables}

## So

{verdicts}
"""


if __name__ == "__main__":
    main(sys.modules[__name__])
