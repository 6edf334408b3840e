"""The paper's Fig. 3 d: distortion of 128 runs of each method, and significance of the differences.

`python paper/fig3d_significance.py` runs this experiment; see `experiment.py`.
"""

import sys
from typing import Any

from experiment import IMAGES, Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from all_contenders import CONTENDERS
from contenders import Array, Task
from costs import model_of
from drawing import new_figure, save
from public_data import fingerprint, sift

NAME = "significance"
LOAD_MATTERS = False
TITLE = "128 runs of each method (the paper's Fig. 3 d)"
SHOWS_BOTH = True

METHODS = ("k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)", "BKM(rnd)+Fast", "boostkmeans")
N_RUNS = 128
# Seeds per stored run at the small and at the paper's size, so that little is lost if the experiment is
# interrupted.
SEEDS_PER_RUN = {False: 32, True: 4}
# Seeds of all methods that are measured early, so that a first result is balanced; then more, then all.
SEEDS_BY_PRIORITY = {8: 1.5, 32: 3.5, N_RUNS: 6}
# Expected number of iterations, by the small size.
EXPECTED = {"k-means": 75, "k-means++": 80, "BKM(non)": 110, "BKM(rnd)+Fast": 130}
# Fits that run at the same time with one thread each, which uses two cores best.
N_PARALLEL = 2
# Pairs that the paper makes a statement about, and pairs with boostkmeans.
PAIRS = (
    ("k-means++", "k-means"), ("Mini-Batch", "k-means"), ("LVQ", "k-means"), ("BKM(non)", "k-means"),
    ("BKM(rnd)+Fast", "k-means"), ("boostkmeans", "k-means"), ("BKM(rnd)+Fast", "BKM(non)"),
    ("boostkmeans", "BKM(non)"), ("boostkmeans", "BKM(rnd)+Fast"),
)  # fmt: skip
# Significance level.
LEVEL = 0.01

Floats = NDArray[np.float64]


def plan(full: bool) -> list[Json]:
    """Return runs of several seeds each. Both sizes have as many rows per cluster as the paper.

    At the paper's size, the runs take hours in the background, so they are not timed.
    """
    size: Json = {"n": 100_000, "k": 1_024, "timed": False} if full else {"n": 10_000, "k": 102}
    step = SEEDS_PER_RUN[full]
    return [
        {"method": method, **size, "seeds": [first, first + step]}
        for first in range(0, N_RUNS, step)
        for method in METHODS
    ]


def priority(run: Json) -> float:
    """Return the place of a run: a few seeds of all methods come first."""
    return next(place for last, place in SEEDS_BY_PRIORITY.items() if run["seeds"][1] <= last)


def cost(run: Json) -> float:
    """Return the estimated seconds of a run. Two fits at a time are as fast as one with two threads."""
    bounded = not run.get("timed", True)
    start, step, number = model_of(run["method"], run["n"], run["k"], bounded)
    each = start + EXPECTED.get(run["method"], number) * step
    return float((run["seeds"][1] - run["seeds"][0]) * each)


def fit_seed(method: str, X: Array, k: int, seed: int, bounded: bool = False) -> float:
    """Return the distortion of one fit with one thread."""
    return CONTENDERS[method](Task(X, k, seed, n_threads=1, bounded=bounded)).distortion


def measure(run: Json) -> Json:
    """Return the figures of the seeds in the half-open range `run["seeds"]`.

    Fits that run at the same time disturb each other, so their seconds are not stored.
    """
    X, data = sift(run["n"])
    timed = run.get("timed", True)
    found = Parallel(n_jobs=N_PARALLEL)(
        delayed(fit_seed)(run["method"], X, run["k"], seed, not timed) for seed in range(*run["seeds"])
    )
    return {"data": data, "sha256": fingerprint(X), "distortion": list(found)}


def samples(result: Json, figure: str) -> dict[str, Floats]:
    """Return all values of a figure, by method."""
    found: dict[str, list[float]] = {}
    for run in result["runs"]:
        found.setdefault(run["run"]["method"], []).extend(run.get(figure, []))
    return {method: np.array(some) for method, some in sorted(found.items(), key=place_of) if some}


def place_of(item: tuple[str, Any]) -> tuple[int, str]:
    """Return the place of a method in tables and pictures."""
    method = item[0]
    return (METHODS.index(method) if method in METHODS else len(METHODS), method)


