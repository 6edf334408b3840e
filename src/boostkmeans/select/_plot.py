"""Plot of the measures of a scan."""

import textwrap
from collections.abc import Sequence
from typing import Any

from boostkmeans._runtime.installation import install_hint

# Attribute of an entry, and the title of its plot.
MEASURES = (
    ("inertia", "inertia: look for a bend"),
    ("silhouette", "silhouette: higher is better"),
    ("calinski_harabasz", "Calinski-Harabasz: higher is better"),
    ("gap", "gap: the first k near the maximum"),
)
# Characters per line of the figure's title.
TITLE_WIDTH = 90


def plot_entries(entries: Sequence[Any], suggestion: int, reason: str, figure: Any) -> Any:
    """Draw one plot per measure and mark the suggested k. Return the figure."""
    if figure is None:
        figure = _new_figure()
    ks = [entry.n_clusters for entry in entries]
    for axes, (name, title) in zip(figure.subplots(2, 2).ravel(), MEASURES, strict=True):
        values = [getattr(entry, name) for entry in entries]
        errors = [entry.gap_error for entry in entries] if name == "gap" else None
        axes.errorbar(ks, values, yerr=errors, marker="o", markersize=3)
        axes.axvline(suggestion, color="grey", linestyle=":")
        axes.set(title=title, xlabel="k")
    figure.suptitle("\n".join(textwrap.wrap(f"k = {suggestion}: {reason}", TITLE_WIDTH)))
    return figure


def _new_figure() -> Any:
    try:
        from boostkmeans.select._notebook_figure import NotebookFigure
    except ImportError as error:
        raise ImportError(f"Scan.plot needs matplotlib: {install_hint('plot')}") from error
    return NotebookFigure(figsize=(9, 6), layout="constrained")
