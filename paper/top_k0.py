"""The paper's claim that comparing with the k0 nearest clusters alone is 7 to 8 times faster.

`python paper/top_k0.py` runs this experiment; see `experiment.py`. At the paper's size, the sweeps over
all clusters are those of the trace of BKM(rnd); see `traces.py`.
"""

import statistics
import sys
from itertools import pairwise

from experiment import Json, main, table, traces_folder

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

import seconds_runs
import trace_runs
from boostkmeans import BoostKMeans, SweepRecord
from contenders import PLAIN, Array, Task, distortion_of, in_own_process
from costs import model_of, trace_cost
from machine_load import record_load
from public_data import fingerprint, sift
from run_state import state_folder
from seconds_runs import Estimate, Timing
from traces import SWEEPS_BEFORE

NAME = "top_k0"
TITLE = "Candidates: the claimed speed-up of 7 to 8 times (top-k0)"
# The sizes have different numbers of clusters.
SHOWS_BOTH = "always"

SMALL = ((100_000, 1_024), (100_000, 4_096))
FULL = (1_000_000, 10_000)
K0 = (4, 8, 16, 32, 64, 128, 256, 512)
# Sweeps that are timed; some of them build new lists of neighbours, so the median counts.
TIMED_SWEEPS = 8
# Sweeps over all clusters that are timed at the paper's size.
FEWER_TIMED_SWEEPS = 3
# Time limit of a fit, in seconds.
LIMIT = 3_600.0
# Speed-up that the paper claims.
CLAIMED_FACTOR = 7
# The method whose trace has the sweeps over all clusters.
ALL_CLUSTERS = "BKM(rnd)"


def plan(full: bool) -> list[Json]:
    """Return the runs of each size: all clusters first, then a decreasing number of candidates."""
    if not full:
        return [{"n": n, "k": k, "k0": k0, "seed": 0} for n, k in SMALL for k0 in (None, *reversed(K0))]
    size: Json = {"n": FULL[0], "k": FULL[1], "seed": 0}
    return [
        {**size, "k0": None, "traced": True},
        *[{**size, "k0": k0, "timed": False} for k0 in reversed(K0)],
    ]


def trace_of(run: Json) -> Json | None:
    """Return the reference of the run over all clusters to its trace."""
    found = trace_runs.reference(run, ALL_CLUSTERS, "candidates")
    return None if found is None else {**found, "timing": timing_name(None)}


def priority(run: Json) -> float:
    """Return the place of a run. Candidates take minutes, but the trace over all clusters hours."""
    return 1 if run.get("traced") else 2.5


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    if run.get("traced"):
        return trace_cost({**run, "method": ALL_CLUSTERS}, traces_folder())
    _, sweep, _ = model_of(ALL_CLUSTERS, run["n"], run["k"])
    share = 1.0 if run["k0"] is None else min(1.0, 0.05 + 2 * run["k0"] / run["k"])
    return (SWEEPS_BEFORE + 40 * share) * sweep


def measure(run: Json) -> Json:
    """Return the figures of some sweeps and of a whole fit, both from the same start."""
    if run.get("traced"):
        return trace_runs.measure({**run, "method": ALL_CLUSTERS}, "candidates")
    return in_own_process(fit_candidates if run.get("timed", True) else fit_untimed, run, LIMIT)


def start_labels(task: Task) -> Array:
    """Return the labels of BKM(rnd) after a few sweeps over all clusters."""
    model = BoostKMeans(task.k, init="random", max_iter=SWEEPS_BEFORE, tol=0, random_state=task.seed,
                        **PLAIN).fit(task.X)  # fmt: skip
    labels: Array = model.labels_
    return labels


def stored_start_labels(task: Task) -> Array:
    """Return the labels of the start, which are kept outside the repository."""
    name = f"top_k0_{fingerprint(task.X)[:16]}_{task.k}_{task.seed}.npy"
    path = state_folder() / "labels" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npy")
        np.save(part, start_labels(task))
        part.replace(path)
    labels: Array = np.load(path)
    return labels


def settings_of(run: Json, labels: Array) -> Json:
    """Return the settings of a fit that continues from labels with k0 candidates."""
    return {**PLAIN, "n_candidates": run["k0"], "init": labels, "random_state": run.get("seed", 0)}


