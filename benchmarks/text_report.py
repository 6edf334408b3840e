"""Section of `docs/benchmarks.md` about sparse rows."""

from environment import Json
from page import context, table

# Title of each series, by the parameter that it varies.
TITLES = {"terms": "terms per row", "k": "clusters", "n": "rows"}


def cost_section(result: Json) -> str:
    """Return the time of a sweep over sparse rows."""
    text = f"## Cost of a sweep over sparse rows\n\n{context(result)}"
    for varied, points in result["series"].items():
        rows = [[f"{p['n']:,}", f"{p['terms']}", f"{p['k']:,}", f"{1e3 * p['seconds']:.1f} ms",
                 f"{1e9 * p['seconds'] / (p['nnz'] * p['k']):.3f} ns"] for p in points]  # fmt: skip
        header = ["rows", "terms drawn per row", "k", "time", "time per nonzero value and cluster"]
        text += f"\nBy number of {TITLES[varied]}:\n\n{table(header, rows)}"
    return text


SECTIONS = {"sparse_sweep_cost": cost_section}
