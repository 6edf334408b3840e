"""The page of the scalability experiment: pictures and tables."""

from typing import Any

from experiment import IMAGES, Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from drawing import new_figure, save
from scalability_figures import (
    Size,
    exponent,
    extrapolated,
    largest_common_size,
    mean,
    runs_at,
    series,
    sizes_of,
    time_ratio,
)
from scalability_methods import BISECTING, K_WAY, METHODS, OWN

# Names of the pictures, by the size of the experiment.
TIMES = {"full": "paper_scalability_time.svg", "small": "paper_scalability_time_small.svg"}
DISTORTIONS = {
    "full": "paper_scalability_distortion.svg",
    "small": "paper_scalability_distortion_small.svg",
}

# Minutes of the paper for BsBKM(non).
PAPER_MINUTES: dict[Size, int] = {(10_000_000, 1024): 94, (1_000_000, 8192): 8}


def cell(runs: list[Json], method: str, n: int, k: int, figure: str) -> str:
    """Return a cell of a table: the mean of a figure, or the failure."""
    value = mean(runs, method, n, k, figure)
    if value is not None:
        return {"seconds": f"{value:.3g}", "distortion": f"{value:.4f}"}.get(figure, f"{value:,.0f}")
    failures = [run["failure"] for run in runs_at(runs, method, n, k) if "failure" in run]
    return "not tried" if failures and failures[0].startswith("not tried") else "".join(failures[:1])


def figure_table(runs: list[Json], along: str, figure: str) -> str:
    """Return a table of methods by size; for seconds, with the exponent."""
    sizes = sizes_of(runs, along)
    header = ["", *[f"{along} = {(n if along == 'n' else k):,}" for n, k in sizes]]
    lines = []
    for method in METHODS:
        line = [method, *[cell(runs, method, n, k, figure) for n, k in sizes]]
        if figure == "seconds":
            power = exponent(runs, method, along)
            line.append("" if power is None else f"{power:.2f}")
        if any(line[1:]):
            lines.append(line)
    return table([*header, *(["exponent"] if figure == "seconds" else [])], lines)


def draw(result: Json) -> None:
    """Draw the times and the distortions."""
    if result["runs"]:
        draw_times(result["runs"], TIMES[result["size"]])
        draw_distortions(result["runs"], DISTORTIONS[result["size"]])


def draw_times(runs: list[Json], name: str) -> None:
    """Draw direct and bisecting methods against n and k; boostkmeans is in all panels.

    scikit-learn's methods are only in the tables.
    """
    figure, axes = new_figure(2, 2, (11, 8))
    for line, along in zip(axes, ("n", "k"), strict=True):
        for axis, (title, some) in zip(
            line, (("direct k-way", K_WAY), ("bisecting", BISECTING)), strict=True
        ):
            for number, method in enumerate((*some, *OWN)):
                draw_line(axis, runs, method, along, f"C{number}")
            axis.set(title=title, xlabel=along, ylabel="seconds")
            finish(axis, xscale="log", yscale="log")
    save(figure, IMAGES / name)


def draw_line(axis: Any, runs: list[Json], method: str, along: str, colour: str) -> None:
    """Draw the seconds of a method."""
    points = series(runs, method, along, "seconds")
    if points:
        x, y = zip(*points, strict=True)
        style = "--" if method in OWN else "-"
        axis.plot(x, y, style, color=colour, marker="o", markersize=4, label=method)


def draw_distortions(runs: list[Json], name: str) -> None:
    """Draw the distortions of all methods against n and k, as in the paper."""
    figure, axes = new_figure(1, 2, (11, 4.5))
    for axis, along in zip(axes[0], ("n", "k"), strict=True):
        for number, method in enumerate((*K_WAY, *BISECTING, *OWN)):
            points = series(runs, method, along, "distortion")
            if points:
                style = "--" if method in BISECTING else "-"
                x, y = zip(*points, strict=True)
                axis.plot(x, y, style, color=f"C{number % 10}", marker=".", label=method,
                          linewidth=2 if method in OWN else 1)  # fmt: skip
        axis.set(xlabel=along, ylabel="average distortion")
        finish(axis, xscale="log")
    save(figure, IMAGES / name)


