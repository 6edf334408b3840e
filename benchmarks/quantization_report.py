"""The sections of docs/benchmarks.md about quantizers for vector search."""

import numpy as np

from environment import Json
from page import table, where

WORK = {"encoding": "encoding 1,000,000 rows", "searching": "1,000 queries, k = 100"}


def training_section(result: Json) -> str:
    """Time and distortion by the number of subspaces."""
    tables = []
    for m, rows in result["subspaces"].items():
        (peer, theirs), *ours = rows.items()
        lines = [[peer, f"{theirs['seconds']:.2f} s", "", f"{theirs['distortion']:,.0f}", ""]]
        for name, row in ours:
            lines.append([
                name, f"{row['seconds']:.2f} s", f"{theirs['seconds'] / row['seconds']:.1f} x",
                f"{row['distortion']:,.0f}",
                f"{100 * (row['distortion'] / theirs['distortion'] - 1):+.2f} %",
            ])  # fmt: skip
        header = [f"{m} subspaces", "time", "faster", "distortion", "against faiss"]
        tables.append(table(header, lines))
    return (
        f"## Training of product quantizers\n\n{where(result)}\n256 centroids in each subspace, all "
        "rows, medians of 5, interleaved. The default of `ProductQuantizer` is "
        '`BoostKMeans(quality="fast", tol=1e-3)`; the rows below it stop earlier, at about the '
        "distortion of faiss. (Targets: at least 2 x to its distortion; bisecting with 8 subspaces at "
        "least 8 x.)\n\n" + "\n".join(tables)
    )


def use_section(result: Json) -> str:
    """Encoding and search."""
    rows = []
    for m, row in result["subspaces"].items():
        for what, shown in (
            ("encoding", "encoding 1,000,000 rows"),
            ("searching", "1,000 queries, k = 100"),
        ):
            theirs, own = row[what]["faiss"], row[what]["ours"]
            rows.append(
                [f"{m} subspaces: {shown}", f"{theirs:.2f} s", f"{own:.2f} s", f"{theirs / own:.1f} x"]
            )
    agree = "; ".join(
        f"{m} subspaces: {100 * row['same_codes']:.3f} % of the codes and "
        f"{100 * row['same_neighbours']:.3f} % of the neighbours are the same in the same place, "
        f"distances differ by at most {row['largest_difference_of_distances']:.0e}"
        for m, row in result["subspaces"].items()
    )
    return (
        f"## Encoding, and search among codes\n\n{where(result)}\nThe same codebooks for both, medians "
        "of three, interleaved; faiss' `IndexPQ.search`, ours `ProductQuantizer.search`. (Targets: "
        f"encoding at least as fast, search within 1.5 x.) {agree}: the rest are ties.\n\n"
        f"{table(['', 'faiss', 'ours', 'faster'], rows)}"
    )


def coarse_section(result: Json) -> str:
    """Recall at equal work."""
    names = list(dict.fromkeys(row["name"] for row in result["rows"]))
    lines = []
    means = {
        name: np.mean([row["recall"] for row in result["rows"] if row["name"] == name], axis=0)
        for name in names
    }
    highest = np.max(list(means.values()), axis=0)
    for name in names:
        runs = [row for row in result["rows"] if row["name"] == name]
        cells = [
            f"**{value:.4f}**" if value == best else f"{value:.4f}"
            for value, best in zip(means[name], highest, strict=True)
        ]
        lines.append([
            name, f"{np.mean([run['seconds'] for run in runs]):.1f} s",
            f"{np.mean([run['distortion'] for run in runs]):,.0f}",
            f"{np.mean([run['imbalance'] for run in runs]):.3f}", *cells,
        ])  # fmt: skip
    header = ["", "training", "distortion", "imbalance", *[f"{100 * b:g} %" for b in result["budgets"]]]
    return (
        f"## Coarse quantizers\n\n{where(result)}\nInverted lists, k = {result['k']:,}: the share of "
        "the ten true neighbours of 1,000 queries that are met when so many percent of all vectors are "
        "looked at, list by list from the nearest centre on; means of 2 seeds. Peers have their "
        "defaults (faiss' 10 iterations for inverted lists, on all rows). Imbalance: how much longer a "
        f"search takes than with lists of equal length.\n\n{table(header, lines)}"
    )


SECTIONS = {
    "quantizer_training": training_section,
    "quantizer_use": use_section,
    "coarse_quantizers": coarse_section,
}
