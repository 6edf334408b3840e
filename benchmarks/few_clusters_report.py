"""The section of `docs/benchmarks.md` about few clusters with many rows."""

from environment import Json
from page import context, table

TEXT = """## Few clusters

With up to 64 clusters, 50,000 rows or more, and at least 2,048 rows per cluster, three rules apply to
dense rows in memory without size limits (see [The mathematics](mathematics.md)):

- *Row bounds* skip rows that certainly stay in their cluster, once at most a fiftieth of the rows moves
  per sweep.
- The fit continues until the *estimated remaining improvement* is below a tenth of `tol`.
- While gains shrink slowly, centres are *extrapolated*.

Each rule is switched off in turn; without extrapolation, row bounds stay. Medians of {seeds} seeds.
{context}
{table}
"Passes" are comparisons of all rows with all clusters, so bounds lower this number.
"""


def few_clusters_section(result: Json) -> str:
    """Return the comparison of fits with and without each rule."""
    rows = []
    for one in result["rows"]:
        base = one["variants"]["no rule, as in 0.8"]
        rows += [
            [
                f"{one['data']}, k={one['k']}",
                variant,
                f"{figures['seconds']:.2f} s",
                f"{100 * (figures['inertia'] / base['inertia'] - 1):+.3f} %",
                f"{figures['sweeps']:.0f}",
                f"{figures['extrapolations']:.0f}",
                f"{figures['comparisons']:.1f}",
            ]
            for variant, figures in one["variants"].items()
        ]
    header = ["data", "", "time", "inertia", "sweeps and repairs", "extrapolations", "passes"]
    return TEXT.format(seeds=result["seeds"], context=context(result), table=table(header, rows))


SECTIONS = {"few_clusters": few_clusters_section}
