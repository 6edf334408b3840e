"""Distortion against time, as a picture."""

from collections.abc import Sequence
from typing import BinaryIO

from boostkmeans.baselines._comparison import MethodRun

# Above the best by more than this share, curves are cut off: what matters is how they end.
SHOWN_ABOVE_BEST = 0.1
# Room below the best and above the worst.
MARGIN = 0.01


def draw_curves(
    runs: Sequence[MethodRun],
    file: BinaryIO,
    *,
    file_format: str = "png",
    title: str = "",
) -> None:
    """Draws the best run of each method that has a curve into a file. Needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("Pictures need matplotlib: pip install boostkmeans[plot]") from None
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
