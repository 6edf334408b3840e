"""The paper's Fig. 5 and 6: time and distortion against the number of rows, and of clusters.

The rows are VLAD vectors of photographs with 512 dimensions (`vlad.py`). The methods are the paper's
nine and two settings of boostkmeans. Each run has its own process, which is killed when its time is
up. A method that failed is not tried with more rows and at least as many clusters.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import experiment
from experiment import IMAGES, Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported. It also makes
# `isolated` importable.
import vlad
from boostkmeans import metrics
from drawing import new_figure, save
from isolated import isolated
from scalability_figures import (
    N_CLUSTERS,
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

NAME = "scalability"
TITLE = "Scalability (the paper's Fig. 5 and 6)"

TIMES = "paper_scalability_time.svg"
DISTORTIONS = "paper_scalability_distortion.svg"

# Numbers of clusters of the runs along k.
KS = (1024, 2048, 4096, 8192)
# The series along n and along k share sizes, which are run once.
SMALL: Json = {"ns": (10_000, 50_000, 100_000), "n_of_ks": 50_000, "limit": 40.0, "seeds": 1}
FULL: Json = {"ns": (10_000, 100_000, 1_000_000, 10_000_000), "n_of_ks": 1_000_000, "limit": 1800.0,
              "seeds": 3}  # fmt: skip
# A run that takes longer than this is not repeated with other seeds.
REPEATED_UP_TO = 120.0
# Extra seconds for making rows and measuring figures, which are not part of the method's time.
PATIENCE = 3600.0
# A method is stopped by an alarm after this multiple of its limit.
SLACK = 1.1

WAIT_POLICY = "OMP_WAIT_POLICY"


def plan(full: bool) -> list[Json]:
    """Return the runs from the smallest to the largest size, so that failures come early."""
    size = FULL if full else SMALL
    sizes = {(n, N_CLUSTERS) for n in size["ns"]} | {(size["n_of_ks"], k) for k in KS}
    return [
        {"n": n, "k": k, "method": method, "seed": seed, "limit": size["limit"]}
        for n, k in sorted(sizes, key=lambda one: (one[0] * one[1], one))
        for seed in range(size["seeds"])
        for method in METHODS
    ]


def measure(run: Json) -> Json:
    """Return seconds, distortion and peak memory of one method at one size, or the failure."""
    reason = skip_reason(run, experiment.stored_runs(NAME, run["limit"] == FULL["limit"]))
    if reason:
        return reason
    with passive_threads():
        outcome = isolated(fit_method, run, limit=SLACK * run["limit"] + PATIENCE)
    figures = outcome.value or {"failure": failure_text(outcome.failure, run["limit"])}
    if figures.get("seconds", 0.0) > run["limit"]:
        figures = {"failure": time_limit_text(run["limit"])}
    if "failure" in figures:
        return dict(figures)
    return {**figures, "peak_megabytes": round(outcome.peak_megabytes)}


def skip_reason(run: Json, stored: list[Json]) -> Json:
    """Return why a run is skipped, judged by stored runs, or an empty dictionary."""
    same = [one for one in stored if one["run"]["method"] == run["method"]]
    for one in same:
        n, k = one["run"]["n"], one["run"]["k"]
        if "failure" in one and run["n"] >= n and run["k"] >= k:
            return {"failure": f"not tried: it failed at n={n:,}, k={k:,}"}
        if (n, k) == (run["n"], run["k"]) and one.get("seconds", 0.0) > REPEATED_UP_TO:
            return {"skipped": f"one seed is enough: a run takes {one['seconds']:.0f} s"}
    return {}


@contextmanager
def passive_threads() -> Iterator[None]:
    """Make the OpenMP threads of new processes sleep while they wait.

    By default they spin. On a machine with other work, scikit-learn's trees, which wait after each of
    many small steps, then take eight times as long.
    """
    before = os.environ.get(WAIT_POLICY)
    os.environ[WAIT_POLICY] = "PASSIVE"
    try:
        yield
    finally:
        del os.environ[WAIT_POLICY]
        if before is not None:
            os.environ[WAIT_POLICY] = before


def time_limit_text(limit: float) -> str:
    """Return the failure of a run that exceeded its time limit."""
    return f"more than {limit:g} s"


def failure_text(failure: str, limit: float) -> str:
    """Return a failure; a process that was ended by its alarm exceeded the time limit."""
    stopped = failure == f"ended with exit code {-signal.SIGALRM}"
    return time_limit_text(limit) if stopped else failure


def fit_method(run: Json) -> Json:
    """Return the figures of a method; called in a separate process, which an alarm ends in time."""
    rows, name = vlad.rows(run["n"])
    signal.setitimer(signal.ITIMER_REAL, SLACK * run["limit"])
    labels, seconds = METHODS[run["method"]](rows, run["k"], run["seed"])
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {"data": name, "seconds": seconds, "distortion": metrics.average_distortion(rows, labels)}


def cell(runs: list[Json], method: str, n: int, k: int, figure: str) -> str:
    """Return a cell of a table: the mean of a figure, or the failure."""
    value = mean(runs, method, n, k, figure)
    if value is not None:
        return {"seconds": f"{value:.3g}", "distortion": f"{value:.4f}"}.get(figure, f"{value:,.0f}")
    some = runs_at(runs, method, n, k)
    reason = some[0].get("failure", "") if some else ""
    return "not tried" if reason.startswith("not tried") else reason


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
        lines.append(line)
    return table([*header, *(["exponent"] if figure == "seconds" else [])], lines)


def draw(result: Json) -> None:
    """Draw the times and the distortions."""
    if result["runs"]:
        draw_times(result["runs"])
        draw_distortions(result["runs"])


def draw_times(runs: list[Json]) -> None:
    """Draw direct and bisecting methods against n and k; boostkmeans is in all panels."""
    figure, axes = new_figure(2, 2, (11, 8))
    for line, along in zip(axes, ("n", "k"), strict=True):
        for axis, (title, some) in zip(
            line, (("direct k-way", K_WAY), ("bisecting", BISECTING)), strict=True
        ):
            for number, method in enumerate((*some, *OWN)):
                draw_line(axis, runs, method, along, f"C{number}")
            axis.set(title=title, xlabel=along, ylabel="seconds")
            finish(axis, xscale="log", yscale="log")
    save(figure, IMAGES / TIMES)


def draw_line(axis: Any, runs: list[Json], method: str, along: str, colour: str) -> None:
    """Draw the seconds of a method, with an open triangle where it exceeded the time limit."""
    points = series(runs, method, along, "seconds")
    if points:
        x, y = zip(*points, strict=True)
        style = "--" if method in OWN else "-"
        axis.plot(x, y, style, color=colour, marker="o", markersize=4, label=method)
    for n, k in sizes_of(runs, along):
        some = runs_at(runs, method, n, k)
        stopped = any(str(run.get("failure")).startswith("more than") for run in some)
        if stopped and mean(runs, method, n, k, "seconds") is None:
            size, limit = n if along == "n" else k, some[0]["run"]["limit"]
            axis.plot([size], [limit], color=colour, marker="^", fillstyle="none", markersize=8)


def draw_distortions(runs: list[Json]) -> None:
    """Draw the distortions of all methods against n and k, as in the paper."""
    figure, axes = new_figure(1, 2, (11, 4.5))
    for axis, along in zip(axes[0], ("n", "k"), strict=True):
        for number, method in enumerate(METHODS):
            points = series(runs, method, along, "distortion")
            if points:
                style = "--" if method in BISECTING else "-"
                x, y = zip(*points, strict=True)
                axis.plot(x, y, style, color=f"C{number % 10}", marker=".", label=method,
                          linewidth=2 if method in OWN else 1)  # fmt: skip
        axis.set(xlabel=along, ylabel="average distortion")
        finish(axis, xscale="log")
    save(figure, IMAGES / DISTORTIONS)


def finish(axis: Any, **scales: str) -> None:
    """Set scales and legend of a panel that has lines, and the grid."""
    if axis.lines:
        axis.set(**scales)
        axis.legend(fontsize=7)
    axis.grid(alpha=0.3)


def paper_table(runs: list[Json]) -> str:
    """Return a table of the paper's figures and the measured ones."""
    lines = []
    for n, k, theirs in ((10_000_000, 1024, "94 minutes"), (1_000_000, 8192, "8 minutes")):
        found = extrapolated(runs, "BsBKM(non)", n, k)
        measured = f"{found[0] / 60:.2g} minutes ({found[1]})" if found else "not measured"
        lines.append([f"BsBKM(non), {n:,} rows into {k:,} clusters", theirs, measured])
    for method in ("BsKM", "BsKM++"):
        size = largest_common_size(runs, "k", method, "BsBKM(non)")
        slower = time_ratio(runs, method, "BsBKM(non)", size) if size else 0.0
        measured = f"{slower:.1f} x (k={size[1]:,})" if size else "not measured"
        lines.append([f"time of {method} / time of BsBKM(non)", "about 1.35 x", measured])
    for along in ("n", "k"):
        size = largest_common_size(runs, along, "k-means", "BsBKM(non)")
        faster = time_ratio(runs, "k-means", "BsBKM(non)", size) if size else 0.0
        measured = f"{faster:.0f} x (n={size[0]:,}, k={size[1]:,})" if size else "not measured"
        lines.append(
            [
                f"time of k-means / time of BsBKM(non), largest {along}",
                "two orders of magnitude",
                measured,
            ]
        )
    return table(["", "paper", "measured"], lines)