def holm(p_values: list[float]) -> list[float]:
    """Return p-values corrected for multiple tests by Holm's method."""
    order = np.argsort(p_values)
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def compared(values: dict[str, Floats]) -> list[Json]:
    """Compare pairs of methods by a rank test, its effect, and the gap in standard deviations."""
    found: list[Json] = []
    for left, right in PAIRS:
        if left in values and right in values:
            a, b = values[left], values[right]
            test = stats.mannwhitneyu(a, b, alternative="two-sided")
            pooled = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
            found.append({
                "pair": (left, right),
                "gap": 100 * (a.mean() / b.mean() - 1),
                "deviations": (a.mean() - b.mean()) / pooled,
                # Share of pairs of runs in which the left one is lower, minus the share of the others.
                "effect": 1 - 2 * test.statistic / (len(a) * len(b)),
                "p": float(test.pvalue),
            })  # fmt: skip
    for one_pair, p in zip(found, holm([pair["p"] for pair in found]), strict=True):
        one_pair["corrected"] = p
    return found


def page(result: Json) -> str:
    """Return the page: tables, a picture, and the statements of the paper."""
    values = samples(result, "distortion")
    rows: list[list[Any]] = [
        [method, len(some), f"{some.mean():,.1f}", f"{some.std(ddof=1):,.1f}", f"{some.min():,.1f}",
         f"{np.median(some):,.1f}", f"{some.max():,.1f}"]
        for method, some in values.items()
    ]  # fmt: skip
    pairs = compared(values)
    tests: list[list[Any]] = [
        [f"{pair['pair'][0]} and {pair['pair'][1]}", f"{pair['gap']:+.2f} %",
         f"{pair['deviations']:+.1f}", f"{pair['effect']:+.2f}", f"{pair['corrected']:.1e}",
         "yes" if pair["corrected"] < LEVEL else "no"]
        for pair in pairs
    ]  # fmt: skip
    first = result["runs"][0]
    return TEXT.format(
        data=first["data"], k=first["run"]["k"], n_parallel=N_PARALLEL, level=LEVEL,
        picture=picture(result),
        values=table(["", "runs", "mean", "sd", "lowest", "median", "highest"], rows),
        tests=table(["", "gap", "gap in sd", "effect", "corrected p", "significant"], tests),
        statements="\n".join(statements(pairs)),
    )  # fmt: skip


def statements(pairs: list[Json]) -> list[str]:
    """Return the paper's two statements with the measured figures."""
    lines = []
    for pair in pairs:
        left, right = pair["pair"]
        if (left, right) == ("k-means++", "k-means"):
            found = "a" if pair["corrected"] < LEVEL else "no"
            lines.append(
                "- Paper: there is no significant difference between k-means and k-means++. Measured: "
                f"there is {found} significant difference, of {pair['gap']:+.2f} %."
            )
        if left in ("BKM(non)", "BKM(rnd)+Fast", "boostkmeans") and right == "k-means":
            lines.append(
                "- Paper: the gap between BKM and k-means is much larger than the variations across "
                f"runs. Measured for {left}: {abs(pair['deviations']):.1f} standard deviations; it is "
                f"lower in {50 * (1 + pair['effect']):.1f} % of all pairs of runs."
            )
    return lines


def draw(result: Json) -> None:
    """Draw box plots with quartiles, and whiskers from the lowest to the highest value."""
    values = samples(result, "distortion")
    figure, axes = new_figure(1, 2, (10, 4))
    near = [method for method in values if method not in ("Mini-Batch", "LVQ")]
    panels = ((list(values), "all"), (near, "without Mini-Batch and LVQ"))
    for axis, (methods, title) in zip(axes[0], panels, strict=True):
        axis.boxplot([values[method] for method in methods], whis=(0, 100), widths=0.5)
        axis.set_xticks(range(1, len(methods) + 1), methods, rotation=30, fontsize=7)
        axis.set(ylabel="distortion", title=title)
        axis.grid(alpha=0.3, axis="y")
    save(figure, IMAGES / picture(result))


def picture(result: Json) -> str:
    """Return the name of the file of the picture."""
    return f"paper_significance{'' if result['size'] == 'full' else '_small'}.svg"


TEXT = """Data: {data}; {k:,} clusters. {n_parallel} fits run at the same time with one thread each,
so seconds are not shown. They are measured for [Fig. 3 a-c](distortion.md). K-means, k-means++ and BKM
run until nothing moves, or for 130 iterations. Mini-Batch has 130 batches of a tenth of the rows, LVQ
has 25 iterations, and "boostkmeans" is `BoostKMeans` with its defaults. All distortions are computed
from the labels alone.

{values}

![Distortion of all runs](../images/{picture})

## Tests

Each pair of methods is compared by the two-sided Mann-Whitney U test, with p-values corrected by Holm's
method for all pairs, at a level of {level}. The gap is the difference of the means of the first and the
second method, in percent and in pooled standard deviations. The effect is the rank-biserial correlation:
1 if every run of the first method is lower than every run of the second.

{tests}

## Statements of the paper

{statements}
"""


if __name__ == "__main__":
    import fig3d_significance

    sys.exit(main(fig3d_significance))
