"""Section of `docs/benchmarks.md` about updates."""

from environment import Json
from page import context, table

RESULT = "updates"
"""Name of the result file."""

# Rows before ten updates, each of which adds 10 % and removes 5 %: all rows of PhotoSIFT suffice.
N_START = 480_000
# Parts of the first table, with their descriptions.
SINGLE = {
    "refit": "fit all rows again",
    "update": "`update`, with the old rows",
    "update without rows": "`update`, without the old rows",
    "warm start": "`BoostKMeans(init=centres).fit`",
    "partial_fit": "`partial_fit` (nothing is removed)",
    "scikit-learn": "`MiniBatchKMeans.partial_fit` of scikit-learn (nothing is removed)",
}


def updates_section(result: Json) -> str:
    """Return the comparison of updates with fits from the start."""
    parts = result["parts"]
    if not {"refit", "update"} <= parts.keys():
        return ""
    refit = parts["refit"]
    rows = [
        [
            text,
            f"{parts[name]['seconds']:.2f} s",
            f"{parts[name]['seconds'] / refit['seconds']:.1%}",
            f"{parts[name]['inertia'] / refit['inertia'] - 1:+.2%}",
            f"{parts[name]['kept']:.2%}" if "kept" in parts[name] else "",
        ]
        for name, text in SINGLE.items()
        if name in parts
    ]
    header = ["", "time", "share of a refit", "inertia", "old rows in the same cluster"]
    update = parts["update"]
    return (
        f"## Updates\n\nk = {result['k']:,}; 10 % of the rows are added, from other photographs, and "
        f"5 % are removed. {context(result)}\n{table(header, rows)}\n"
        f"The update splits {update['split']} clusters and removes {update['removed']}. Targets: at "
        "most 10 % of the time of a refit, an inertia within 0.3 %, and 95 % of the old rows in the "
        "same cluster. The inertia is that of all remaining rows; for models that do not know the old "
        "rows, that of the nearest centres. Measured in this way, the update with the old rows differs "
        f"by {update['nearest_inertia'] / refit['inertia'] - 1:+.2%}.\n{_ten_updates(parts)}"
    )


def _ten_updates(parts: Json) -> str:
    ten, refit = parts.get("ten updates"), parts.get("refit after ten updates")
    if ten is None or refit is None:
        return ""
    change = f"{ten['inertia'] / refit['inertia'] - 1:+.2%}"
    return (
        f"\nA model of {N_START:,} rows is updated ten times in a row, each time with 10 % more and 5 % "
        f"fewer rows ({ten['n_rows']:,} rows at the end). Then, the inertia differs by **{change}** "
        "from that of a new fit (target: within 0.6 %). The ten updates take "
        f"{ten['seconds']:.1f} s together, and the new fit {refit['seconds']:.1f} s. In each of them, "
        f"at least {ten['kept']:.2%} of the old rows stay in their cluster.\n"
    )


SECTIONS = {RESULT: updates_section}
