"""The demo: 25,000 real SIFT descriptors into 256 clusters, by k-means, k-means++ and boost k-means.

Prints what each reaches and how long it takes, and draws distortion against time. Run it by `make demo`.
"""

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from boostkmeans import BoostKMeans, SweepRecord, instruction_set

ROOT = Path(__file__).parents[1]
N_CLUSTERS = 256
Curve = list[tuple[float, float]]


def main() -> None:
    """Clusters, compares, draws."""
    with np.load(ROOT / "examples" / "data" / "siftsmall.npz") as data:
        X = data["learn"]
    print(f"{X.shape[0]:,} SIFT descriptors of {X.shape[1]} values (uint8) into {N_CLUSTERS} clusters")
    print(f"boost k-means runs on {instruction_set()}; k-means is scikit-learn's\n")
    curves = {
        "k-means": lloyd(X, "random"),
        "k-means++": lloyd(X, "k-means++"),
        "boost k-means": boost(X),
    }
    print_table(curves)
    target = ROOT / "demo" / "distortion.png"
    draw(curves, target)
    print(f"\nDistortion against time: {target.relative_to(ROOT)}")


def lloyd(X: NDArray[np.uint8], init: str) -> Curve:
    """scikit-learn shows no history, so that each point is a run of its own with more iterations."""
    rows = X.astype(np.float32)
    KMeans(N_CLUSTERS, init=init, n_init=1, max_iter=1).fit(rows)  # so that no run pays for waking up
    curve = []
    for max_iter in (1, 2, 4, 8, 16, 32, 300):
        progress(f"scikit-learn, init={init!r}, at most {max_iter} iterations")
        began = time.perf_counter()
        model = KMeans(N_CLUSTERS, init=init, n_init=1, max_iter=max_iter, random_state=0).fit(rows)
        curve.append((time.perf_counter() - began, float(model.inertia_) / len(X)))
    progress("")
    return curve


def boost(X: NDArray[np.uint8]) -> Curve:
    """Ours, until a sweep certifies that no single move improves the partition."""

    def show(record: SweepRecord) -> None:
        progress(f"boost k-means, {record.seconds:.2f} s: {record.inertia / len(X):,.0f}")

    model = BoostKMeans(N_CLUSTERS, tol=0, callback=show, random_state=0).fit(X)
    progress("")
    curve = [(record.seconds, record.inertia / len(X)) for record in model.history_]
    return [*curve, (model.history_[-1].seconds, model.distortion_)]


def progress(text: str) -> None:
    """One line on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def print_table(curves: dict[str, Curve]) -> None:
    """Final distortion of each, and how soon ours was there."""
    ours = curves["boost k-means"]
    print(f"{'':15}{'seconds':>10}{'distortion':>14}   boost k-means was there after")
    for name, curve in curves.items():
        seconds, distortion = curve[-1]
        there = next(s for s, d in ours if d <= distortion)
        print(f"{name:15}{seconds:10.2f}{distortion:14,.1f}   {there:.2f} s")


def draw(curves: dict[str, Curve], target: Path) -> None:
    """A picture of distortion against time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, curve in curves.items():
        axes.plot(*zip(*curve, strict=True), marker=".", label=name)
    axes.set(xscale="log", xlabel="seconds", ylabel="average distortion")
    axes.set_title(f"SIFT 25,000 x 128 into {N_CLUSTERS} clusters")
    axes.set_ylim(top=1.1 * min(d for curve in curves.values() for _, d in curve))
    axes.legend()
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    main()
