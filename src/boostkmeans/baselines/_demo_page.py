"""Demo: k-means, k-means++ and boost k-means on the same rows, as a table and as an HTML page.

>>> from boostkmeans.baselines._demo_page import demo_data
>>> demo_data(None).X.shape
(25000, 32)
"""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.baselines._comparison import MethodRun, MethodSummary, compare, summarize
from boostkmeans.baselines._drawing import draw_curves
from boostkmeans.baselines._methods import METHODS

N_CLUSTERS = 256
# Method of this package that the demo shows.
OURS = "boost-balanced"
DEMO_METHODS = {
    name: METHODS[name] for name in ("k-means (scikit-learn)", "k-means++ (scikit-learn)", OURS)
}
# Number of synthetic rows: the size of the SIFT sample.
N_ROWS = 25_000
# Number of features of the synthetic rows.
N_FEATURES = 32
# Standard deviation of the synthetic cluster centres; that of the rows of a cluster is half of it.
SPREAD = 4.0
# Size of a first, unmeasured run, which loads libraries and starts threads.
WARM_UP_ROWS = 500
WARM_UP_CLUSTERS = 8
COLUMNS = ("", "distortion", "above the best", "seconds", "sweeps", "boost k-means reached it after")

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Boost k-means: the demo</title>
<style>body {{ font: 16px/1.5 sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse }} th, td {{ padding: .3em .8em; text-align: right }}
th:first-child, td:first-child {{ text-align: left }} tr + tr {{ border-top: 1px solid #ccc }}
img {{ max-width: 100% }}</style></head>
<body><h1>Boost k-means and k-means</h1>
<p>{title}. Lower distortion is better.</p>
{table}
<p><img alt="Distortion against seconds, one curve per method"
src="data:image/png;base64,{picture}"></p>
<p>The curve of boost k-means has a flat part. There, annealing also accepts moves that raise the
distortion a little, so that the partition can leave a poor local optimum. The curve shows the best
partition so far, which is kept, and the following sweeps lower the distortion below it.</p>
{explorer}</body></html>
"""
EXPLORER_LINK = (
    '<p><a href="{}">Explore the clusters of boost k-means</a>: a map of the rows, and the central, '
    "borderline and outlying rows of each cluster.</p>\n"
)


@dataclass(frozen=True)
class DemoData:
    """Rows of the demo."""

    __repr__ = short_repr

    X: Any
    title: str
    """Description of the rows, for the page."""


def demo_data(sample: Path | None) -> DemoData:
    """Load the SIFT sample if its file exists, and generate synthetic clusters otherwise.

    Parameters
    ----------
    sample : Path or None
        File with the SIFT sample, or None for synthetic clusters.

    Returns
    -------
    DemoData
        Rows and their description.
    """
    if sample is not None and sample.is_file():
        with np.load(sample) as data:
            X = data["learn"]
        what = "SIFT descriptors"
    else:
        rng = np.random.default_rng(0)
        centres = SPREAD * rng.normal(size=(N_CLUSTERS, N_FEATURES)).astype(np.float32)
        X = centres[np.arange(N_ROWS) % N_CLUSTERS]
        X += rng.normal(scale=SPREAD / 2, size=X.shape).astype(np.float32)
        what = "synthetic vectors"
    title = f"{X.shape[0]:,} {what} of {X.shape[1]} values into {N_CLUSTERS} clusters"
    return DemoData(X, f"{title}, on {instruction_set()}")


def run_demo(
    data: DemoData, *, n_threads: int | None = None, progress: ProgressCallback | None = None
) -> list[MethodRun]:
    """Run all methods of the demo, one after the other.

    Parameters
    ----------
    data : DemoData
        Rows.
    n_threads : int, default=None
        Number of threads of each method. None uses the default of the method.
    progress : callable, default=None
        Function called as ``progress(what, done, total)`` before each run.

    Returns
    -------
    list of MethodRun
        One run per method.
    """
    few = data.X[:WARM_UP_ROWS]
    for _ in compare(few, WARM_UP_CLUSTERS, DEMO_METHODS, n_threads=n_threads):
        pass
    return list(compare(data.X, N_CLUSTERS, DEMO_METHODS, n_threads=n_threads, progress=progress))


def demo_table(runs: Sequence[MethodRun]) -> str:
    """Format the results as a table for a terminal.

    Parameters
    ----------
    runs : sequence of MethodRun
        Runs, as returned by `run_demo`.

    Returns
    -------
    str
        Table with one line per method.
    """
    rows = [COLUMNS, *_cells(runs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            f"{cell:{width}}" if i == 0 else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def demo_page(data: DemoData, runs: Sequence[MethodRun], *, explorer: str | None = None) -> str:
    """Format the results as one HTML page with a table and a plot. Requires matplotlib.

    Parameters
    ----------
    data : DemoData
        Rows that the methods clustered.
    runs : sequence of MethodRun
        Runs, as returned by `run_demo`.
    explorer : str, default=None
        File name of the explorer page to link to.

    Returns
    -------
    str
        Complete HTML page. The plot is embedded.
    """
    picture = io.BytesIO()
    draw_curves(runs, picture, title=data.title)
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in _cells(runs)
    )
    return PAGE.format(
        title=escape(data.title),
        table=f"<table><tr>{head}</tr>{body}</table>",
        picture=base64.b64encode(picture.getvalue()).decode("ascii"),
        explorer="" if explorer is None else EXPLORER_LINK.format(escape(explorer)),
    )


def _cells(runs: Sequence[MethodRun]) -> list[tuple[str, ...]]:
    ours = [point for run in runs if run.method == OURS for point in run.curve]
    return [_row(summary, ours) for summary in summarize(runs)]


def _row(summary: MethodSummary, ours: list[tuple[float, float]]) -> tuple[str, ...]:
    if not summary.runs:
        return (summary.method, "failed", "", "", "", "")
    reached = summary.mean_distortion
    reached_by_ours = next(
        (f"{seconds:.2f} s" for seconds, distortion in ours if distortion <= reached), ""
    )
    return (
        summary.method,
        f"{reached:,.1f}",
        f"{(summary.relative or 1.0) - 1:.2%}",
        f"{summary.seconds:.2f}",
        f"{summary.n_sweeps:g}",
        reached_by_ours,
    )
