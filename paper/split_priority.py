"""Priority of clusters in a tree: the largest, the highest average distance, or the highest inertia.

The paper says that splitting the largest cluster is more stable. `python paper/split_priority.py` runs
this experiment; see `experiment.py`.
"""

import statistics
import sys
from typing import Any

from experiment import N_THREADS, Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from joblib import Parallel, delayed

from boostkmeans import BisectingBoostKMeans, metrics
from boostkmeans.documents import Weighting, tfidf
from contenders import Array
from public_data import documents, sift

NAME = "split_priority"
TITLE = "Priority of clusters in a tree"
LARGER_SIZE = "the larger size"

SPLITS = ("largest", "average", "inertia")
N_SEEDS = 20
DOCUMENTS = ("k1b", "re0", "wap")
K_OF_DOCUMENTS = 20


def plan(full: bool) -> list[Json]:
    """Return one run per data set and priority. The paper gives no size."""
    n, k = (100_000, 1_024) if full else (20_000, 256)
    sets = [{"set": "SIFT", "n": n, "k": k},
            *[{"set": name, "k": K_OF_DOCUMENTS} for name in DOCUMENTS]]  # fmt: skip
    return [{**one, "split": split, "seeds": [0, N_SEEDS]} for one in sets for split in SPLITS]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    return float(run.get("n", 20_000)) / 1_000


def rows_of(run: Json) -> tuple[Any, str] | None:
    """Return the rows of a data set and their name, or None if the set is missing."""
    if run["set"] == "SIFT":
        return sift(run["n"])
    found = documents(run["set"])
    if found is None:
        return None
    return tfidf(found[0], Weighting()).rows, f"{run['set']} ({found[1]})"


def fit_seed(X: Any, run: Json, seed: int) -> tuple[float, float]:
    """Return the distortion of a tree, and its largest cluster relative to the average size."""
    model = BisectingBoostKMeans(
        run["k"], split=run["split"], sample=None, max_passes=None, random_state=seed, n_threads=1
    ).fit(X)
    sizes: Array = np.bincount(model.labels_)
    return metrics.average_distortion(X, model.labels_), float(sizes.max() * run["k"] / X.shape[0])


def measure(run: Json) -> Json:
    """Return the figures of the seeds in the half-open range `run["seeds"]`."""
    found = rows_of(run)
    if found is None:
        return {"missing": True}
    X, data = found
    trees = Parallel(n_jobs=N_THREADS)(delayed(fit_seed)(X, run, seed) for seed in range(*run["seeds"]))
    return {"data": data, "distortion": [one for one, _ in trees],
            "largest": [round(share, 3) for _, share in trees]}  # fmt: skip


def page(result: Json) -> str:
    """Return the page: one row per data set and priority."""
    rows = []
    runs = [run for run in result["runs"] if "distortion" in run]
    for run in runs:
        values = run["distortion"]
        mean, deviation = statistics.fmean(values), statistics.stdev(values)
        rows.append([
            run["run"]["set"], run["run"]["split"], f"{run['run']['k']:,}", len(values), f"{mean:,.6g}",
            f"{100 * deviation / mean:.3f} %", f"{100 * (max(values) / min(values) - 1):.2f} %",
            f"{statistics.fmean(run['largest']):.1f}",
        ])  # fmt: skip
    header = ["", "split", "k", "seeds", "mean distortion", "sd", "highest / lowest", "largest cluster"]
    names = "; ".join(dict.fromkeys(run["data"] for run in runs))
    return TEXT.format(data=names, table=table(header, rows))


TEXT = """The queue of Algorithm 2 pops the cluster with the most rows ("largest"), or with the highest
average squared distance between its rows ("average"). "inertia" is the sum of squared distances to the
centre, which is the default of other libraries. The paper finds the first more stable. The trees are
exact. The standard deviation (sd) and the range are those of the distortion over the seeds. "largest
cluster" is the size of the largest cluster relative to the average.

Data: {data}.

{table}
"""


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
