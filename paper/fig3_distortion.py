"""The paper's figures 3 a to c: distortion after each iteration, and against seconds.

`python paper/fig3_distortion.py` measures it; see `experiment.py`.
"""

import sys

from experiment import IMAGES, Json, main, table

# isort: split
# What is above settles threads, before NumPy is imported.
from contenders import CONTENDERS, STARTS, Task, in_own_process
from drawing import new_figure, save
from public_data import fingerprint, sift

NAME = "distortion"
TITLE = "Distortion of direct k-way clustering (figure 3 a-c)"

# Seconds for a method at the paper's size. K-means has more: the others are held against its end.
LIMIT, LIMIT_OF_KMEANS = 1_200.0, 10_800.0

AT = (1, 7, 20, 130)
PAPER = {
    "k-means": "40,450 after 130 iterations",
    "BKM(non)": "that of k-means after 7 iterations",
    "BKM(rnd)": "no better than BKM(non) after 15 iterations",
    "BKM(kpp)": "no better than BKM(non) after 15 iterations",
    "BKM(rnd)+Fast": "below BKM(non) after 20 iterations",
    "Mini-Batch": "far above all others",
    "LVQ": "considerably poor",
}
OURS = ("ours, fast", "ours", "ours, best")
PICTURES = {
    "starts": ("k-means", *[f"BKM({start})" for start in STARTS], "ours"),
    "fast": ("k-means", *[f"BKM({start}){end}" for start in STARTS for end in ("", "+Fast")]),
    "baselines": ("k-means", "k-means++", "Mini-Batch", "Mini-Batch, as long as BKM(non)", "LVQ",
                  "BKM(non)", *OURS, "BsBKM(non)", "BsBKM(non), refined"),
}  # fmt: skip
# Of a course, all of the first iterations, and from then on those that are so much further.
ALL_UP_TO, STEP = 20, 1.06


def plan(full: bool) -> list[Json]:
    """Every method once."""
    n, k = (1_000_000, 10_000) if full else (100_000, 1_024)
    return [
        {"method": method, "n": n, "k": k, "seed": 0, "limit": limit_of(method) if full else None}
        for method in CONTENDERS
    ]


def limit_of(method: str) -> float:
    """Seconds at the paper's size."""
    return LIMIT_OF_KMEANS if method == "k-means" else LIMIT


def fitted(run: Json) -> Json:
    """In a process of its own."""
    X, data = sift(run["n"])
    limit = float("inf") if run["limit"] is None else run["limit"]
    course = CONTENDERS[run["method"]](Task(X, run["k"], run["seed"], limit))
    return {
        "data": data,
        "sha256": fingerprint(X),
        "distortion": course.distortion,
        "seconds": course.points[-1].seconds,
        "iterations": course.points[-1].iteration,
        "ended": course.ended,
        "curve": thinned(
            [[p.iteration, round(p.seconds, 4), round(p.distortion, 3)] for p in course.points]
        ),
    }


def thinned(curve: list[list[float]]) -> list[list[float]]:
    """Few enough points to draw, the first ones and the last among them."""
    kept: list[list[float]] = []
    for point in curve:
        if point[0] <= ALL_UP_TO or point[0] >= STEP * kept[-1][0] or point is curve[-1]:
            kept.append(point)
    return kept


def measure(run: Json) -> Json:
    """The course of one method; without figures where it was not to be had in time."""
    return in_own_process(fitted, run, LIMIT if run["limit"] is None else run["limit"])


def value_after(curve: list[list[float]], iteration: int) -> float | None:
    """The distortion after so many iterations: the last point up to there."""
    known = [value for number, _, value in curve if number <= iteration]
    return known[-1] if known else None


def until(curve: list[list[float]], target: float) -> tuple[float, float] | None:
    """Iterations and seconds until a distortion is reached."""
    almost = (1 + 1e-6) * target  # k-means itself, as its curve is rounded
    return next(((number, seconds) for number, seconds, value in curve if value <= almost), None)


def page(result: Json) -> str:
    """Tables, and three pictures."""
    runs = {run["run"]["method"]: run for run in result["runs"]}
    good = {method: run for method, run in runs.items() if "failure" not in run}
    target = good["k-means"]["distortion"] if "k-means" in good else float("nan")
    for picture, methods in PICTURES.items():
        draw(picture, {method: good[method]["curve"] for method in methods if method in good}, target)
    first = next(iter(good.values()))
    settings = first["run"]
    return TEXT.format(
        data=first["data"], k=settings["k"], target=target, limit=LIMIT / 60,
        kmeans_limit=LIMIT_OF_KMEANS / 60, curves=as_table(runs, target),
        claims="\n".join(claims(good, target)),
        pictures="\n".join(f"![{name}](../images/paper_distortion_{name}.svg)\n" for name in PICTURES),
    )  # fmt: skip


