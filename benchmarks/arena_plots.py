"""Plot of the comparison with other libraries: inertia against time."""

import math
from pathlib import Path
from typing import Any

from comparison import OWN, PEERS, curve, finished_runs, median_figure
from environment import Json
from peers import CONTESTANTS

# One marker per peer: there are more peers than colours that can be told apart.
MARKERS = dict(zip(PEERS, "os^v<>DPX*hd8pH+x", strict=False))
COLUMNS = 4


def draw_problems(problems: dict[str, Json], path: Path) -> None:
    """Draw a grid with one panel per problem and a common legend."""
    import matplotlib as mpl

    mpl.use("agg")
    # Without random identifiers, the file changes only if the figures do.
    mpl.rcParams["svg.hashsalt"] = "boostkmeans"
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
