"""The paper's Fig. 4: recall@1 to recall@100 of product quantizers that are trained by ten methods.

`python paper/fig4_recall.py` runs this experiment; see `experiment.py`. All methods have the same seeds
and queries.
"""

import sys
import warnings
from functools import lru_cache
from typing import Any

from experiment import IMAGES, N_THREADS, Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

from boostkmeans import BoostKMeans, ProductQuantizer, metrics
from boostkmeans.baselines import METHODS as BASELINES
from boostkmeans.baselines import PAPER_METHODS
from drawing import new_figure, save
from public_data import SearchData, fingerprint, sift_search

NAME = "search"
TITLE = "Nearest neighbour search by product quantizers (the paper's Fig. 4)"
SHOWS_BOTH = True

SUBSPACES = (8, 16)
N_CENTRES = 256
# Number of seeds of every method.
SEEDS = 5
# Number of queries of the paper. Their recall has a standard deviation of one point, which is as large
# as the differences between the methods.
N_QUERIES = 1_000
# Number of queries of a second table, in which the methods differ by more than chance.
ALL_QUERIES = 10_000
# Ranks in the tables.
RANKS = [1, 2, 5, 10, 20, 50, 100]
# Ranks in the pictures.
ALL_RANKS = list(range(1, max(RANKS) + 1))
BISECTING = ("BsKM", "BsKM++", "BsBKM(non)", "RBK", "sampled tree", "sampled RBK")
DIRECT = ("k-means", "k-means++", "BKM(non)")
LLOYD_OR_BOOSTED_TREES = ("BsKM", "BsKM++", "BsBKM(non)")
# Methods that are compared with k-means++.
COMPARED = ("BKM(non)", "boostkmeans, fast", "boostkmeans", "boostkmeans, best")

METHODS: dict[str, Any] = {
    **PAPER_METHODS,
    "Mini-Batch, 10 % in total": BASELINES["Mini-Batch, 10 % in total"],
    "sampled tree": BASELINES["sampled tree"],
    "sampled RBK": BASELINES["sampled RBK"],
    "boostkmeans, fast": lambda k, seed: BoostKMeans(k, quality="fast", tol=1e-3, random_state=seed),
    "boostkmeans": lambda k, seed: BoostKMeans(k, random_state=seed),
    "boostkmeans, best": lambda k, seed: BoostKMeans(k, quality="best", tol=1e-5, random_state=seed),
}