def finish(axis: Any, **scales: str) -> None:
    """Set scales and legend of a panel that has lines, and the grid."""
    if axis.lines:
        axis.set(**scales)
        axis.legend(fontsize=7)
    axis.grid(alpha=0.3)


def paper_table(runs: list[Json]) -> str:
    """Return a table of the paper's figures and the measured ones."""
    lines = []
    for (n, k), minutes in PAPER_MINUTES.items():
        for method in ("BsBKM(non)", "sampled tree"):
            found = extrapolated(runs, method, n, k)
            measured = f"{found[0] / 60:.2g} minutes ({found[1]})" if found else "not measured"
            lines.append([f"{method}, {n:,} rows into {k:,} clusters", f"{minutes} minutes", measured])
    for method in ("BsKM", "BsKM++"):
        lines.append([f"time of {method} / time of BsBKM(non)", "about 1.35 x",
                      ratio_text(runs, "k", method)])  # fmt: skip
    for along in ("n", "k"):
        lines.append([f"time of k-means / time of BsBKM(non), largest {along}",
                      "two orders of magnitude", ratio_text(runs, along, "k-means")])  # fmt: skip
    return table(["", "paper", "measured"], lines)


def ratio_text(runs: list[Json], along: str, method: str) -> str:
    """Return the time of a method divided by that of BsBKM(non), at the largest size of both."""
    size = largest_common_size(runs, along, method, "BsBKM(non)")
    if size is None:
        return "not measured"
    ratio = time_ratio(runs, method, "BsBKM(non)", size)
    return f"{ratio:.{0 if ratio >= 10 else 1}f} x (n={size[0]:,}, k={size[1]:,})"


def seeds_text(runs: list[Json]) -> str:
    """Return how many seeds the sizes have, and how much the distortion depends on the seed."""
    deviations = []
    counts: dict[Size, int] = {}
    for size in sizes_of(runs, "n") + sizes_of(runs, "k"):
        for method in METHODS:
            values = [run["distortion"] for run in runs_at(runs, method, *size) if "distortion" in run]
            counts[size] = max(counts.get(size, 0), len(values))
            if len(values) > 2:
                deviations.append((float(np.std(values, ddof=1) / np.mean(values)), method, size))
    if max(counts.values(), default=0) < 2:
        return "Each method has one seed. The paper averages ten runs."
    numbers = ", ".join(f"{number} for n={n:,}, k={k:,}" for (n, k), number in sorted(counts.items()))
    text = f"Values are means over the seeds: at most {numbers}. The paper averages ten runs."
    if deviations:
        share, method, (n, k) = max(deviations)
        text += (
            f" The largest standard deviation of the distortion over three or more seeds is "
            f"{100 * share:.2f} % ({method}, n={n:,}, k={k:,})."
        )
    return text


def timing_text(runs: list[Json]) -> str:
    """Return how the seconds at the paper's size were measured, and how good the estimate is."""
    checks = [run["estimate"] / run["seconds"] - 1 for run in runs if "estimate" in run]
    text = FULL_TIMES if any("timed_iterations" in run for run in runs) else SMALL_TIMES
    if checks:
        text += (
            f" Where all iterations were timed, an estimate from the first four differs from the true "
            f"time by {100 * min(checks):+.0f} to {100 * max(checks):+.0f} %."
        )
    return text