def fit_candidates(run: Json) -> Json:
    """Return the figures of one k0; called in a separate process."""
    X, data = sift(run["n"])
    task = Task(X, run["k"], run["seed"])
    labels = start_labels(task)
    load: Json = {}
    with record_load(load):
        few = BoostKMeans(task.k, tol=0, max_iter=TIMED_SWEEPS, **settings_of(run, labels)).fit(X)
        whole = whole_fit(task, run, labels)
    return {
        **load,
        "data": data,
        "sha256": fingerprint(X),
        "start": distortion_of(task, labels),
        "sweep_seconds": statistics.median(seconds_of_sweeps(few.history_)),
        "after_sweeps": few.history_[-1].inertia / len(X),
        "evaluations": few.history_[-1].evaluations,
        "seconds": whole.history_[-1].seconds,
        **figures_of(task, whole),
    }


def fit_untimed(run: Json) -> Json:
    """Return the figures of one k0 without times; called in a separate process."""
    X, data = sift(run["n"])
    task = Task(X, run["k"], run["seed"])
    labels = stored_start_labels(task)
    start = distortion_of(task, labels)
    about = {"data": data, "sha256": fingerprint(X), "start": start, "timing": timing_name(run["k0"])}
    return {**about, **figures_of(task, whole_fit(task, run, labels))}


def whole_fit(task: Task, run: Json, labels: Array) -> BoostKMeans:
    """Return a fit with the default tolerance, because users do not wait for the last move either."""
    return BoostKMeans(task.k, **settings_of(run, labels)).fit(task.X)


def figures_of(task: Task, whole: BoostKMeans) -> Json:
    """Return the figures of a whole fit that do not depend on time."""
    return {
        "sweeps": whole.n_iter_,
        "distortion": distortion_of(task, whole.labels_),
        "ended": whole.stop_reason_,
    }


def seconds_of_sweeps(history: list[SweepRecord]) -> list[float]:
    """Return the time of each sweep except the first, whose record includes the start."""
    return [after.seconds - before.seconds for before, after in pairwise(history)]


def timing_name(k0: int | None) -> str:
    """Return the name of a number of candidates in `seconds.json`."""
    return f"top-k0 {'all' if k0 is None else k0}"


def time_sweeps(run: Json) -> Json:
    """Return the seconds of some sweeps at the paper's size; called in a separate process."""
    name = run["method"].split()[1]
    chosen: Json = {**run, "k0": None if name == "all" else int(name)}
    task = seconds_runs.task_of(run)
    labels = stored_start_labels(task)
    number = FEWER_TIMED_SWEEPS if chosen["k0"] is None else TIMED_SWEEPS
    few = BoostKMeans(task.k, tol=0, max_iter=number, **settings_of(chosen, labels)).fit(task.X)
    steps = seconds_of_sweeps(few.history_)
    return {"start": max(0.0, few.history_[0].seconds - statistics.median(steps)), "iterations": steps}


def timings() -> list[Timing]:
    """Return the sweeps that are timed at the paper's size: over all clusters and over candidates."""
    names = [timing_name(k0) for k0 in (None, *reversed(K0))]
    return [Timing(name, *FULL, time_sweeps, iterations=TIMED_SWEEPS) for name in names]


def estimate_seconds() -> Estimate:
    """Return how many samples `measure_seconds` takes, and at most how many seconds."""
    return seconds_runs.estimate(timings())


def measure_seconds(duration: float | None) -> None:
    """Measure the seconds of sweeps over all clusters and over candidates."""
    seconds_runs.measure(timings(), duration)


# --- Page ----------------------------------------------------------------------------------------------


def runs_by_size(result: Json) -> dict[tuple[int, int], list[Json]]:
    """Return the finished runs by number of rows and clusters."""
    finished = [run for run in result["runs"] if not {"failure", "so_far"} & set(run)]
    sizes = sorted({(run["run"]["n"], run["run"]["k"]) for run in finished})
    return {
        size: [run for run in finished if (run["run"]["n"], run["run"]["k"]) == size] for size in sizes
    }


