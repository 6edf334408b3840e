"""The paper's Fig. 3 a to c: distortion after each iteration, and against seconds.

`python paper/fig3_distortion.py` runs this experiment; see `experiment.py`.
"""

import sys

from experiment import IMAGES, Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
from contenders import CONTENDERS, STARTS, Task, in_own_process
from drawing import new_figure, save
from public_data import fingerprint, sift

NAME = "distortion"
TITLE = "Distortion of direct k-way clustering (the paper's Fig. 3 a-c)"

# Time limit of a method at the paper's size, in seconds.
LIMIT = 1_200.0
# k-means has more time, because the others are compared with its final distortion.
LIMIT_OF_KMEANS = 10_800.0

# Iterations whose distortion is in the table.
SHOWN_ITERATIONS = (1, 7, 20, 130)
# Statements of the paper.
PAPER = {
    "k-means": "40,450 after 130 iterations",
    "BKM(non)": "that of k-means after 7 iterations",
    "BKM(rnd)": "no better than BKM(non) after 15 iterations",
    "BKM(kpp)": "no better than BKM(non) after 15 iterations",
    "BKM(rnd)+Fast": "below BKM(non) after 20 iterations",
    "Mini-Batch": "far above all others",
    "LVQ": "considerably worse than BKM",
}
OWN = ("boostkmeans, fast", "boostkmeans", "boostkmeans, best")
PICTURES = {
    "starts": ("k-means", *[f"BKM({start})" for start in STARTS], "boostkmeans"),
    "fast": ("k-means", *[f"BKM({start}){end}" for start in STARTS for end in ("", "+Fast")]),
    "baselines": ("k-means", "k-means++", "Mini-Batch", "Mini-Batch, as long as BKM(non)", "LVQ",
                  "BKM(non)", *OWN, "BsBKM(non)", "BsBKM(non), refined"),
}  # fmt: skip
# A stored curve has all of the first iterations.
ALL_UP_TO = 20
# Later points are this factor apart.
STEP = 1.06


def plan(full: bool) -> list[Json]:
    """Return one run per method."""
    n, k = (1_000_000, 10_000) if full else (100_000, 1_024)
    return [
        {"method": method, "n": n, "k": k, "seed": 0, "limit": limit_of(method) if full else None}
        for method in CONTENDERS
    ]


def limit_of(method: str) -> float:
    """Return the time limit of a method at the paper's size."""
    return LIMIT_OF_KMEANS if method == "k-means" else LIMIT


def fit_method(run: Json) -> Json:
    """Return the curve and the final figures of a method; called in a separate process."""
    X, data = sift(run["n"])
    limit = float("inf") if run["limit"] is None else run["limit"]
    trace = CONTENDERS[run["method"]](Task(X, run["k"], run["seed"], limit))
    curve = [[p.iteration, round(p.seconds, 4), round(p.distortion, 3)] for p in trace.points]
    return {
        "data": data,
        "sha256": fingerprint(X),
        "distortion": trace.distortion,
        "seconds": trace.points[-1].seconds,
        "iterations": trace.points[-1].iteration,
        "ended": trace.stop_reason,
        "curve": thin_out(curve),
    }


def thin_out(curve: list[list[float]]) -> list[list[float]]:
    """Return a curve with fewer points, including the first ones and the last."""
    some: list[list[float]] = []
    for point in curve:
        if point[0] <= ALL_UP_TO or point[0] >= STEP * some[-1][0] or point is curve[-1]:
            some.append(point)
    return some


def measure(run: Json) -> Json:
    """Return the figures of one method, or the failure if it exceeds its time by far."""
    return in_own_process(fit_method, run, LIMIT if run["limit"] is None else run["limit"])


def value_after(curve: list[list[float]], iteration: int) -> float | None:
    """Return the distortion after a number of iterations, by the last point up to it."""
    known = [value for number, _, value in curve if number <= iteration]
    return known[-1] if known else None


def first_below(curve: list[list[float]], target: float) -> tuple[float, float] | None:
    """Return iterations and seconds until a distortion is reached, or None."""
    almost = (1 + 1e-6) * target  # The points of a curve are rounded.
    return next(((number, seconds) for number, seconds, value in curve if value <= almost), None)


def finished_runs(result: Json) -> dict[str, Json]:
    """Return the runs without failures, by method."""
    return {run["run"]["method"]: run for run in result["runs"] if "failure" not in run}


def kmeans_end(finished: dict[str, Json]) -> float:
    """Return the final distortion of k-means, or NaN if it failed."""
    return float(finished["k-means"]["distortion"]) if "k-means" in finished else float("nan")


def draw(result: Json) -> None:
    """Draw three pictures."""
    finished = finished_runs(result)
    for name, methods in PICTURES.items():
        curves = {method: finished[method]["curve"] for method in methods if method in finished}
        draw_curves(name, curves, kmeans_end(finished))


def page(result: Json) -> str:
    """Return the page: a table, three pictures, and the statements of the paper."""
    finished = finished_runs(result)
    target = kmeans_end(finished)
    first = next(iter(finished.values()))
    return TEXT.format(
        data=first["data"], k=first["run"]["k"], target=target, limit=LIMIT / 60,
        kmeans_limit=LIMIT_OF_KMEANS / 60, curves=methods_table(result["runs"], target),
        claims="\n".join(start_claims(finished, target) + fast_claims(finished)
                         + final_gaps(finished, target)),
        pictures="\n".join(f"![{name}](../images/paper_distortion_{name}.svg)\n" for name in PICTURES),
    )  # fmt: skip


