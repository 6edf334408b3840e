"""Figures of the paper's experiments, as SVG files that are reproducible byte by byte."""

from pathlib import Path
from typing import Any


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """Return a figure and its axes, as a two-dimensional array."""
    import matplotlib as mpl

    mpl.use("Agg")
    # Text stays text, and identifiers are not random: a file changes only if its content does.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "boostkmeans"})
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, squeeze=False)


def save(figure: Any, path: Path, dpi: float | None = None) -> None:
    """Write a figure to a file, and close it. `dpi` applies to PNG files."""
    import matplotlib.pyplot as plt

    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".svg":
        figure.savefig(path, metadata={"Date": None})
    else:
        figure.savefig(path, dpi=dpi)
    plt.close(figure)
