"""Table of the numbers of rows and clusters of the paper and of the experiments, for `claims.py`.

The numbers of the experiments come from their plans, so that the table cannot contradict them.
"""

from collections.abc import Callable, Iterable

from experiment import Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import fast_moves
import fig3_distortion
import fig3d_significance
import fig4_recall
import fig5_scalability
import table2_bisecting
import table3_entropy
import top_k0

Plan = Callable[[bool], list[Json]]

SIFT = "1,000,000 rows, k = 10,000"
"""Size of the paper's first experiments."""
# Figure of the paper, its size there, and the plan of the experiment.
FIGURES: list[tuple[str, str, Plan]] = [
    ("Fig. 3 a-c", SIFT, fig3_distortion.plan),
    ("Fig. 3 b with several seeds", SIFT, fast_moves.plan),
    ("Fig. 3 d", "100,000 rows, k = 1,024", fig3d_significance.plan),
    ("Table 2", SIFT, table2_bisecting.plan),
    ("top-k0", "not given", top_k0.plan),
    ("Fig. 4", "100,000 rows to learn, 1,000,000 to search", fig4_recall.plan),
    ("Table 3", "15 sets, k = 5, 10, 15, 20", table3_entropy.plan),
    ("Fig. 5 and 6", "10,000 to 10,000,000 rows, k = 1,024 to 8,192", fig5_scalability.plan),
]


def size_table() -> str:
    """Return the sizes of the paper and of the experiments as a Markdown table."""
    lines = [
        [figure, paper, planned_size(plan(True)), planned_size(plan(False))]
        for figure, paper, plan in FIGURES
    ]
    return table(["", "paper", "here, at the paper's size", "here, at the small size"], lines)


def planned_size(runs: list[Json]) -> str:
    """Return the numbers of rows and clusters of planned runs."""
    if "n_learn" in runs[0]:
        return f"{runs[0]['n_learn']:,} rows to learn, {runs[0]['n_base']:,} to search"
    rows = {run["n"] for run in runs if "n" in run}
    clusters = {k for run in runs for k in run.get("ks", [run.get("k")])}
    given = f"{span(rows)} rows" if rows else f"{len(available(runs))} sets"
    return f"{given}, k = {', '.join(f'{k:,}' for k in sorted(clusters))}"


def available(runs: Iterable[Json]) -> set[str]:
    """Return the names of the document sets of planned runs that are available."""
    return {run["set"] for run in runs} - set(table3_entropy.UNAVAILABLE_SETS)


def span(numbers: set[int]) -> str:
    """Return one number, or the lowest and the highest one."""
    ends = sorted({min(numbers), max(numbers)})
    return " to ".join(f"{number:,}" for number in ends)
