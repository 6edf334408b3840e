"""The paper's Fig. 3 a to c: distortion after each iteration, and against seconds.

`python paper/fig3_distortion.py` runs this experiment; see `experiment.py`. At the paper's size, the
curves are traces that other experiments share; see `traces.py`.
"""

import sys

from experiment import Json, main, traces_folder

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import seconds_runs
import trace_runs
import traces
from contenders import in_own_process
from costs import model_of, trace_cost
from distortion_page import AS_LONG, BOOST, METHODS, MINI_BATCH, OWN, SCIKIT_LEARN, draw, page
from seconds_runs import Estimate, Timing

__all__ = ["NAME", "TITLE", "cost", "draw", "measure", "measure_seconds", "page", "plan", "priority"]

NAME = "distortion"
TITLE = "Distortion of direct k-way clustering (the paper's Fig. 3 a-c)"
SHOWS_BOTH = True

SMALL: Json = {"n": 100_000, "k": 1_024}
FULL: Json = {"n": 1_000_000, "k": 10_000}
# Time limit of a run at the small size, in seconds. Traces at the paper's size have none.
LIMIT = 1_200.0

# At the paper's size, scikit-learn's k-means is only timed: it is the same algorithm. Its k-means++
# would need hours for the start alone.
WITHOUT_TRACE = (*SCIKIT_LEARN, AS_LONG)
# Methods in the order of what they settle; the others follow.
PRIORITIES = {"k-means": 0, "BKM(non)": 0, "BKM(rnd)": 1, "BKM(rnd)+Fast": 1, "BsBKM(non)": 1,
              "BKM(kpp)": 2, "k-means++": 2, "Mini-Batch": 2, "BKM(non)+Fast": 3,
              "BKM(kpp)+Fast": 3, "LVQ": 3, "boostkmeans": 3}  # fmt: skip


def plan(full: bool) -> list[Json]:
    """Return one run per method."""
    if full:
        methods = [method for method in METHODS if method not in WITHOUT_TRACE]
        return [{"method": method, **FULL, "seed": 0, "traced": True} for method in methods]
    return [{"method": method, **SMALL, "seed": 0} for method in METHODS]


def traced_method(method: str) -> str:
    """Return the method of the trace: the trace of a refined tree begins with the tree."""
    return f"{method}, refined" if method in ("BsBKM(non)", "sampled tree") else method


def view_of(method: str) -> str:
    """Return the view of the trace of a method."""
    return "curve" if traced_method(method) == method else "tree"


def trace_of(run: Json) -> Json | None:
    """Return the reference of a run to its trace."""
    return trace_runs.reference(run, traced_method(run["method"]), view_of(run["method"]))


def priority(run: Json) -> float:
    """Return the place of a run."""
    return PRIORITIES.get(run["method"].removesuffix(", refined"), 4)


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    traced = {**run, "method": traced_method(run["method"])}
    if run.get("traced"):
        return trace_cost(traced, traces_folder())
    start, step, number = model_of(run["method"], run["n"], run["k"])
    return start + number * step


def measure(run: Json) -> Json:
    """Return the figures of one method, or the failure if it exceeds its time by far."""
    if run.get("traced"):
        traced = {**run, "method": traced_method(run["method"])}
        return trace_runs.measure(traced, view_of(run["method"]))
    return in_own_process(fit_method, run, LIMIT)


def fit_method(run: Json) -> Json:
    """Return the curve and the final figures of a method; called in a separate process."""
    found = traces.seen(trace_runs.compute_timed(run), "curve")
    assert found is not None
    return found


def timings() -> list[Timing]:
    """Return the methods that are timed at the paper's size. Starts by k-means++ take minutes."""
    n, k = FULL["n"], FULL["k"]
    found = [
        Timing(method, n, k, seconds_runs.iterations, 1 if "kpp" in method or "++" in method else 3)
        for method in ("k-means", "k-means (scikit-learn)", *BOOST, "k-means++")
    ]
    found += [Timing(method, n, k, seconds_runs.batches) for method in MINI_BATCH]
    found += [Timing(method, n, k, seconds_runs.whole, 1) for method in (*OWN, "sampled tree")]
    return [*found, Timing("LVQ", n, k, seconds_runs.one_iteration, 1)]


def estimate_seconds() -> Estimate:
    """Return how many samples `measure_seconds` takes, and their estimated seconds."""
    return seconds_runs.estimate(timings())


def measure_seconds(duration: float | None) -> None:
    """Measure the seconds of a few iterations of each method."""
    seconds_runs.measure(timings(), duration)


if __name__ == "__main__":
    import fig3_distortion

    sys.exit(main(fig3_distortion))
