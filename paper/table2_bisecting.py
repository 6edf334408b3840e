"""The paper's Table 2: distortion of bisecting methods, before and after refinement.

`python paper/table2_bisecting.py` runs this experiment; see `experiment.py`. At the paper's size, a tree
and its refinement are a trace; see `traces.py`.
"""

import sys

from experiment import Json, main, traces_folder

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import seconds_runs
import trace_runs
import traces
from bisecting_page import PAPER, page
from contenders import in_own_process
from costs import model_of, trace_cost
from seconds_runs import Estimate, Timing

__all__ = ["NAME", "TITLE", "cost", "measure", "measure_seconds", "page", "plan", "priority"]

NAME = "bisecting"
TITLE = "Bisecting methods, before and after refinement (the paper's Table 2)"
SHOWS_BOTH = True

SMALL: Json = {"n": 100_000, "k": 1_024}
FULL: Json = {"n": 1_000_000, "k": 10_000}
SEEDS = range(3)
# Time limit of a run at the small size, in seconds. Traces at the paper's size have none.
LIMIT = 1_200.0

METHODS = (*PAPER, "sampled tree")
# Only at the small size: the trees of native BsKM are of the same kind.
SCIKIT_LEARN = ("BsKM (scikit-learn)", "BsKM++ (scikit-learn)")
# Methods whose first seed is measured early.
EARLY = ("BsBKM(non)", "BsKM", "RBK")


def plan(full: bool) -> list[Json]:
    """Return one run of k-means, for comparison, and several seeds of each bisecting method."""
    size: Json = {**FULL, "traced": True} if full else SMALL
    methods = METHODS if full else (*METHODS, *SCIKIT_LEARN)
    return [
        {"method": "k-means", **size, "seed": 0},
        *[{"method": method, **size, "seed": seed} for seed in SEEDS for method in methods],
    ]


def traced_method(run: Json) -> str:
    """Return the method of the trace of a run: all trees are refined."""
    method = str(run["method"])
    return method if method == "k-means" else f"{method}, refined"


def view_of(run: Json) -> str:
    """Return the view of the trace of a run."""
    return "curve" if run["method"] == "k-means" else "refinement"


def trace_of(run: Json) -> Json | None:
    """Return the reference of a run to its trace."""
    return trace_runs.reference(run, traced_method(run), view_of(run))


def priority(run: Json) -> float:
    """Return the place of a run: one seed of all methods comes first."""
    if run["method"] == "k-means":
        return 0
    return (1.2 if run["method"] in EARLY else 2) if run["seed"] == 0 else 4.5


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    traced = {**run, "method": traced_method(run)}
    if run.get("traced"):
        return trace_cost(traced, traces_folder())
    start, step, number = model_of(traced["method"], run["n"], run["k"])
    return start + number * step


def measure(run: Json) -> Json:
    """Return the figures of one method with one seed."""
    traced = {**run, "method": traced_method(run)}
    if run.get("traced"):
        return trace_runs.measure(traced, view_of(run))
    return in_own_process(fit_method, run, LIMIT)


def fit_method(run: Json) -> Json:
    """Return the figures of a run at the small size; called in a separate process."""
    trace = trace_runs.compute_timed({**run, "method": traced_method(run)})
    found = traces.seen(trace, view_of(run))
    assert found is not None
    return {name: value for name, value in found.items() if name != "curve"}


def timings() -> list[Timing]:
    """Return the methods that are timed at the paper's size: whole trees."""
    n, k = FULL["n"], FULL["k"]
    trees = [Timing(method, n, k, seconds_runs.whole) for method in METHODS]
    return [Timing("k-means", n, k, seconds_runs.iterations), *trees]


def estimate_seconds() -> Estimate:
    """Return how many samples `measure_seconds` takes, and their estimated seconds."""
    return seconds_runs.estimate(timings())


def measure_seconds(duration: float | None) -> None:
    """Measure the seconds of trees and of an iteration of k-means."""
    seconds_runs.measure(timings(), duration)


if __name__ == "__main__":
    import table2_bisecting

    sys.exit(main(table2_bisecting))
