"""Fixed points of Lloyd's algorithm in many dimensions: the experiment of arXiv 2602.09936, at scale.

Parts of the experiment:

- "partitions": how many rows of random partitions Lloyd's algorithm and single moves would move,
  measured and predicted by `lloyd_bias.py`;
- "recovery" and "scale": which methods find planted clusters;
- "real": what single moves gain on real data after Lloyd's algorithm has converged.
"""

from functools import lru_cache

import experiment
from experiment import IMAGES, Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

import data
import fixed_points_page
import lloyd_bias
from boostkmeans import metrics
from drawing import new_figure, save
from fixed_point_methods import METHODS, Array, defaults, lloyd, plain_moves
from lloyd_bias import Floats, Labels, Planted, random_labels

NAME = "lloyd_fixed_points"
TITLE = "Fixed points of Lloyd's algorithm in many dimensions"
LARGER_SIZE = "the larger size"
PICTURE = "lloyd_fixed_points.svg"

N_CLASSES = 20
ROWS_PER_CLASS = 20
DIMENSIONS = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
NOISES = [1, 4, 20]
# With this noise, the sizes of the clusters are varied, and Lloyd's algorithm can change no partition
# into clusters of 20 rows if the number of dimensions is large (see the page).
HIGH_NOISE = 20
CLUSTER_SIZES = [5, 20, 80]
# Bounds the memory of the rows with a large number of dimensions.
MAX_VALUES = 50_000_000
N_PARTITIONS = 20
# The prediction averages over fewer partitions, because it takes longer.
N_PREDICTED = 5
# Ten runs of scikit-learn take long in very many dimensions.
MAX_BEST_OF_10 = 10_000
# Rows, dimensions, rows per cluster and noise of many small clusters.
SCALES = [(5_000, 1_024, 10, 4)]
FULL_SCALES = [(20_000, 4_096, 10, 8), (50_000, 1_024, 10, 4)]
# Ten runs of scikit-learn would take too long.
SCALE_METHODS = [one for one in METHODS if one != "scikit-learn, best of 10"]
REAL = ["wordnet", "mnist", "sift"]
REAL_SIZES = [5, 10, 20]


def plan(full: bool) -> list[Json]:
    """Return all runs."""
    seeds = range(5 if full else 3)
    return [*partition_runs(seeds[:-1]), *recovery_runs(seeds), *scale_runs(full), *real_runs(full)]


def priority(_: Json) -> int:
    """Return the place in the order of all experiments: after those of the paper itself."""
    return 9


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    n, k, d = run["n"], run["k"], run.get("d", 300)
    if run["part"] in ("scale", "real"):  # Some tens of iterations that compare all rows and clusters.
        return 10 + 30 * float(n * k * d) / 2e10
    return (1.0 if run["part"] == "partitions" else 0.2) + 1e-7 * float(n * d)


def partition_runs(seeds: range) -> list[Json]:
    """Return the runs with random partitions: several noises, and several sizes of clusters."""
    settings = [(ROWS_PER_CLASS, noise) for noise in NOISES]
    settings += [(size, HIGH_NOISE) for size in CLUSTER_SIZES if size != ROWS_PER_CLASS]
    return [
        {"part": "partitions", "n": size * N_CLASSES, "k": N_CLASSES, "d": d, "noise": noise,
         "n_partitions": N_PARTITIONS, "seed": seed}
        for size, noise in settings
        for d in DIMENSIONS
        if d * size * N_CLASSES <= MAX_VALUES
        for seed in seeds
    ]  # fmt: skip


def recovery_runs(seeds: range) -> list[Json]:
    """Return the runs of all methods on a few large clusters."""
    return [
        {"part": "recovery", "n": ROWS_PER_CLASS * N_CLASSES, "k": N_CLASSES, "d": d, "noise": noise,
         "seed": seed, "method": method}
        for noise in NOISES[1:]
        for d in DIMENSIONS[2:]
        for seed in seeds
        for method in METHODS
        if method != "scikit-learn, best of 10" or d <= MAX_BEST_OF_10
    ]  # fmt: skip


