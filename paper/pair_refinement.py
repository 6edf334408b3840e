"""Refinement of a tree by pairs of clusters: an explanation for the paper's Table 2.

Algorithm 1 over all clusters takes a tree below k-means, but in the paper refined trees are 7 % above
k-means. This experiment refines pairs of clusters instead, by Algorithm 1 with two clusters.
`python paper/pair_refinement.py` runs it; see `experiment.py`.
"""

import sys

from experiment import Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from bounded_fits import BoundedBoostKMeans
from contenders import PLAIN, Array, Task, distortion_of
from public_data import fingerprint, sift

NAME = "pair_refinement"
TITLE = "Refinement of pairs of clusters (an explanation for the paper's Table 2)"
SHOWS_BOTH = True

# Rounds (or sweeps) after which the distortion is stored.
STORED = (1, 2, 4, 8, 16, 32)
PAIRS = ("random", "nearest", "all")
# The paper's mean decrease by refinement, in percent: from 45,723.8 to 43,319.8 on average.
PAPER_DECREASE = 5.26


def plan(full: bool) -> list[Json]:
    """Return one run per kind of pairs; "all" is Algorithm 1 over all clusters."""
    size: Json = {"n": 1_000_000, "k": 10_000} if full else {"n": 100_000, "k": 1_024}
    return [{"pairs": pairs, **size, "rounds": STORED[-1], "seed": 0} for pairs in PAIRS]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run: a pair takes some milliseconds, a sweep more."""
    each = run["n"] * run["k"] / 1e9 if run["pairs"] == "all" else run["k"] * (2e-3 + 2e-9 * run["n"])
    return 10 + float(run["rounds"] * each)


def measure(run: Json) -> Json:
    """Return the distortion of the exact tree, and after some rounds of refinement."""
    X, data = sift(run["n"])
    task = Task(X, run["k"], run["seed"])
    tree = BisectingBoostKMeans(task.k, sample=None, max_passes=None, random_state=task.seed).fit(X)
    refine = sweep_refinement if run["pairs"] == "all" else pair_refinement
    return {
        "data": data,
        "sha256": fingerprint(X),
        "tree": distortion_of(task, tree.labels_),
        "after": refine(task, tree.labels_, run),
    }


def sweep_refinement(task: Task, labels: Array, run: Json) -> list[list[float]]:
    """Return the distortion after some sweeps of Algorithm 1 over all clusters."""
    model = BoundedBoostKMeans(task.k, init=labels, max_iter=run["rounds"], tol=0,
                               random_state=task.seed, **PLAIN).fit(task.X)  # fmt: skip
    ends = [record.inertia / len(task.X) for record in model.history_]
    return [[number, ends[min(number, len(ends)) - 1]] for number in STORED if number <= run["rounds"]]


def pair_refinement(task: Task, labels: Array, run: Json) -> list[list[float]]:
    """Return the distortion after some rounds, in each of which every cluster is in one pair."""
    rng = np.random.default_rng(run["seed"])
    labels = labels.copy()
    after: list[list[float]] = []
    for number in range(1, run["rounds"] + 1):
        pairs = random_pairs(task.k, rng)
        if run["pairs"] == "nearest":
            pairs = nearest_pairs(centres_of(task, labels), rng)
        for pair in pairs:
            refine_pair(task, labels, pair, number)
        if number in STORED:
            after.append([number, distortion_of(task, labels)])
    return after


def random_pairs(k: int, rng: np.random.Generator) -> Array:
    """Return a random matching of the clusters."""
    return rng.permutation(k)[: k - k % 2].reshape(-1, 2)


def nearest_pairs(centres: Array, rng: np.random.Generator) -> Array:
    """Return a matching in which each cluster, in random order, takes the nearest one that is left."""
    squares = np.einsum("ij,ij->i", centres, centres)
    is_left = np.ones(len(centres), dtype=bool)
    pairs = []
    for one in rng.permutation(len(centres)):
        if is_left[one] and is_left.sum() > 1:
            is_left[one] = False
            gaps = np.where(is_left, squares - 2 * (centres @ centres[one]), np.inf)
            other = int(gaps.argmin())
            is_left[other] = False
            pairs.append((int(one), other))
    return np.array(pairs)


def centres_of(task: Task, labels: Array) -> Array:
    """Return the means of the clusters."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(task.k))
    sums = np.add.reduceat(task.X[order].astype(np.float64), starts, axis=0)
    return np.asarray(sums / np.bincount(labels, minlength=task.k)[:, None])