def plan(full: bool) -> list[Json]:
    """Return one run per seed, number of subspaces and method."""
    size: Json = {"n_learn": 25_000, "n_base": 200_000, "n_all_queries": N_QUERIES}
    if full:
        size = {"n_learn": 100_000, "n_base": 1_000_000, "n_all_queries": ALL_QUERIES}
    return [
        {"m": m, "seed": seed, "method": method, **size}
        for seed in range(SEEDS if full else 1)
        for m in SUBSPACES
        for method in METHODS
    ]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run: encoding and searching, and training."""
    return float(4e-9 * run["n_base"] * run["n_all_queries"] * run["m"] / 16 + 1.5e-4 * run["n_learn"])


@lru_cache(maxsize=1)
def search_data(n_learn: int, n_base: int, n_query: int) -> tuple[SearchData, NDArray[np.int64]]:
    """Return the rows, and the true nearest neighbour of each query."""
    data = sift_search(n_learn, n_base, n_query)
    truth = metrics.exact_neighbors(data.base, data.query, 1, n_threads=N_THREADS).indices
    return data, truth


def measure(run: Json) -> Json:
    """Return distortion and recall of one method, as the only entry of `methods`."""
    data, truth = search_data(run["n_learn"], run["n_base"], run["n_all_queries"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Some methods warn about empty clusters and early stops.
        quantizer = ProductQuantizer(
            run["m"], N_CENTRES, clusterer=METHODS[run["method"]](N_CENTRES, None),
            random_state=run["seed"], n_threads=N_THREADS,
        ).fit(data.learn)  # fmt: skip
    figures = {"method": run["method"], **search_figures(quantizer, data, truth)}
    return {"data": data.name, "sha256": fingerprint(data.learn), "methods": [figures]}


def search_figures(quantizer: ProductQuantizer, data: SearchData, truth: NDArray[np.int64]) -> Json:
    """Return the recall of `N_QUERIES` queries, and of all queries."""
    found = quantizer.search(data.query, quantizer.encode(data.base), max(RANKS)).indices
    recall = metrics.recall_at(ALL_RANKS, found[:N_QUERIES], truth[:N_QUERIES])
    figures: Json = {"distortion": quantizer.distortion_, "recall": recall.round(4).tolist()}
    if len(found) > N_QUERIES:
        figures["recall_of_all"] = metrics.recall_at(ALL_RANKS, found, truth).round(5).tolist()
    return figures


def means(runs: list[Json], m: int, recall: str = "recall") -> dict[str, Json]:
    """Return the means over the seeds, for methods that have this kind of recall."""
    found: dict[str, Json] = {}
    every = [one for run in runs if run["run"]["m"] == m for one in run["methods"]]
    for method in METHODS:
        some = [one for one in every if one["method"] == method and recall in one]
        if some:
            found[method] = {
                "recall": np.mean([one[recall] for one in some], axis=0),
                "distortion": float(np.mean([one["distortion"] for one in some])),
                "n": len(some),
            }
    return found


def recall_table(rows: dict[str, Json]) -> str:
    """Return a table of methods by rank."""
    header = ["", "seeds", "distortion", *[f"@{r}" for r in RANKS]]
    return table(header, [
        [method, row["n"], f"{row['distortion']:,.1f}",
         *[f"{100 * row['recall'][r - 1]:.2f}" for r in RANKS]]
        for method, row in rows.items()
    ])  # fmt: skip


def against_plus_plus(rows: dict[str, Json], m: int) -> str:
    """Return a list that compares the methods in `COMPARED` with k-means++."""
    lines = []
    for method in COMPARED:
        if not {method, "k-means++"} <= rows.keys():
            continue
        gaps = rows[method]["recall"] - rows["k-means++"]["recall"]
        below = [r for r in ALL_RANKS if gaps[r - 1] < 0]
        position = (
            "at or above k-means++ for every R"
            if not below
            else f"below k-means++ for {len(below)} of 100 values of R (by at most "
            f"{-100 * gaps.min():.2f} points)"
        )
        lines.append(
            f"- {m} subspaces, {method}: distortion "
            f"{distortion_gap(rows, (method,), ('k-means++',)):+.2f} % relative to k-means++; recall "
            f"{position}, {100 * gaps.mean():+.2f} points on average."
        )
    return "\n".join(lines)


def against_direct(rows: dict[str, Json], m: int) -> str:
    """Return a line that compares bisecting, Mini-Batch and RBK with the direct methods."""
    if not {*DIRECT, *LLOYD_OR_BOOSTED_TREES, "Mini-Batch", "RBK"} <= rows.keys():
        return f"- {m} subspaces: not all methods are measured yet."
    direct = np.mean([rows[method]["recall"] for method in DIRECT], axis=0)
    trees = np.mean([rows[method]["recall"] for method in LLOYD_OR_BOOSTED_TREES], axis=0)
    batches, cosine = rows["Mini-Batch"]["recall"], rows["RBK"]["recall"]
    return (
        f"- {m} subspaces, points at R = 1, 10 and 100 relative to the mean of k-means, k-means++ and "
        f"BKM(non): bisecting {at_three_ranks(trees - direct)}; Mini-Batch "
        f"{at_three_ranks(batches - direct)}; RBK {at_three_ranks(cosine - direct)}. The distortion of "
        f"bisecting is {distortion_gap(rows, LLOYD_OR_BOOSTED_TREES, DIRECT):.1f} % higher."
    )


def distortion_gap(rows: dict[str, Json], some: tuple[str, ...], others: tuple[str, ...]) -> float:
    """Return how many percent the mean distortion of some methods is above that of others."""
    means = [np.mean([rows[one]["distortion"] for one in group]) for group in (some, others)]
    return float(100 * (means[0] / means[1] - 1))


def at_three_ranks(gaps: NDArray[np.float64]) -> str:
    """Return the differences at R = 1, 10 and 100, in points."""
    return ", ".join(f"{100 * gaps[r - 1]:+.1f}" for r in (1, 10, 100))


def draw(result: Json) -> None:
    """Draw four panels, as in the paper."""
    figure, axes = new_figure(2, 2, (11, 8))
    for line, m in zip(axes, SUBSPACES, strict=True):
        rows = means(result["runs"], m)
        for axis, kind in zip(line, ("direct k-way", "bisecting"), strict=True):
            for method, row in rows.items():
                if (method in BISECTING) == (kind == "bisecting"):
                    axis.plot(ALL_RANKS, row["recall"], label=method, linewidth=1.2)
            axis.set(title=f"{kind}, m={m}", xscale="log", xlabel="R", ylabel="recall@R")
            axis.legend(fontsize=7)
            axis.grid(alpha=0.3)
    save(figure, IMAGES / picture(result))


def picture(result: Json) -> str:
    """Return the name of the picture of a result."""
    return f"paper_search{'' if result['size'] == 'full' else '_small'}.svg"


def page(result: Json) -> str:
    """Return the page: tables, a picture, and the statements of the paper."""
    runs = result["runs"]
    first = runs[0]
    rows = {m: means(runs, m) for m in SUBSPACES}
    whole = {m: means(runs, m, "recall_of_all") for m in SUBSPACES}
    text = TEXT.format(
        picture=picture(result), data=first["data"],
        n_learn=first["run"]["n_learn"], n_base=first["run"]["n_base"],
        eight=recall_table(rows[8]), sixteen=recall_table(rows[16]),
        direct="\n".join(against_direct(rows[m], m) for m in SUBSPACES),
        plus_plus="\n".join(against_plus_plus(rows[m], m) for m in SUBSPACES),
    )  # fmt: skip
    if all(whole.values()):
        text += ALL_QUERIES_TEXT.format(
            n=first["run"]["n_all_queries"], eight=recall_table(whole[8]),
            sixteen=recall_table(whole[16]),
            direct="\n".join(against_direct(whole[m], m) for m in SUBSPACES),
            plus_plus="\n".join(against_plus_plus(whole[m], m) for m in SUBSPACES),
        )  # fmt: skip
    return text


TEXT = """Data: {data}.

