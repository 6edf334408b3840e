"""HTML summary of a fitted estimator for notebooks, beside scikit-learn's box of parameters."""

import html
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Width and height of the drawing of the sizes, and the largest number of its bars.
WIDTH, HEIGHT, MAX_BARS = 160, 28, 40
# Colours are those of the page, so that the table suits light and dark notebooks.
TABLE = "border-collapse:collapse;font-size:0.9em;margin:0.5em 0"
CELL = "text-align:left;padding:0.1em 0.8em 0.1em 0;vertical-align:middle;background:none"
BESIDE = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"


def with_summary(box: str, model: Any) -> str:
    """Return scikit-learn's representation with the summary of a fitted model beside it."""
    return f'<div style="{BESIDE}"><div>{box}</div><div>{summary_table(model)}</div></div>'


def summary_table(model: Any) -> str:
    """Return the facts about a fitted model as an HTML table."""
    rows = "".join(
        f'<tr><th scope="row" style="{CELL}">{name}</th><td style="{CELL}">{value}</td></tr>'
        for name, value in _facts(model)
    )
    title = html.escape(type(model).__name__)
    return (
        f'<table class="boostkmeans-summary" aria-label="Result of {title}" style="{TABLE}">'
        f"<tbody>{rows}</tbody></table>"
    )


def _facts(model: Any) -> list[tuple[str, str]]:
    """Return names and values, which are HTML. Values that the model does not have are left out."""
    sizes = model.cluster_sizes_
    facts = [
        ("clusters", f"{len(model.cluster_centers_):,}"),
        _objective(model),
        ("cluster sizes", f"{_drawing(sizes)}<br>{_range(sizes)}"),
        ("iterations", f"{model.n_iter_:,}"),
    ]
    history = getattr(model, "history_", [])
    if history:
        facts.append(("time", f"{history[-1].seconds:.3g} s"))
    if hasattr(model, "stop_reason_"):
        facts.append(("stop reason", html.escape(str(model.stop_reason_))))
    if hasattr(model, "converged_"):
        improves = "improves the criterion" if hasattr(model, "objective_") else "lowers the inertia"
        proved = f"yes: no single move {improves}" if model.converged_ else "no"
        facts.append(("certified", proved))
    return facts


def _objective(model: Any) -> tuple[str, str]:
    """Return the name and the value of what the fit optimised."""
    if hasattr(model, "objective_"):
        return f"criterion {html.escape(str(model.criterion))}", f"{model.objective_:.8g}"
    return "inertia", f"{model.inertia_:.8g}"


def _range(sizes: NDArray[np.int64]) -> str:
    return (
        f"smallest {int(sizes.min()):,}, median {float(np.median(sizes)):,.10g}, "
        f"largest {int(sizes.max()):,}"
    )


def _drawing(sizes: NDArray[np.int64]) -> str:
    """Return bars of the sizes in descending order. If there are many, each stands for a quantile."""
    ordered = np.sort(sizes)[::-1]
    shown = ordered[np.linspace(0, len(ordered) - 1, min(len(ordered), MAX_BARS)).round().astype(int)]
    width = WIDTH / len(shown)
    heights = HEIGHT * shown / max(1, int(shown[0]))
    bars = "".join(
        f'<rect x="{i * width:.2f}" y="{HEIGHT - height:.2f}" width="{max(0.5, width - 1):.2f}" '
        f'height="{height:.2f}"/>'
        for i, height in enumerate(heights)
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="cluster sizes, descending" '
        f'fill="currentColor" fill-opacity="0.6">{bars}</svg>'
    )