def scale_runs(full: bool) -> list[Json]:
    """Return the runs with many small clusters."""
    return [
        {"part": "scale", "n": n, "k": n // size, "d": d, "noise": noise, "seed": seed, "method": method}
        for n, d, size, noise in (FULL_SCALES if full else SCALES)
        for seed in range(1 if full else 3)
        for method in SCALE_METHODS
        if method != "scikit-learn after PCA" or n // size <= d  # There are only d components.
    ]


def real_runs(full: bool) -> list[Json]:
    """Return the runs on real data."""
    n = 20_000 if full else 5_000
    return [
        {"part": "real", "set": name, "n": n, "k": n // size, "seed": seed}
        for name in REAL
        for size in REAL_SIZES
        for seed in range(3)
    ]


def measure(run: Json) -> Json:
    """Return the figures of one run."""
    if run["part"] == "partitions":
        return measure_partitions(run)
    return measure_real(run) if run["part"] == "real" else measure_recovery(run)


# --- Random partitions ---------------------------------------------------------------------------------


def measure_partitions(run: Json) -> Json:
    """Return the shares of moving rows and of fixed points, measured and predicted."""
    planted = planted_of(run)
    rng = np.random.default_rng(run["seed"])
    products = lloyd_bias.gram(planted.draw(rng))
    partitions = [random_labels(run["n"], run["k"], rng) for _ in range(run["n_partitions"])]
    figures: Json = {}
    for name, rule in (("lloyd", lloyd_bias.lloyd), ("single", lloyd_bias.single_moves)):
        moving = [lloyd_bias.moving_rows(products, labels, rule) for labels in partitions]
        stay = [
            lloyd_bias.probabilities_to_stay(lloyd_bias.predicted_scores(planted, labels, rule))
            for labels in partitions[:N_PREDICTED]
        ]
        exchanged = exchanged_rows(planted.classes, rng)
        figures[name] = {
            "moving": float(np.mean(moving)),
            "fixed": float(np.mean([not one.any() for one in moving])),
            "predicted_moving": float(1 - np.mean(stay)),
            "predicted_fixed": float(np.mean([probability_of_all(one) for one in stay])),
            "corrected": float(np.mean([corrected(products, *one, rule) for one in exchanged])),
        }
    return figures


def planted_of(run: Json) -> Planted:
    """Return the distribution of the rows of a run: classes of equal sizes."""
    classes = np.repeat(np.arange(run["k"]), run["n"] // run["k"])
    return Planted(classes, run["d"], run["noise"])


def probability_of_all(stay: Floats) -> float:
    """Return the probability that all rows stay, if they decided independently."""
    return float(np.exp(np.log(np.maximum(stay, np.finfo(float).tiny)).sum()))


def exchanged_rows(
    classes: Labels, rng: np.random.Generator, n_pairs: int = N_PARTITIONS
) -> list[tuple[Labels, Labels]]:
    """Return planted partitions with two rows of different clusters exchanged, and these rows."""
    found = []
    for _ in range(n_pairs):
        first, second = rng.choice(int(classes.max()) + 1, 2, replace=False)
        pair = np.array([rng.choice(np.flatnonzero(classes == one)) for one in (first, second)])
        labels = classes.copy()
        labels[pair] = classes[pair[::-1]]
        found.append((labels, pair))
    return found


def corrected(
    products: Floats, labels: Labels, pair: Labels, rule: lloyd_bias.MakeRule
) -> NDArray[np.bool_]:
    """Return which of the exchanged rows a rule would move."""
    return np.asarray(lloyd_bias.moving_rows(products, labels, rule)[pair])


# --- Recovery of planted clusters ----------------------------------------------------------------------


@lru_cache(maxsize=1)
def planted_rows(n: int, k: int, d: int, noise: float, seed: int) -> tuple[Array, Labels, Labels]:
    """Return rows, their classes and random labels. All methods of a run get the same ones."""
    planted = planted_of({"n": n, "k": k, "d": d, "noise": noise})
    rng = np.random.default_rng(seed)
    rows = planted.draw(rng)
    return rows, planted.classes, random_labels(n, k, rng)


def measure_recovery(run: Json) -> Json:
    """Return the agreement of a method's result with the planted clusters, and its inertia."""
    rows, classes, start = planted_rows(run["n"], run["k"], run["d"], run["noise"], run["seed"])
    try:
        labels = METHODS[run["method"]](rows, run["k"], start, run["seed"])
    except ImportError as error:
        return {"failure": f"{error.name} is not installed"}
    planted = metrics.average_distortion(rows, classes)
    return {
        "ari": float(adjusted_rand_score(classes, labels)),
        "excess": metrics.average_distortion(rows, labels) / planted - 1,
        "n_moved": int((labels != start).sum()) if run["method"] == "Lloyd, random labels" else None,
    }


# --- Real data -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def real_rows(name: str, n: int) -> tuple[str, Array] | None:
    """Return a name and n rows at equal distances in a data set, or None if it is missing."""
    if not data.shared_folder().exists():
        return None
    if name == "sift":
        found: tuple[str, Array] | None = data.sift(10 * n)
    else:
        found = data.wordnet() if name == "wordnet" else data.mnist()
    if found is None or found[0].startswith("synthetic"):
        return None
    rows = found[1][:: len(found[1]) // n][:n]
    return found[0].rsplit(" ", 3)[0], np.ascontiguousarray(rows)


def measure_real(run: Json) -> Json:
    """Return what each rule would do after Lloyd's algorithm, and what single moves gain."""
    found = real_rows(run["set"], run["n"])
    if found is None:
        return {"missing": True}
    name, rows = found
    k, seed = run["k"], run["seed"]
    random = random_labels(run["n"], k, np.random.default_rng(seed))
    converged = lloyd(rows, k, "k-means++", seed)
    continued = plain_moves(rows, k, converged, seed)
    before = metrics.average_distortion(rows, converged)
    return {
        "data": name,
        "d": rows.shape[1],
        "effective_d": lloyd_bias.effective_dimension(rows),
        "random_lloyd": lloyd_bias.share_of_moves(rows, random),
        "after_lloyd": lloyd_bias.share_of_moves(rows, converged),
        "after_single": lloyd_bias.share_of_moves(rows, converged, lloyd_bias.single_moves),
        "continued": metrics.average_distortion(rows, continued) / before - 1,
        "moved": float((continued != converged).mean()),
        "defaults": metrics.average_distortion(rows, defaults(rows, k, seed)) / before - 1,
    }


# --- Page ----------------------------------------------------------------------------------------------


def page(result: Json) -> str:
    """Return the page."""
    return fixed_points_page.text(result["runs"], PICTURE)


def draw(result: Json) -> None:
    """Draw the shares of moving rows and of fixed points, and the recovery of the clusters."""
    figure, axes = new_figure(2, 2, (11, 8))
    fixed_points_page.draw_moving(axes[0, 0], result["runs"])
    fixed_points_page.draw_fixed(axes[0, 1], result["runs"])
    for axis, noise in zip(axes[1], NOISES[1:], strict=True):
        fixed_points_page.draw_recovery(axis, result["runs"], noise)
    save(figure, IMAGES / PICTURE)


if __name__ == "__main__":
    import lloyd_fixed_points

    experiment.main(lloyd_fixed_points)
