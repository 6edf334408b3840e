"""The paper's figure 3 d: the distortion of 128 runs of each method, and whether differences matter.

`python paper/fig3d_significance.py` measures it; see `experiment.py`.
"""

import sys
from typing import Any

from experiment import IMAGES, Json, main, table

# isort: split
# What is above settles threads, before NumPy is imported.
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from contenders import CONTENDERS, Array, Task
from drawing import new_figure, save
from public_data import fingerprint, sift

NAME = "significance"
TITLE = "128 runs of each method (figure 3 d)"

METHODS = ("k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)", "BKM(rnd)+Fast", "ours")
RUNS, CHUNK = 128, 32
# Runs side by side, each by one thread: so a machine of two cores is used best.
SIDE_BY_SIDE = 2
# What the paper says something about, and ours.
PAIRS = (
    ("k-means++", "k-means"), ("Mini-Batch", "k-means"), ("LVQ", "k-means"), ("BKM(non)", "k-means"),
    ("BKM(rnd)+Fast", "k-means"), ("ours", "k-means"), ("BKM(rnd)+Fast", "BKM(non)"),
    ("ours", "BKM(non)"), ("ours", "BKM(rnd)+Fast"),
)  # fmt: skip
LEVEL = 0.01


def plan(full: bool) -> list[Json]:
    """Chunks of seeds. At the small size, there are as many rows to a cluster as in the paper."""
    size: Json = {"n": 100_000, "k": 1_024} if full else {"n": 10_000, "k": 102}
    return [
        {"method": method, **size, "seeds": [first, first + CHUNK]}
        for first in range(0, RUNS, CHUNK)
        for method in METHODS
    ]


def one(method: str, X: Array, k: int, seed: int) -> tuple[float, float]:
    """Distortion and seconds of one run by one thread."""
    course = CONTENDERS[method](Task(X, k, seed, n_threads=1))
    return course.distortion, course.points[-1].seconds


def measure(run: Json) -> Json:
    """Some seeds of one method: from the first to the one before the last."""
    X, data = sift(run["n"])
    found = Parallel(n_jobs=SIDE_BY_SIDE)(
        delayed(one)(run["method"], X, run["k"], seed) for seed in range(*run["seeds"])
    )
    return {
        "data": data,
        "sha256": fingerprint(X),
        "distortion": [value for value, _ in found],
        "seconds": [round(seconds, 4) for _, seconds in found],
    }


def samples(result: Json, what: str) -> dict[str, NDArray[np.float64]]:
    """All values of each method."""
    found: dict[str, list[float]] = {}
    for run in result["runs"]:
        found.setdefault(run["run"]["method"], []).extend(run[what])
    return {method: np.array(found[method]) for method in METHODS if method in found}


def holm(p_values: list[float]) -> list[float]:
    """Corrected for their number, by Holm's way."""
    order = np.argsort(p_values)
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def compared(values: dict[str, NDArray[np.float64]]) -> list[Json]:
    """Pairs of methods: a rank test, its effect, and the gap in standard deviations."""
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
                # The share of pairs of runs in which the left one is lower, minus that of the others.
                "effect": 1 - 2 * test.statistic / (len(a) * len(b)),
                "p": float(test.pvalue),
            })  # fmt: skip
    for one_pair, p in zip(found, holm([pair["p"] for pair in found]), strict=True):
        one_pair["corrected"] = p
    return found


def page(result: Json) -> str:
    """Tables, and a picture."""
    values, seconds = samples(result, "distortion"), samples(result, "seconds")
    draw(values)
    rows: list[list[Any]] = [
        [method, len(some), f"{some.mean():,.1f}", f"{some.std(ddof=1):,.1f}", f"{some.min():,.1f}",
         f"{np.median(some):,.1f}", f"{some.max():,.1f}", f"{seconds[method].mean():.2f}"]
        for method, some in values.items()
    ]  # fmt: skip
    pairs = compared(values)
    tests: list[list[Any]] = [
        [f"{pair['pair'][0]} against {pair['pair'][1]}", f"{pair['gap']:+.2f} %",
         f"{pair['deviations']:+.1f}", f"{pair['effect']:+.2f}", f"{pair['corrected']:.1e}",
         "yes" if pair["corrected"] < LEVEL else "no"]
        for pair in pairs
    ]  # fmt: skip
    first = result["runs"][0]
    return TEXT.format(
        data=first["data"], k=first["run"]["k"], side=SIDE_BY_SIDE, level=LEVEL,
        values=table(["", "runs", "mean", "sd", "lowest", "median", "highest", "seconds"], rows),
        tests=table(["", "gap", "in sd", "effect", "p", "significant"], tests),
        verdicts="\n".join(verdicts(pairs)),
    )  # fmt: skip


def verdicts(pairs: list[Json]) -> list[str]:
    """The paper's two claims."""
    lines = []
    for pair in pairs:
        left, right = pair["pair"]
        if (left, right) == ("k-means++", "k-means"):
            is_there = "a" if pair["corrected"] < LEVEL else "no"
            lines.append(
                "- No significant difference between k-means and k-means++: there is "
                f"{is_there} significant one here, of {pair['gap']:+.2f} %."
            )
        if left in ("BKM(non)", "BKM(rnd)+Fast", "ours") and right == "k-means":
            lines.append(
                f"- The gap between {left} and k-means is much larger than the variations across runs: "
                f"{abs(pair['deviations']):.1f} standard deviations; {left} is lower in "
                f"{50 * (1 + pair['effect']):.1f} % of all pairs of runs."
            )
    return lines


def draw(values: dict[str, NDArray[np.float64]]) -> None:
    """Boxes: quartiles, and whiskers from the lowest to the highest."""
    figure, axes = new_figure(1, 2, (10, 4))
    near = [method for method in values if method not in ("Mini-Batch", "LVQ")]
    parts = ((list(values), "all"), (near, "without Mini-Batch and LVQ"))
    for axis, (methods, title) in zip(axes[0], parts, strict=True):
        axis.boxplot([values[method] for method in methods], whis=(0, 100), widths=0.5)
        axis.set_xticks(range(1, len(methods) + 1), methods, rotation=30, fontsize=7)
        axis.set(ylabel="distortion", title=title)
        axis.grid(alpha=0.3, axis="y")
    save(figure, IMAGES / "paper_significance.svg")


TEXT = """Data: {data}; {k:,} clusters. {side} runs at a time, each by one thread: so the seconds are
those of one thread. K-means, k-means++ and BKM go on until nothing moves, or for 130 iterations;
Mini-Batch has 130 batches of a tenth of the rows, LVQ 25 iterations; "ours" is `BoostKMeans` as it
comes. All distortions are computed from the labels alone.

{values}

![Distortion of all runs](../images/paper_significance.svg)

## Tests

Mann-Whitney's U, two-sided, p corrected by Holm's way for all pairs, at a level of {level}. "effect" is
the rank-biserial correlation: 1 where every run of the first is lower than every one of the second. "in
sd" is the difference of the means by the pooled standard deviation.

{tests}

## What the paper says

{verdicts}
"""


if __name__ == "__main__":
    main(sys.modules[__name__])
