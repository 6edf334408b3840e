"""Plots of the comparison with other libraries: inertia against time."""

import math
from pathlib import Path
from typing import Any

from comparison import OWN, PEERS, curve, finished_runs, median_figure, stopped_peers
from environment import Json
from peers import CONTESTANTS

# One marker per peer: there are more peers than colours that can be told apart.
MARKERS = dict(zip(PEERS, "os^v<>DPX*hd8pH+x", strict=False))
HEADLINE = "SIFT 1,000,000 x 128, k=10,000"
COLUMNS = 4


def draw_all(problems: dict[str, Json], folder: Path) -> None:
    """Draw one panel per problem into `peers.svg`, and the plot of the README into `million.png`."""
    import matplotlib as mpl

    mpl.use("agg")
    # Without random identifiers, the file changes only if the figures do.
    mpl.rcParams["svg.hashsalt"] = "boostkmeans"
    draw_panels(problems, folder / "peers.svg")
    if HEADLINE in problems:
        draw_headline(problems[HEADLINE], folder / "million.png")


def draw_panels(problems: dict[str, Json], path: Path) -> None:
    """Draw a grid with one panel per problem and a common legend."""
    import matplotlib.pyplot as plt

    n_lines = math.ceil(len(problems) / COLUMNS)
    figure, axes = plt.subplots(n_lines, COLUMNS, figsize=(4.2 * COLUMNS, 3.1 * n_lines), squeeze=False)
    for axis in axes.flat[len(problems) :]:
        axis.set_axis_off()
    for axis, (name, problem) in zip(axes.flat, problems.items(), strict=False):
        draw_problem(axis, problem)
        axis.set_title(name, fontsize=9)
    handles = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles[label] = handle
    figure.legend(list(handles.values()), list(handles), loc="lower center", ncols=4, fontsize=9)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_headline(problem: Json, path: Path) -> None:
    """Draw the plot of the README: a million rows into 10,000 clusters."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 4.8))
    draw_problem(axis, problem)
    axis.set(xlabel="seconds, including labels", ylabel="inertia above the lowest (%)")
    axis.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40"], minor=False)
    axis.set_xticks([], minor=True)
    axis.legend(fontsize=8)
    axis.set_title(f"{problem['data']} into 10,000 clusters, 2 threads\n{stopped_note(problem)}",
                   fontsize=10)  # fmt: skip
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def stopped_note(problem: Json) -> str:
    """Return a sentence about the settings that exceeded the time limit, which have no point."""
    n_peers = sum(problem["kind"] in CONTESTANTS[peer].kinds for peer in PEERS)
    own = [name for name in OWN if not finished_runs(problem, name)]
    peers = f"{len(stopped_peers(problem))} of {n_peers} settings of other libraries"
    return f"Not shown, more than {problem['limit']:g} s: {' and '.join([peers, *own])}"


def draw_problem(axis: Any, problem: Json) -> None:
    """Draw boostkmeans as curves over time, and peers as points at their end."""
    inertias = [run["inertia"] for name in CONTESTANTS for run in finished_runs(problem, name)]
    if not inertias:
        return
    lowest = min(inertias)
    for own in OWN:
        for run in finished_runs(problem, own)[:1]:
            points = [(s, 100 * (i / lowest - 1)) for s, i in curve(run)]
            axis.plot(*zip(*points, strict=True), label=own, linewidth=1.3)
    for peer in PEERS:
        if finished_runs(problem, peer):
            above = 100 * (median_figure(problem, peer, "inertia") / lowest - 1)
            seconds = median_figure(problem, peer, "seconds")
            axis.plot(seconds, above, MARKERS[peer], label=peer, markersize=5)
    ends = [median_figure(problem, name, "inertia") for name in CONTESTANTS]
    top = max(0.1, 100 * (max(end for end in ends if not math.isnan(end)) / lowest - 1))
    axis.set(xscale="log", ylim=(-0.05 * top, 1.3 * top))
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)