def page(result: Json) -> str:
    """Return the page: pictures and tables."""
    runs = result["runs"]
    if not runs:
        return "Not measured yet."
    names = {run["data"] for run in runs if "data" in run}
    of_ks = sizes_of(runs, "k")
    return TEXT.format(
        times=TIMES, distortions=DISTORTIONS, limit=f"{runs[0]['run']['limit']:g}",
        n_of_ks=f"{of_ks[0][0]:,}" if of_ks else "",
        seconds_n=figure_table(runs, "n", "seconds"), seconds_k=figure_table(runs, "k", "seconds"),
        distortion_n=figure_table(runs, "n", "distortion"),
        distortion_k=figure_table(runs, "k", "distortion"),
        memory=figure_table(runs, "n", "peak_megabytes"), paper=paper_table(runs),
        synthetic=SYNTHETIC if any(name.startswith("synthetic") for name in names) else "",
    )  # fmt: skip


SYNTHETIC = """The paper's Flickr10M is not available. The vectors are synthetic. They have unit
length, with the spectrum and the cluster structure of real VLAD vectors of photographs. `paper/vlad.py`
describes the model and its fit. If the folder `BOOSTKMEANS_DATA` contains the real vectors, they are
used instead.
"""

TEXT = """{synthetic}
Methods:

- Direct k-way methods run for at most 20 iterations, as in the paper. Trees have no limit.
- Mini-Batch has one batch of a tenth of the rows per iteration.
- K-means, Mini-Batch, BsKM and BsKM++ are scikit-learn's. k-means++ draws its seeds as published, with
  one trial per centre.
- "boostkmeans" is `BoostKMeans` with its defaults, and with `quality="fast"`.

Each run has its own process, which is stopped after {limit} seconds (open triangles in the picture). A
method that failed is not run at larger sizes. Times include the assignment of labels to all rows, but
not reading the data and computing the distortion. The distortion is computed from the labels alone.
OpenMP threads sleep while they wait (`OMP_WAIT_POLICY=PASSIVE`), which mainly helps scikit-learn's
trees.

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


if __name__ == "__main__":
    import fig5_scalability

    experiment.main(fig5_scalability)