def refine_pair(task: Task, labels: Array, pair: Array, seed: int) -> None:
    """Run Algorithm 1 on the rows of two clusters until nothing moves, and update their labels."""
    rows = np.flatnonzero((labels == pair[0]) | (labels == pair[1]))
    start = (labels[rows] == pair[1]).astype(np.int32)
    model = BoostKMeans(2, init=start, tol=0, random_state=seed, n_threads=1, **PLAIN).fit(task.X[rows])
    labels[rows] = np.asarray(pair)[model.labels_]


def decrease(run: Json, number: int) -> float | None:
    """Return by how many percent the distortion is below that of the tree after some rounds."""
    found = dict(map(tuple, run["after"])).get(number)
    return None if found is None else 100 * (1 - found / run["tree"])


def rounds_needed(run: Json) -> str:
    """Return after how many rounds the decrease is that of the paper."""
    reached = [number for number, _ in run["after"] if (decrease(run, number) or 0) >= PAPER_DECREASE]
    return f"at most {reached[0]:.0f}" if reached else f"more than {run['after'][-1][0]:.0f}"


def conclusion(result: Json) -> str:
    """Return a sentence that says if random pairs explain the paper's figure."""
    found = [run for run in result["runs"] if run["run"]["pairs"] == "random" and "after" in run]
    run = found[0] if found else None
    if run is None:
        return "Random pairs are not measured yet."
    last = run["after"][-1][0]
    lower = decrease(run, last) or 0.0
    explained = "can explain" if lower >= PAPER_DECREASE else "do not explain"
    return (
        f"Refinement lowers the distortion of a tree by {PAPER_DECREASE} % in the paper. Random pairs "
        f"lower it by {lower:.1f} % in {last} rounds: they {explained} the paper's figure."
    )


def page(result: Json) -> str:
    """Return the page: the decrease by kind of pairs and number of rounds."""
    names = {
        "random": "random pairs",
        "nearest": "nearest pairs",
        "all": "Algorithm 1 over all clusters",
    }
    rows = []
    for run in result["runs"]:
        values = [decrease(run, number) for number in STORED]
        cells = ["-" if value is None else f"{-value:+.1f} %" for value in values]
        rows.append([names[run["run"]["pairs"]], *cells, rounds_needed(run)])
    first = result["runs"][0]
    rounds = [f"{number} round{'s' if number > 1 else ''}" for number in STORED]
    return TEXT.format(
        data=first["data"], k=first["run"]["k"], paper=PAPER_DECREASE, conclusion=conclusion(result),
        table=table(["", *rounds, "rounds to the paper's"], rows),
    )  # fmt: skip


TEXT = """In the paper's Table 2, refinement takes trees from 13 % above k-means to 7 % above: a decrease
of {paper} %. The paper calls the refinement Algorithm 1, but one sweep of Algorithm 1 over all clusters
already takes a tree further down. This experiment tests whether a weaker refinement explains the
figure: Algorithm 1 with two clusters, for pairs of clusters. In each round, every cluster is in one
pair, and the two clusters of a pair exchange rows until no move is left. The pairs are random, or each
cluster, in random order, is paired with the nearest one that is left.

Data: {data}; {k:,} clusters. The start is the exact tree, BsBKM(non). The table shows the distortion
relative to the tree. A round of Algorithm 1 is one sweep.

{table}
{conclusion}
"""


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
