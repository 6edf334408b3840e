"""Plots of a fitted estimator: its history and the sizes of its clusters."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans._engine.criterion_history import SPLIT, CriterionRecord
from boostkmeans._engine.history import ANNEALING, START, SweepRecord
from boostkmeans._runtime.installation import install_hint

# Colour and marker of each phase, from the palette of Okabe and Ito, which colour-blind readers can tell
# apart. Phases that are not listed share the last style.
STYLES = {
    ANNEALING: ("#E69F00", "o"),
    "sweep": ("#0072B2", "s"),
    "candidates": ("#56B4E9", "D"),
    "certify": ("#009E73", "^"),
    "repair": ("#D55E00", "v"),
    "extrapolation": ("#CC79A7", ">"),
    START: ("#000000", "*"),
    "tree": ("#000000", "P"),
    SPLIT: ("#000000", "P"),
}
OTHER_STYLE = ("#0072B2", "o")
# Sizes are shown on a logarithmic scale if the largest is this many times the smallest positive one.
RATIO_FOR_LOG = 50
# Number of clusters up to which each has a bar of its own.
MAX_BARS = 200


class Limit(NamedTuple):
    """A limit on the sizes of clusters, or one limit per cluster, and the name of its parameter."""

    name: str
    value: NDArray[Any]


def new_axes(method: str) -> Any:
    """Return the axes of a new figure of pyplot. Notebooks show it once, at the end of the cell."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(f"{method} needs matplotlib: {install_hint('plot')}") from error
    return plt.subplots(layout="constrained")[1]


def draw_history(ax: Any, history: Sequence[SweepRecord], total_weight: float) -> None:
    """Draw the best distortion so far as a line, and the current ones as markers, over the seconds."""
    seconds = np.array([record.seconds for record in history])
    best = np.array([record.inertia for record in history]) / total_weight
    current = np.array([record.current_inertia for record in history]) / total_weight
    phases = np.array([record.phase for record in history])
    ax.step(seconds, best, where="post", color="0.5", label="best so far", zorder=1)
    for phase in dict.fromkeys(phases.tolist()):
        colour, marker = STYLES.get(phase, OTHER_STYLE)
        own = phases == phase
        ax.scatter(seconds[own], current[own], color=colour, marker=marker, s=25, label=phase, zorder=2)
    ax.set(xlabel="seconds", ylabel="distortion (mean squared distance)")
    ax.legend()


def draw_criterion(ax: Any, history: Sequence[CriterionRecord], criterion: str) -> None:
    """Draw the value of a criterion after each sweep and split, over the seconds."""
    seconds = np.array([record.seconds for record in history])
    values = np.array([record.objective for record in history])
    kinds = np.array([record.kind for record in history])
    ax.step(seconds, values, where="post", color="0.5", zorder=1)
    for kind in dict.fromkeys(kinds.tolist()):
        colour, marker = STYLES.get(kind, OTHER_STYLE)
        own = kinds == kind
        ax.scatter(seconds[own], values[own], color=colour, marker=marker, s=25, label=kind, zorder=2)
    ax.set(xlabel="seconds", ylabel=f"criterion {criterion}")
    ax.legend()


def draw_sizes(ax: Any, sizes: NDArray[Any], limits: Sequence[Limit], unit: str) -> None:
    """Draw the sizes of clusters in descending order, with their limits."""
    order = np.argsort(sizes, kind="stable")[::-1]
    ordered = sizes[order]
    ranks = np.arange(1, len(ordered) + 1)
    if len(ordered) <= MAX_BARS:
        ax.bar(ranks, ordered, color=STYLES["sweep"][0])
    else:
        ax.fill_between(ranks, ordered, step="mid", color=STYLES["sweep"][0])
    ax.axhline(ordered.mean(), color="0.5", linestyle=":", label=f"mean {ordered.mean():,.6g}")
    for limit, style in zip(limits, ("--", "-."), strict=False):
        line = {"color": STYLES["repair"][0], "linestyle": style}
        if limit.value.ndim == 0:
            ax.axhline(limit.value, label=f"{limit.name} = {limit.value:,.6g}", **line)
        else:
            ax.step(ranks, limit.value[order], where="mid", label=limit.name, **line)
    positive = ordered[ordered > 0]
    if len(positive) and positive[0] > RATIO_FOR_LOG * positive[-1]:
        if len(positive) == len(ordered):
            ax.set_yscale("log")
        else:  # Empty clusters have no logarithm.
            ax.set_yscale("symlog", linthresh=float(positive[-1]))
            ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="cluster, from the largest to the smallest", ylabel=unit)
    ax.legend()
