"""The sections of docs/benchmarks.md about sparse rows."""

import math

from measure import Json
from page import table, where


def peers_section(result: Json) -> str:
    """Time to equal inertia, and memory."""
    text = f"## Sparse rows against their peers\n\n{where(result)}"
    for case in result["cases"]:
        text += "\n" + case_table(case)
    return text


def many_section(result: Json) -> str:
    """The same for many documents."""
    case = result["cases"][0]
    return (
        f"## Many documents\n\n{where(result)}\n{case_table(case)}\n"
        f"Peers make {case['limits']['max_iter']} iterations from random rows, once: more would take "
        "hours. All have the same two threads.\n"
    )


def case_table(case: Json) -> str:
    """One data set and k."""
    rows = []
    for row in case["rows"]:
        if "error" in row:
            rows.append([row["name"], str(row["error"]), "", "", "", ""])
            continue
        cells = [
            row["name"],
            f"{row['seconds']:.2f} s",
            f"{row['inertia']:.6g}",
            f"{row['megabytes']:.0f} MB",
        ]
        for own in ("ours", "ours, quality='fast'"):
            cells.append("" if own not in row else ratio(row["seconds"], row[own]))
        rows.append(cells)
    header = ["", "time", "inertia", "peak above the input", "ours reach its inertia", "the fast ones"]
    what = f"{case['data']}, {case['nnz']:,} values, k = {case['k']}, runs: {case['repeats']}."
    return f"{what}\n\n{table(header, rows)}"


def ratio(its: float, own: float) -> str:
    """How much sooner ours are there."""
    if math.isinf(own):
        return "never"
    return f"in {own:.2f} s: **{its / own:.1f} x** faster"


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
    "sparse_against_peers": peers_section,
    "many_documents_against_peers": many_section,
    "sparse_sweep_cost": cost_section,
}
