"""Estimated seconds of traces, for the estimate of the total time.

Measured times come first: those of `seconds.py` (without bounds, so the gain by bounds is modelled),
then those of the trace itself so far. Otherwise a model applies: a sweep compares n rows with k centres
of d values, at a speed that is measured by a small fit.
"""

import time
from functools import cache
from itertools import pairwise
from pathlib import Path

from experiment import N_THREADS, Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

import traces
from all_contenders import may_use_bounds
from boostkmeans import BoostKMeans
from contenders import ITERATIONS, PLAIN
from seconds import samples_of, summary
from tree_contenders import TREES

D = 128
# Rows and clusters of the fit that measures the speed.
N_PROBE, K_PROBE = 20_000, 1_024
# Expected number of iterations of methods that end earlier than `ITERATIONS`.
EXPECTED = {"LVQ": 25, "boostkmeans, fast": 40, "boostkmeans": 40, "boostkmeans, best": 120}
REFINEMENT_SWEEPS = 35
# Time of an iteration relative to a sweep of BKM, by the methods at the small size. In a sweep of +Fast,
# each row looks for the first better cluster by itself.
RELATIVE = {
    "k-means": 1.4, "k-means++": 1.4, "LVQ": 2.2, "Mini-Batch": 0.3, "Mini-Batch, 10 % in total": 0.1,
    "BKM(non)+Fast": 1.9, "BKM(rnd)+Fast": 1.9, "BKM(kpp)+Fast": 1.9,
    "boostkmeans, fast": 0.3, "boostkmeans": 0.3, "boostkmeans, best": 0.3,
}  # fmt: skip
# Time of a start relative to a sweep.
START_BY_PLUS_PLUS = 20.0
# Time of a whole tree relative to a sweep over 10,000 clusters.
TREE_SWEEPS = 6.0
# Time of an iteration with bounds relative to one without, from some number of clusters on.
BOUNDED = {4_096: 0.5, 512: 0.65, 0: 1.0}


@cache
def sweep_rate() -> float:
    """Return the measured number of products per second of a sweep over all clusters.

    Processor time counts, which hardly depends on other processes, divided by the number of threads.
    """
    X = np.random.default_rng(0).normal(size=(N_PROBE, D)).astype(np.float32)
    began: list[float] = []
    BoostKMeans(
        K_PROBE, init="random", max_iter=4, tol=0, random_state=0, n_threads=N_THREADS,
        callback=lambda record: began.append(time.process_time()), **PLAIN,
    ).fit(X)  # fmt: skip
    sweep = min(after - before for before, after in pairwise(began)) / N_THREADS
    return N_PROBE * K_PROBE * D / max(sweep, 1e-6)


def model_of(method: str, n: int, k: int, bounded: bool = False) -> tuple[float, float, int]:
    """Return the modelled seconds of a start and of an iteration, and the number of iterations.

    Bounds, see `bounded_fits.py`, shorten iterations, but not starts.
    """
    plain = n * k * D / sweep_rate()
    if method in TREES:
        return TREE_SWEEPS * plain, 0.0, 1
    sweep = plain * factor_of_bounds(k) if bounded and may_use_bounds(method) else plain
    if method.endswith(", refined"):
        return TREE_SWEEPS * plain, sweep, REFINEMENT_SWEEPS
    start = START_BY_PLUS_PLUS * plain if "++" in method or "kpp" in method else 0.0
    return start, RELATIVE.get(method, 1.0) * sweep, EXPECTED.get(method, ITERATIONS)


def factor_of_bounds(k: int) -> float:
    """Return the time of an iteration with bounds relative to one without."""
    return next(factor for clusters, factor in BOUNDED.items() if k >= clusters)


def trace_cost(run: Json, folder: Path) -> float:
    """Return the estimated seconds that the rest of a trace takes. `folder` is that of the traces."""
    trace = traces.read_trace(folder / f"{traces.slug(run['method'], run['seed'])}.json")
    if trace is not None and (trace["complete"] or trace.get("computed_elsewhere")):
        return 0.0
    start, step, number = model_of(run["method"], run["n"], run["k"], bounded=True)
    known = summary(samples_of(folder.parent, run["method"], run["n"], run["k"]))
    start, plain = known.get("start_seconds", start), known.get("seconds_of_iteration", step)
    if "seconds_of_iteration" in known:
        step = plain * (factor_of_bounds(run["k"]) if may_use_bounds(run["method"]) else 1.0)
    done = trace["iterations"][-1][0] if trace is not None and trace["iterations"] else 0
    if done and trace is not None and "seconds_of_iteration" not in known:
        step = trace.get("computed_seconds", 0.0) / done or step
    return float(max(1, number - done) * step + (0.0 if done else start))
