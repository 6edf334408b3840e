"""Sections of `docs/benchmarks.md` about quantizers for vector search."""

import numpy as np

from environment import Json
from page import context, table

# Title of each task, by its key in the result.
TASKS = {"encoding": "encoding 1,000,000 rows", "searching": "1,000 queries, k = 100"}


def training_section(result: Json) -> str:
    """Return time and distortion of the training by the number of subspaces."""
    tables = []
    for m, rows in result["subspaces"].items():
        (peer, theirs), *own = rows.items()
        lines = [[peer, f"{theirs['seconds']:.2f} s", "", f"{theirs['distortion']:,.0f}", ""]]
        for name, row in own:
            lines.append([
                name, f"{row['seconds']:.2f} s", f"{theirs['seconds'] / row['seconds']:.1f} x",
                f"{row['distortion']:,.0f}",
                f"{100 * (row['distortion'] / theirs['distortion'] - 1):+.2f} %",
            ])  # fmt: skip
        header = [f"{m} subspaces", "time", "speed-up", "distortion", "relative to faiss"]
        tables.append(table(header, lines))
    return (
        f"## Training of product quantizers\n\n{context(result)}\nEach subspace has 256 centroids, "
        "trained on all rows; medians of 5 interleaved runs. The default clusterer of "
        '`ProductQuantizer` is `BoostKMeans(quality="fast", tol=1e-3)`. With a larger `tol` it stops '
        "earlier, at about the distortion of faiss. Targets: at least twice as fast as faiss at "
        "equal distortion, and at least 8 times as fast with a bisecting clusterer and 8 subspaces.\n\n"
        + "\n".join(tables)
    )


def use_section(result: Json) -> str:
    """Return the times of encoding and search."""
    rows = []
    for m, row in result["subspaces"].items():
        for task, title in TASKS.items():
            theirs, own = row[task]["faiss"], row[task]["boostkmeans"]
            rows.append(
                [f"{m} subspaces: {title}", f"{theirs:.2f} s", f"{own:.2f} s", f"{theirs / own:.1f} x"]
            )
    agreement = " ".join(
        f"With {m} subspaces, {100 * row['same_codes']:.3f} % of the codes and "
        f"{100 * row['same_neighbours']:.3f} % of the neighbours are equal, and distances differ by at "
        f"most {row['largest_difference_of_distances']:.0e}."
        for m, row in result["subspaces"].items()
    )
    return (
        f"## Encoding, and search among codes\n\n{context(result)}\nBoth libraries use the same "
        "codebooks; medians of three interleaved runs of faiss's `IndexPQ.search` and of "
        "`ProductQuantizer.search`. Targets: encoding at least as fast as faiss, search within 1.5 x. "
        f"{agreement} The other neighbours are ties.\n\n"
        f"{table(['', 'faiss', 'boostkmeans', 'speed-up'], rows)}"
    )


def coarse_section(result: Json) -> str:
    """Return the recall of inverted lists by the share of scanned rows."""
    names = list(dict.fromkeys(row["name"] for row in result["rows"]))
    means = {
        name: np.mean([row["recall"] for row in result["rows"] if row["name"] == name], axis=0)
        for name in names
    }
    highest = np.max(list(means.values()), axis=0)
    lines = []
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
        f"## Coarse quantizers\n\n{context(result)}\nRecall of inverted lists with k = {result['k']:,}: "
        "the share of the ten true neighbours of 1,000 queries that a search finds if it scans the "
        "given percentage of all vectors. It scans whole lists, starting with the list of the nearest "
        "centre. Values are means of 2 seeds. The other libraries use their defaults (for faiss, 10 "
        "iterations as for its inverted lists, on all rows). Imbalance is the time of a search relative "
        "to lists of equal length.\n\n"
        f"{table(header, lines)}"
    )


SECTIONS = {
    "quantizer_training": training_section,
    "quantizer_use": use_section,
    "coarse_quantizers": coarse_section,
}
