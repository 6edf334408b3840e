"""Pictures of the paper's experiments: small SVG files that are the same for the same figures."""

from pathlib import Path
from typing import Any


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure and its axes, as a two-dimensional array."""
    import matplotlib as mpl

    mpl.use("Agg")
    # Text stays text, and no random names or dates: a picture changes only if its figures do.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "boostkmeans"})
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, squeeze=False)


def save(figure: Any, path: Path) -> None:
    """Writes it, and forgets it."""
    import matplotlib.pyplot as plt

    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