def methods_table(runs: list[Json], target: float) -> str:
    """Return a table with one row per method."""
    rows = []
    for run in runs:
        method = run["run"]["method"]
        statement = PAPER.get(method, "")
        if "failure" in run:
            missing = ["-"] * len(SHOWN_ITERATIONS)
            rows.append([method, *missing, "-", run["failure"], "-", "-", "-", statement])
            continue
        curve = run["curve"]
        values = [value_after(curve, iteration) for iteration in SHOWN_ITERATIONS]
        reached = first_below(curve, target)
        rows.append([
            method,
            *[f"{value:,.0f}" if value else "-" for value in values],
            f"{run['distortion']:,.0f}",
            f"{run['seconds']:,.1f}",
            f"{run['iterations']} ({run['ended']})",
            "-" if reached is None else f"{reached[0]:.0f}",
            "-" if reached is None else f"{reached[1]:,.1f}",
            statement,
        ])  # fmt: skip
    header = ["", *[f"after {iteration}" for iteration in SHOWN_ITERATIONS], "at the end", "seconds",
              "iterations", "iterations to the end of k-means", "seconds to the end of k-means",
              "the paper"]  # fmt: skip
    return table(header, rows)


def start_claims(finished: dict[str, Json], target: float) -> list[str]:
    """Return the statements about BKM(non) and better starts."""
    if "BKM(non)" not in finished:
        return []
    curve = finished["BKM(non)"]["curve"]
    reached = first_below(curve, target)
    measured = "never" if reached is None else f"after {reached[0]:.0f} iterations"
    lines = [
        "- Paper: BKM(non) reaches the final distortion of k-means after 7 iterations. Measured: "
        f"{measured}."
    ]
    for start in ("rnd", "kpp"):
        if f"BKM({start})" in finished:
            other = finished[f"BKM({start})"]["curve"]
            gaps = [
                f"{100 * (after / (value_after(curve, i) or after) - 1):+.2f} % after {i}"
                for i in (1, 7, 15)
                if (after := value_after(other, i)) is not None
            ]
            lines.append(
                f"- Paper: the advantage of BKM({start}) over BKM(non) fades away after 15 iterations. "
                f"Measured: {', '.join(gaps)}."
            )
    return lines


def fast_claims(finished: dict[str, Json]) -> list[str]:
    """Return the statements about moves to the first better cluster."""
    lines = []
    for start in STARTS:
        best, fast = finished.get(f"BKM({start})"), finished.get(f"BKM({start})+Fast")
        if best and fast:
            gap = 100 * (fast["distortion"] / best["distortion"] - 1)
            each = 100 * (
                fast["seconds"] / fast["iterations"] / best["seconds"] * best["iterations"] - 1
            )
            lines.append(
                f"- Paper: +Fast ends lower, and is 5 % faster. Measured for BKM({start})+Fast: final "
                f"distortion {gap:+.2f} % relative to BKM({start}), time per iteration {each:+.0f} %."
            )
    return lines


def final_gaps(finished: dict[str, Json], target: float) -> list[str]:
    """Return the final distortions relative to k-means."""
    methods = ("k-means++", "Mini-Batch", "Mini-Batch, as long as BKM(non)", "LVQ", *OWN)
    return [
        f"- {method}: final distortion "
        f"{100 * (finished[method]['distortion'] / target - 1):+.2f} % relative to k-means."
        for method in methods
        if method in finished
    ]


def line_style(method: str) -> str:
    """Return the line style of a method; there are more methods than distinct colours."""
    if method == "BsBKM(non)":
        return "o"
    if method.startswith("BsBKM"):
        return ":"
    return "--" if method in OWN or method.endswith("+Fast") else "-"


def draw_curves(name: str, curves: dict[str, list[list[float]]], target: float) -> None:
    """Draw one picture: distortion against iterations, and against seconds."""
    figure, axes = new_figure(1, 2, (10, 4))
    lowest = min(curve[-1][2] for curve in curves.values())
    for axis, column, title in ((axes[0, 0], 0, "iterations"), (axes[0, 1], 1, "seconds")):
        for method, curve in curves.items():
            axis.plot([p[column] for p in curve], [p[2] for p in curve], line_style(method),
                      label=method, linewidth=1, markersize=4)  # fmt: skip
        axis.axhline(target, color="grey", linewidth=0.5, linestyle=":")
        # The first iterations of a random partition are far above everything else.
        axis.set(xscale="log", xlabel=title, ylabel="distortion", ylim=(0.995 * lowest, 1.15 * lowest))
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=7)
    save(figure, IMAGES / f"paper_distortion_{name}.svg")


TEXT = """Data: {data}; {k:,} clusters, one run per method.

The distortion after an iteration is computed with the centres of the method. The final distortion is
computed from the labels alone, in the same way for all methods. The final distortion of k-means is
{target:,.0f}, the dotted line in the pictures. Methods:

- K-means and k-means++ are scikit-learn's, with at most 130 iterations and no tolerance.
- Mini-Batch has 130 batches of a tenth of the rows, as in the paper, or as many batches as it can
  process in the time of BKM(non).
- LVQ ends when its learning rate is 0.
- BKM runs until no move is left, or for 130 iterations.
- "boostkmeans" is `BoostKMeans` with its defaults, with `quality="fast"` and with `quality="best"`. Its
  iterations are all records of `history_`, including repairs.

At the paper's size, the time limit is {limit:.0f} minutes ({kmeans_limit:.0f} for k-means). The column
"iterations" shows "time" if this limit stopped a method.

{curves}

{pictures}

## Statements of the paper

{claims}
"""


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
