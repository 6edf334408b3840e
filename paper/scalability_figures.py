"""Figures of the scalability experiment, computed from its runs.

A run has `seconds`, `distortion` or both: at the paper's size, they are measured separately.
"""

import numpy as np

from experiment import Json

# Number of clusters of the runs along n.
N_CLUSTERS = 1024

Size = tuple[int, int]
"""Number of rows and number of clusters."""


def sizes_of(runs: list[Json], along: str) -> list[Size]:
    """Return the sizes of the runs along "n" (fixed number of clusters) or "k" (fixed rows)."""
    every = {(run["run"]["n"], run["run"]["k"]) for run in runs}
    if along == "n":
        return sorted(one for one in every if one[1] == N_CLUSTERS)
    of_ks = {n for n, k in every if k != N_CLUSTERS}
    return sorted(one for one in every if one[0] in of_ks)


def runs_at(runs: list[Json], method: str, n: int, k: int) -> list[Json]:
    """Return all runs of a method at a size."""
    wanted = (method, n, k)
    return [run for run in runs if (run["run"]["method"], run["run"]["n"], run["run"]["k"]) == wanted]


def finished_runs(runs: list[Json], method: str, n: int, k: int) -> list[Json]:
    """Return the runs of a method at a size whose seconds and distortion are both known."""
    return [run for run in runs_at(runs, method, n, k) if "seconds" in run and "distortion" in run]


def mean(runs: list[Json], method: str, n: int, k: int, figure: str) -> float | None:
    """Return the mean of a figure over the seeds, or None if no run has it."""
    some = [run for run in runs_at(runs, method, n, k) if figure in run]
    return float(np.mean([run[figure] for run in some])) if some else None


def series(runs: list[Json], method: str, along: str, figure: str) -> list[tuple[int, float]]:
    """Return the means of a figure along n or k, for sizes at which it is known."""
    return [
        (n if along == "n" else k, value)
        for n, k in sizes_of(runs, along)
        if (value := mean(runs, method, n, k, figure)) is not None
    ]


def exponent(runs: list[Json], method: str, along: str) -> float | None:
    """Return p if the time grows like n^p or k^p: the slope of a line through the logarithms."""
    points = series(runs, method, along, "seconds")
    if len(points) < 2:
        return None
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def largest_common_size(runs: list[Json], along: str, one: str, other: str) -> Size | None:
    """Return the largest size at which both methods finished."""
    both = [
        size for size in sizes_of(runs, along)
        if finished_runs(runs, one, *size) and finished_runs(runs, other, *size)
    ]  # fmt: skip
    return both[-1] if both else None


def time_ratio(runs: list[Json], one: str, other: str, size: Size) -> float:
    """Return the time of one method divided by that of another."""
    first, second = mean(runs, one, *size, "seconds"), mean(runs, other, *size, "seconds")
    assert first is not None
    assert second is not None
    return first / second


def extrapolated(runs: list[Json], method: str, n: int, k: int) -> tuple[float, str] | None:
    """Return the seconds of a method at a size, and their origin.

    If this size was not measured, the time of the largest smaller n is scaled in proportion to n.
    """
    sizes = [one for one in sizes_of(runs, "n") + sizes_of(runs, "k") if one[1] == k]
    sizes = [one for one in sizes if finished_runs(runs, method, *one) and one[0] <= n]
    if not sizes:
        return None
    size = max(sizes)
    seconds = mean(runs, method, *size, "seconds")
    assert seconds is not None
    origin = "measured" if size[0] == n else f"extrapolated in proportion to n from n={size[0]:,}"
    return seconds * n / size[0], origin