def as_table(runs: dict[str, Json], target: float) -> str:
    """A row for each method."""
    rows = []
    for method, run in runs.items():
        said = PAPER.get(method, "")
        if "failure" in run:
            rows.append([method, *["-"] * len(AT), "-", run["failure"], "-", "-", "-", said])
            continue
        curve = run["curve"]
        values = [value_after(curve, iteration) for iteration in AT]
        reached = until(curve, target)
        rows.append([
            method,
            *[f"{value:,.0f}" if value else "-" for value in values],
            f"{run['distortion']:,.0f}",
            f"{run['seconds']:,.1f}",
            f"{run['iterations']} ({run['ended']})",
            "-" if reached is None else f"{reached[0]:.0f}",
            "-" if reached is None else f"{reached[1]:,.1f}",
            said,
        ])  # fmt: skip
    header = ["", *[f"after {iteration}" for iteration in AT], "at the end", "seconds", "iterations",
              "iterations to k-means' end", "seconds to it", "the paper"]  # fmt: skip
    return table(header, rows)


def claims(good: dict[str, Json], target: float) -> list[str]:
    """What the paper says, and what was found."""
    lines = []
    if "BKM(non)" in good:
        curve, reached = good["BKM(non)"]["curve"], until(good["BKM(non)"]["curve"], target)
        found = "never" if reached is None else f"after {reached[0]:.0f} iterations"
        lines.append(f"- BKM(non) reaches the end of k-means after 7 iterations: {found}.")
        for start in ("rnd", "kpp"):
            if f"BKM({start})" in good:
                other = good[f"BKM({start})"]["curve"]
                gaps = [
                    f"{100 * (after / (value_after(curve, i) or after) - 1):+.2f} % after {i}"
                    for i in (1, 7, 15)
                    if (after := value_after(other, i)) is not None
                ]
                lines.append(
                    f"- The advantage of BKM({start}) over BKM(non) fades away after 15 iterations: "
                    f"{', '.join(gaps)}."
                )
    for start in STARTS:
        best, fast = good.get(f"BKM({start})"), good.get(f"BKM({start})+Fast")
        if best and fast:
            share = 100 * (fast["distortion"] / best["distortion"] - 1)
            each = 100 * (
                fast["seconds"] / fast["iterations"] / best["seconds"] * best["iterations"] - 1
            )
            lines.append(
                f"- +Fast ends lower, and is 5 % faster: BKM({start})+Fast ends {share:+.2f} % against "
                f"BKM({start}); an iteration takes {each:+.0f} %."
            )
    lines += [
        f"- {method} ends {100 * (good[method]['distortion'] / target - 1):+.2f} % against k-means."
        for method in ("k-means++", "Mini-Batch", "Mini-Batch, as long as BKM(non)", "LVQ", *OURS)
        if method in good
    ]
    return lines


def line_of(method: str) -> str:
    """There are more methods than colours that can be told apart."""
    if method == "BsBKM(non)":
        return "o"
    if method.startswith("BsBKM"):
        return ":"
    return "--" if method in OURS or method.endswith("+Fast") else "-"


def draw(name: str, curves: dict[str, list[list[float]]], target: float) -> None:
    """One picture: against iterations, and against seconds."""
    figure, axes = new_figure(1, 2, (10, 4))
    lowest = min(curve[-1][2] for curve in curves.values())
    for axis, column, what in ((axes[0, 0], 0, "iterations"), (axes[0, 1], 1, "seconds")):
        for method, curve in curves.items():
            axis.plot([p[column] for p in curve], [p[2] for p in curve], line_of(method), label=method,
                      linewidth=1, markersize=4)  # fmt: skip
        axis.axhline(target, color="grey", linewidth=0.5, linestyle=":")
        # The first iterations of a random partition are far above everything else.
        axis.set(xscale="log", xlabel=what, ylabel="distortion", ylim=(0.995 * lowest, 1.15 * lowest))
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=7)
    save(figure, IMAGES / f"paper_distortion_{name}.svg")


TEXT = """Data: {data}; {k:,} clusters, one run of each method. The distortion after an iteration is
that of the method's own centres; at the end it is computed from the labels alone, in the same way for
all. "k-means' end" is {target:,.0f}, the dotted line. K-means and k-means++ are scikit-learn's, with
130 iterations at most and without tolerance; Mini-Batch has a tenth of the rows in each of 130 batches
(as in the paper), or as many batches as the time of BKM(non) allows; LVQ ends when its rate is 0; BKM
goes on until no move is left, or for 130 iterations. "ours" is `BoostKMeans` as it comes, with
`quality="fast"` and `"best"`; its iterations are all that `history_` has, repairs included. At the
paper's size a method has {limit:.0f} minutes (k-means {kmeans_limit:.0f}), and "time" stands where it
was stopped.

{curves}

{pictures}

## What the paper says

{claims}
"""


if __name__ == "__main__":
    main(sys.modules[__name__])