def page(result: Json) -> str:
    """Return the page: pictures and tables."""
    runs = result["runs"]
    if not runs:
        return "Not measured yet."
    names = {run["data"] for run in runs if "data" in run}
    of_ks = sizes_of(runs, "k")
    return TEXT.format(
        times=TIMES[result["size"]], distortions=DISTORTIONS[result["size"]],
        timing=timing_text(runs), seeds=seeds_text(runs),
        n_of_ks=f"{of_ks[0][0]:,}" if of_ks else "the largest number of",
        seconds_n=figure_table(runs, "n", "seconds"), seconds_k=figure_table(runs, "k", "seconds"),
        distortion_n=figure_table(runs, "n", "distortion"),
        distortion_k=figure_table(runs, "k", "distortion"),
        memory=figure_table(runs, "n", "peak_megabytes"), paper=paper_table(runs),
        synthetic=SYNTHETIC if any(name.startswith("synthetic") for name in names) else "",
        missing=MISSING if result.get("complete") is False else "",
    )  # fmt: skip


SYNTHETIC = """The paper's Flickr10M is not available. The vectors are synthetic. They have unit
length, with the spectrum and the cluster structure of real VLAD vectors of photographs. `paper/vlad.py`
describes the model and its fit. If the folder `BOOSTKMEANS_DATA` contains the real vectors, they are
used instead.
"""

SMALL_TIMES = """Times end when the labels of all rows are known. They do not include reading and
measuring."""
FULL_TIMES = """Times end when the labels of all rows are known. They do not include reading and
measuring. They were measured
on a quiet machine, separately from the distortions. Trees, Mini-Batch and boostkmeans were timed as a
whole. Direct k-way methods were timed as a whole up to 1,000,000 rows and 1,024 clusters. For more, four
iterations were timed, and the mean of the last three stands for each of the remaining sixteen."""
MISSING = "\nSome runs are missing: empty cells will be filled as they finish.\n"

TEXT = """{synthetic}
Methods:

- Direct k-way methods run for at most 20 iterations, as in the paper. Trees have no limit.
- BsBKM(non) and RBK are exact: a split uses all rows of its set, until no row moves. "sampled tree" and
  "sampled RBK" are our defaults, which use a sample.
- Mini-Batch has one batch of a tenth of the rows per iteration. In the second reading of the paper's
  "10 %", all batches together have a tenth of the rows.
- All of these use the same compiled core, so that times compare algorithms. The rows "(scikit-learn)"
  are scikit-learn's k-means and trees, with a limit of 60 minutes of both cores (40 s at the small
  size). They are the same algorithms, so with 1,000,000 rows they are run with 1,024 clusters only.
  scikit-learn would need 20 GB for a copy of 10,000,000 rows in float32, so it was not run with them. A
  method that exceeds its limit is not tried at larger sizes.
- With 10,000,000 rows, only some methods are run, because a run takes up to an hour: k-means,
  BKM(non), BKM(rnd)+Fast, BsBKM(non), the sampled tree, RBK and boostkmeans.
- "boostkmeans" is `BoostKMeans` with its defaults, and with `quality="fast"`.

Each run has its own process. Rows are float32 up to 1,000,000, and float16 beyond (10 GB). The
distortion is computed from the labels alone; for BKM, it is that of the last sweep. {timing}

{seeds}

OpenMP threads sleep while they wait (`OMP_WAIT_POLICY=PASSIVE`), which mainly helps scikit-learn's
trees.
{missing}
![Time](../images/{times})

## Seconds for 1,024 clusters

{seconds_n}
The exponent is p if the time grows like n^p: the slope of a line through the logarithms.

## Seconds for {n_of_ks} rows

{seconds_k}
The exponent is p if the time grows like k^p. In the paper, the time of direct k-way methods is linear in
k (p = 1), and that of bisecting methods is constant (p = 0).

![Distortion](../images/{distortions})

## Distortion for 1,024 clusters

{distortion_n}
## Distortion for {n_of_ks} rows

{distortion_k}
## Peak memory in MB

Peak memory of the whole process, including the rows, for 1,024 clusters.

{memory}
## The paper's figures

{paper}
The paper used a Xeon at 2.4 GHz. It does not give the number of threads.
"""
