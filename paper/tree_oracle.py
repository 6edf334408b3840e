"""The exact Algorithm 2 compared with an oracle in plain NumPy, which visits row by row.

The oracle is `tests/split_reference.py`. Both get the same random numbers, so that they differ only by
rounding, and by the order of clusters of equal size. `python paper/tree_oracle.py` runs this
experiment; see `experiment.py`.
"""

import statistics
import sys
from pathlib import Path

from experiment import Json, load_result, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from boostkmeans import BisectingBoostKMeans, metrics
from public_data import fingerprint, sift

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # The oracle is that of the tests.
import split_reference

NAME = "tree_oracle"
TITLE = "The exact Algorithm 2 and a reference implementation"
LARGER_SIZE = "its only size"

N, K = 20_000, 200
N_SEEDS = 4
# Seconds of the oracle per row. Each of about eight levels has about ten passes.
SECONDS_PER_ROW = 2.5e-3


def plan(full: bool) -> list[Json]:
    """Return one run per seed. The paper has no such experiment, so both sizes are the same."""
    return [{"n": N, "k": K, "seed": seed} for seed in range(N_SEEDS)]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    return SECONDS_PER_ROW * float(run["n"])


def measure(run: Json) -> Json:
    """Return the distortions of the core and of the oracle, and the rows on which they agree."""
    X, data = sift(run["n"])
    k, seed = run["k"], run["seed"]
    model = BisectingBoostKMeans(k, sample=None, max_passes=None, random_state=seed).fit(X)
    labels, _ = split_reference.grow_tree(X.astype(np.float64), k, seed_of_tree(seed))
    return {
        "data": data,
        "sha256": fingerprint(X),
        "distortion": metrics.average_distortion(X, model.labels_),
        "oracle": metrics.average_distortion(X, labels),
        # Clusters are numbered in the same order: that of the members.
        "same_rows": int(np.count_nonzero(model.labels_ == labels)),
    }


def seed_of_tree(random_state: int) -> int:
    """Return the seed that a fit with this `random_state` draws for its tree."""
    return int(np.random.RandomState(random_state).randint(2**63 - 1, dtype=np.int64))


def difference(run: Json) -> float:
    """Return by how many percent the distortion is above that of the oracle."""
    return 100 * (float(run["distortion"]) / float(run["oracle"]) - 1)


def same_share(run: Json) -> float:
    """Return the share of rows in the same cluster as by the oracle, in percent."""
    return 100 * float(run["same_rows"]) / float(run["run"]["n"])


def conclusion(result: Json | None) -> str:
    """Return a sentence with the differences, for the page about trees, or nothing without a result."""
    if result is None or not result["runs"]:
        return ""
    return f"{findings(result)} See [{TITLE}]({NAME}.md)."


def findings(result: Json) -> str:
    """Return a sentence with the differences."""
    runs = [run for run in result["runs"] if "oracle" in run]
    first = runs[0]["run"]
    gap, same = max(abs(difference(run)) for run in runs), min(same_share(run) for run in runs)
    return (
        f"The exact Algorithm 2 was compared with an implementation in plain NumPy on {first['n']:,} "
        f"rows and {first['k']:,} clusters, with the same random numbers and {len(runs)} seeds: its "
        f"distortion differs by at most {gap:.4f} %, and at least {same:.2f} % of the rows are in the "
        "same cluster."
    )


def stored_conclusion() -> str:
    """Return the sentence of the stored result."""
    return conclusion(load_result(NAME))


def page(result: Json) -> str:
    """Return the page: both distortions by seed."""
    runs = result["runs"]
    rows = [
        [run["run"]["seed"], f"{run['distortion']:,.2f}", f"{run['oracle']:,.2f}",
         f"{difference(run):+.4f} %", f"{same_share(run):.2f} %"]
        for run in runs
    ]  # fmt: skip
    mean = statistics.fmean(map(difference, runs))
    rows.append(["mean", "", "", f"{mean:+.4f} %", ""])
    header = ["seed", "distortion", "oracle", "relative difference", "rows in the same cluster"]
    first = runs[0]
    return TEXT.format(
        data=first["data"], k=first["run"]["k"], table=table(header, rows), mean=abs(mean)
    )


TEXT = """Data: {data}; {k:,} clusters.

`BisectingBoostKMeans(k, sample=None, max_passes=None)` is the paper's Algorithm 2: a split visits all
rows of a set in random order until none moves. The oracle is the same algorithm in plain NumPy, row by
row, with distances in float64 (`tests/split_reference.py`). Both get the same random numbers. Where they
differ, rounding has decided a move or the order of splits.

{table}
On average, the distortion differs by {mean:.4f} %. The target is 0.3 %.
"""


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
