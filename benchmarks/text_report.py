"""The sections of docs/benchmarks.md about sparse rows."""

from environment import Json
from page import table, where


def cost_section(result: Json) -> str:
    """One sweep, by what is varied."""
    text = f"## What a sweep over sparse rows costs\n\n{where(result)}"
    names = {"terms": "terms a row", "k": "clusters", "n": "rows"}
    for varied, points in result["series"].items():
        rows = [[f"{p['n']:,}", f"{p['terms']}", f"{p['k']:,}", f"{1e3 * p['seconds']:.1f} ms",
                 f"{1e9 * p['seconds'] / (p['nnz'] * p['k']):.3f} ns"] for p in points]  # fmt: skip
        header = ["rows", "terms drawn a row", "k", "time", "by value and cluster"]
        text += f"\nBy {names[varied]}:\n\n{table(header, rows)}"
    return text


SECTIONS = {
    "sparse_sweep_cost": cost_section,
}
