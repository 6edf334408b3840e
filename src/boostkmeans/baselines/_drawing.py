"""Plot of distortion against time."""

from collections.abc import Sequence
from typing import BinaryIO

from boostkmeans._runtime.installation import install_hint
from boostkmeans.baselines._comparison import MethodRun

# Upper limit of the vertical axis, relative to the lowest final distortion. Higher values at the
# beginning of a curve are cut off, so that the differences at the end are visible.
SHOWN_ABOVE_BEST = 0.1
# Relative margin below the lowest and above the highest value.
MARGIN = 0.01


def draw_curves(
    runs: Sequence[MethodRun],
    file: BinaryIO,
    *,
    file_format: str = "png",
    title: str = "",
) -> None:
    """Plot distortion against time for the best run of each method. Requires matplotlib.

    Parameters
    ----------
    runs : sequence of MethodRun
        Runs to plot, as returned by `compare`. Runs without a curve are left out.
    file : binary file
        File to write the image to.
    file_format : str, default="png"
        Format of the image, e.g. "png", "svg" or "pdf".
    title : str, default=""
        Title of the plot.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"draw_curves needs matplotlib: {install_hint('plot')}") from None
    best: dict[str, MethodRun] = {}
    for run in runs:
        known = best.get(run.method)
        if run.curve and (known is None or run.distortion < known.distortion):
            best[run.method] = run
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, run in best.items():
        axes.plot(*zip(*run.curve, strict=True), marker=".", label=name)
    axes.set(xscale="log", xlabel="seconds", ylabel="average distortion", title=title)
    ends = [run.distortion for run in best.values()]
    if ends and min(ends) > 0:
        top = max(max(ends), (1 + SHOWN_ABOVE_BEST) * min(ends))
        axes.set_ylim((1 - MARGIN) * min(ends), (1 + MARGIN) * top)
    if best:
        axes.legend()
    figure.savefig(file, format=file_format, dpi=120)
