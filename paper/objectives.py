"""The paper's objectives I1 and I2 after each iteration of Algorithm 1.

The paper says that both decrease together, because they are nearly the same if clusters are large.
`python paper/objectives.py` runs this experiment; see `experiment.py`.
"""

import sys
import warnings
from itertools import pairwise

from experiment import Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from boostkmeans import BoostKMeans, metrics
from contenders import PLAIN
from public_data import fingerprint, sift

NAME = "objectives"
TITLE = "The objectives I1 and I2 per iteration"
LARGER_SIZE = "its only size"

N_ROWS = 20_000
# From 312 down to 5 rows per cluster.
KS = (64, 512, 4_096)
ITERATIONS = 30
# Iterations in the tables.
SHOWN = (0, 1, 2, 3, 5, 10, 20, 30)


def plan(full: bool) -> list[Json]:
    """Return one run per number of clusters. The paper gives no size, so both sizes are the same."""
    return [{"method": "BKM(non)", "n": N_ROWS, "k": k, "seed": 0, "iterations": ITERATIONS} for k in KS]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    return 10 + float(run["k"]) / 100


def measure(run: Json) -> Json:
    """Return both objectives at the start and after each iteration.

    Fits with the same seed make the same moves, so the state after an iteration is that of a fit with
    this number of iterations.
    """
    warnings.simplefilter("ignore")  # Equal rows may leave a cluster empty.
    X, data = sift(run["n"])
    start = np.resize(np.arange(run["k"], dtype=np.int32), len(X))
    np.random.default_rng(run["seed"]).shuffle(start)
    states = [start]
    for number in range(1, run["iterations"] + 1):
        model = BoostKMeans(run["k"], init=start, max_iter=number, tol=0, random_state=run["seed"],
                            **PLAIN).fit(X)  # fmt: skip
        states.append(model.labels_)
        if model.converged_:
            break
    return {
        "data": data,
        "sha256": fingerprint(X),
        "i1": [len(X) * metrics.average_distortion(X, labels) for labels in states],
        "i2": [metrics.i2(X, labels) for labels in states],
    }


def opposed_iterations(run: Json) -> list[int]:
    """Return the iterations in which I1 falls and I2 rises."""
    steps = zip(pairwise(run["i1"]), pairwise(run["i2"]), strict=True)
    return [number for number, (i1, i2) in enumerate(steps, start=1) if i1[1] < i1[0] and i2[1] > i2[0]]


def page(result: Json) -> str:
    """Return the page: one table per number of clusters."""
    return TEXT.format(tables="\n".join(objectives_table(run) for run in result["runs"]))


def objectives_table(run: Json) -> str:
    """Return the heading and the table of one number of clusters."""
    n, k = run["run"]["n"], run["run"]["k"]
    shown = [number for number in SHOWN if number < len(run["i1"])]
    rows = [
        [number, f"{run['i1'][number]:.5g}", f"{run['i2'][number]:.5g}",
         f"{run['i2'][number] / run['i1'][number]:.3f}"]
        for number in shown
    ]  # fmt: skip
    opposed = opposed_iterations(run)
    summary = (
        f"I2 rises while I1 falls in iterations {', '.join(map(str, opposed))}."
        if opposed
        else "Both fall in every iteration."
    )
    return (
        f"## {k:,} clusters, {n / k:.3g} rows per cluster\n\nData: {run['data']}.\n\n"
        f"{table(['iteration', 'I1', 'I2', 'I2 / I1'], rows)}\n{summary}\n"
    )


TEXT = """I1 is the inertia: the sum of the squared distances of the rows to their centres. I2 is the sum
over all clusters of the average squared distance between two rows, times the size of the cluster. It
equals the sum of 2 n_r / (n_r - 1) times the inertia of each cluster. The paper replaces this factor by
2, and concludes that minimizing I1 minimizes I2. Here Algorithm 1 (BKM(non)) minimizes I1, and both are
measured after each iteration. Iteration 0 is the random partition.

{tables}
"""


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