Product quantizers with 256 centroids per subspace are trained on {n_learn:,} SIFT descriptors. They
encode {n_base:,} other descriptors, and 1,000 queries search among the codes by asymmetric distances.
Recall@R is the share of the queries whose true nearest neighbour is among the first R results, in
percent. Values are means over the seeds, whose number is in the tables. BsBKM(non) and RBK are exact;
"sampled tree" and "sampled RBK" are our defaults. "boostkmeans" is `BoostKMeans(256)`; "fast" adds
`quality="fast"` and `tol=1e-3` (the default of `ProductQuantizer`), and "best" adds `quality="best"` and
`tol=1e-5`.

![recall@R](../images/{picture})

## 8 subspaces

{eight}

## 16 subspaces

{sixteen}

## Statements of the paper

In the paper, k-means, k-means++ and BKM(non) are very close to each other, bisecting methods are 0.1 to
1.3 % below them, and Mini-Batch and RBK are 2 to 6 % below. Measured with 1,000 queries:

{direct}
{plus_plus}
"""

ALL_QUERIES_TEXT = """
The recall of 1,000 queries has a standard deviation of at least one point, which is as large as the
differences between good quantizers. The following tables use {n:,} queries, with 8 subspaces and with 16
subspaces:

{eight}

{sixteen}

{direct}
{plus_plus}

As the paper says, a product quantizer tolerates worse codebooks.
"""


if __name__ == "__main__":
    main(sys.modules[__name__])