def page(result: Json) -> str:
    """Return the page: one table per size, and a summary."""
    by_size = runs_by_size(result)
    tables = [
        f"## {n:,} rows, {k:,} clusters\n\nData: {some[0]['data']}.\n\n{candidates_table(some)}"
        for (n, k), some in by_size.items()
    ]
    summaries = [summary(some, n, k) for (n, k), some in by_size.items()]
    return TEXT.format(
        before=SWEEPS_BEFORE, timed=TIMED_SWEEPS, tables="\n".join(tables),
        sizes=FULL_SIZE if result["size"] == "full" else "", summary="\n".join(summaries),
    )  # fmt: skip


def base_run(runs: list[Json]) -> Json | None:
    """Return the run over all clusters, if it finished."""
    return next((run for run in runs if run["run"]["k0"] is None), None)


def candidates_table(runs: list[Json]) -> str:
    """Return a table with one row per k0, all clusters first."""
    base = base_run(runs)
    rows = []
    for run in sorted(runs, key=lambda run: run["run"]["k0"] or float("inf"), reverse=True):
        cells = [
            "all" if run["run"]["k0"] is None else str(run["run"]["k0"]),
            f"{1000 * run['sweep_seconds']:,.0f}" if "sweep_seconds" in run else "-",
            ratio(base, run, "sweep_seconds"),
            f"{run['seconds']:,.2f}" if "seconds" in run else "-",
            ratio(base, run, "seconds"),
            str(run["sweeps"]),
            f"{run['distortion']:,.1f}",
            f"{100 * (run['distortion'] / base['distortion'] - 1):+.2f} %" if base else "-",
        ]
        rows.append(cells)
    header = ["k0", "ms per sweep", "speed-up of a sweep", "seconds of a fit", "speed-up of a fit",
              "sweeps", "distortion", "loss"]  # fmt: skip
    return table(header, rows)


def ratio(base: Json | None, run: Json, figure: str) -> str:
    """Return how much lower a figure is than that of all clusters, or "-" if it is unknown."""
    known = base is not None and figure in base and figure in run
    return f"{base[figure] / run[figure]:.1f}" if known and base is not None else "-"


def summary(runs: list[Json], n: int, k: int) -> str:
    """Return the largest k0 with the claimed speed-up, and its loss."""
    base = base_run(runs)
    rest = [run for run in runs if run["run"]["k0"] is not None and "sweep_seconds" in run]
    if base is None or "sweep_seconds" not in base or not rest:
        return f"- {n:,} rows into {k:,} clusters: not measured."
    factors = {run["run"]["k0"]: base["sweep_seconds"] / run["sweep_seconds"] for run in rest}
    enough = [run for run in rest if factors[run["run"]["k0"]] >= CLAIMED_FACTOR]
    if not enough:
        k0 = max(factors, key=factors.__getitem__)
        return (
            f"- {n:,} rows into {k:,} clusters: a sweep is never {CLAIMED_FACTOR} times faster; it is "
            f"at most {factors[k0]:.1f} times faster, with k0 = {k0}."
        )
    chosen = max(enough, key=lambda run: run["run"]["k0"])
    k0 = chosen["run"]["k0"]
    loss = 100 * (chosen["distortion"] / base["distortion"] - 1)
    return (
        f"- {n:,} rows into {k:,} clusters: the largest k0 with sweeps at least {CLAIMED_FACTOR} times "
        f"faster is {k0} ({factors[k0]:.1f} times; a whole fit {ratio(base, chosen, 'seconds')} times), "
        f"at a loss of {loss:+.2f} %."
    )


FULL_SIZE = """
The fit over all clusters is the run of BKM(rnd) in [Fig. 3](distortion.md), up to the sweep that gains
less than 1e-4. Fits were computed in the background, so their own times are not shown. Sweeps were timed
separately, on a quiet machine, and the seconds of a fit are those of a sweep times their number.
"""

TEXT = """According to the paper, a row needs to be compared only with the k0 nearest of the k clusters
after a few iterations, which "typically leads to 7~8 times speed-up while without significant
performance degradation". The paper does not say for which k0 or k.

Here BKM(rnd) makes {before} sweeps over all clusters. From this point, {timed} sweeps are timed, and
their median is shown; some of them build new lists of neighbours. A whole fit continues from the same
point until a sweep gains less than 1e-4, and its seconds count from there. "all" is a sweep over all
clusters, which uses a matrix product. With candidates, fewer distances are computed, but gathering
their centres takes time.
{sizes}
{tables}

## Summary

{summary}
"""


if __name__ == "__main__":
    import top_k0

    sys.exit(main(top_k0))
