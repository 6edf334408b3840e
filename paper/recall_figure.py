"""The paper's figure of nearest neighbour search: recall@1..100 of product quantizers by ten methods.

`python paper/recall_figure.py` measures it (about half an hour on 2 cores) into
`paper/results/recall_figure.json`, and writes `docs/paper_search.md` and its picture from that. What is
in the file already is not measured again. With `--report`, it only writes the page.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # methods are trained side by side instead

import numpy as np
from joblib import Parallel, delayed

import boostkmeans
from boostkmeans import BoostKMeans, ProductQuantizer, metrics
from boostkmeans.baselines import PAPER_METHODS

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data" / "sift"
RESULT = HERE / "results" / "recall_figure.json"
PAGE = HERE.parent / "docs" / "paper_search.md"
PICTURE = HERE.parent / "docs" / "images" / "paper_search.svg"

SUBSPACES = (8, 16)
# Those that the question is about have all seeds and all queries; the others are there for the order.
# The recall of 1,000 queries has a standard deviation of a point, as large as what is asked for.
SEEDS, FEWER_SEEDS = 5, 2
N_QUERIES, ALL_QUERIES = 1_000, 10_000
AT = [1, 2, 5, 10, 20, 50, 100]
BISECTING = ("BsKM", "BsKM++", "BsBKM(non)", "RBK")

THOROUGH = ("k-means++", "BKM(non)", "ours, fast", "ours", "ours, best")

METHODS: dict[str, Any] = {
    **PAPER_METHODS,
    "ours, fast": lambda k, seed: BoostKMeans(k, quality="fast", tol=1e-3, random_state=seed),
    "ours": lambda k, seed: BoostKMeans(k, random_state=seed),
    "ours, best": lambda k, seed: BoostKMeans(k, quality="best", tol=1e-5, random_state=seed),
}


def trained(method: str, m: int, seed: int) -> tuple[str, int, int, ProductQuantizer]:
    """One quantizer, by one thread."""
    with np.load(DATA / "photosift_learn_query.npz") as data:
        rows = data["learn"].astype(np.float32)
    quantizer = ProductQuantizer(
        m, clusterer=METHODS[method](256, None), random_state=seed, n_threads=1
    ).fit(rows)
    return method, m, seed, quantizer


def measure() -> None:
    """All that is not there yet."""
    runs = json.loads(RESULT.read_text())["runs"] if RESULT.exists() else []
    there = {(run["method"], run["m"], run["seed"]) for run in runs}
    parts = [np.load(path)["X"] for path in sorted(DATA.glob("photosift_base_*of4.npz"))]
    base = np.concatenate(parts)
    with np.load(DATA / "photosift_learn_query.npz") as data:
        queries = data["query"][:ALL_QUERIES]
    truth = metrics.exact_neighbors(base, queries, 1, n_threads=2).indices
    wanted = [
        (method, m, seed)
        for seed in range(SEEDS)
        for m in SUBSPACES
        for method in METHODS
        if (method, m, seed) not in there and (seed < FEWER_SEEDS or method in THOROUGH)
    ]
    jobs = Parallel(n_jobs=2, return_as="generator_unordered")(delayed(trained)(*one) for one in wanted)
    for method, m, seed, quantizer in jobs:
        codes = quantizer.set_params(n_threads=2).encode(base)
        n = ALL_QUERIES if method in THOROUGH else N_QUERIES
        found = quantizer.search(queries[:n], codes, max(AT)).indices
        depths = list(range(1, max(AT) + 1))
        recall = metrics.recall_at(depths, found[:N_QUERIES], truth[:N_QUERIES])
        runs.append(
            {"method": method, "m": m, "seed": seed, "distortion": quantizer.distortion_,
             "recall": recall.round(4).tolist()}
        )  # fmt: skip
        if n > N_QUERIES:
            runs[-1]["recall_of_all"] = metrics.recall_at(depths, found, truth[:n]).round(5).tolist()
        print(
            f"{method}, m={m}, seed {seed}: {quantizer.distortion_:,.1f}, {recall[[0, 9, 99]]}",
            flush=True,
        )
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps({"runs": runs, "version": boostkmeans.__version__}) + "\n")


def means(runs: list[dict[str, Any]], m: int, recall: str = "recall") -> dict[str, dict[str, Any]]:
    """By method: those that have such a recall."""
    table = {}
    for method in METHODS:
        some = [run for run in runs if run["method"] == method and run["m"] == m and recall in run]
        if some:
            table[method] = {
                "recall": np.mean([run[recall] for run in some], axis=0),
                "distortion": float(np.mean([run["distortion"] for run in some])),
                "n": len(some),
            }
    return table


def as_table(table: dict[str, dict[str, Any]]) -> str:
    """Methods by R."""
    header = ["", "seeds", "distortion", *[f"@{r}" for r in AT]]
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    for method, row in table.items():
        recall = [f"{100 * row['recall'][r - 1]:.2f}" for r in AT]
        lines.append(
            "| " + " | ".join([method, str(row["n"]), f"{row['distortion']:,.1f}", *recall]) + " |"
        )
    return "\n".join(lines)


def verdict(table: dict[str, dict[str, Any]], m: int) -> str:
    """Ours against k-means++."""
    other, lines = table["k-means++"], []
    for method in ("BKM(non)", "ours, fast", "ours", "ours, best"):
        gaps = table[method]["recall"] - other["recall"]
        below = [r for r in range(1, len(gaps) + 1) if gaps[r - 1] < 0]
        where = (
            "at or above it for every R"
            if not below
            else f"below it for {len(below)} of 100 R (by at most {-100 * gaps.min():.2f} points)"
        )
        share = 100 * (table[method]["distortion"] / other["distortion"] - 1)
        lines.append(
            f"- {m} subspaces, {method}: distortion {share:+.2f} % against k-means++; recall {where}, "
            f"{100 * gaps.mean():+.2f} points on the average."
        )
    return "\n".join(lines)


def draw(runs: list[dict[str, Any]]) -> None:
    """Four pictures, as the paper has them."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8), sharex=True)
    for line, m in zip(axes, SUBSPACES, strict=True):
        table = means(runs, m)
        for axis, kind in zip(line, ("direct k-way", "bisecting"), strict=True):
            for method, row in table.items():
                if (method in BISECTING) == (kind == "bisecting"):
                    axis.plot(range(1, 101), row["recall"], label=method, linewidth=1.2)
            axis.set(title=f"{kind}, m={m}", xscale="log", xlabel="R", ylabel="recall@R")
            axis.legend(fontsize=7)
            axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(PICTURE)


def write_page() -> None:
    """What was measured."""
    result = json.loads(RESULT.read_text())
    tables = {m: means(result["runs"], m) for m in SUBSPACES}
    whole = {m: means(result["runs"], m, "recall_of_all") for m in SUBSPACES}
    draw(result["runs"])
    PAGE.write_text(TEXT.format(
        eight=as_table(tables[8]), sixteen=as_table(tables[16]),
        eight_of_all=as_table(whole[8]), sixteen_of_all=as_table(whole[16]),
        verdicts="\n".join(verdict(tables[m], m) for m in SUBSPACES),
        verdicts_of_all="\n".join(verdict(whole[m], m) for m in SUBSPACES),
    ))  # fmt: skip


TEXT = """# The paper's figure of nearest neighbour search

Written by `paper/recall_figure.py` from `paper/results/recall_figure.json`. Product quantizers of 256
centroids in each subspace, trained on 100,000 SIFT descriptors; 1,000,000 others are encoded, and 1,000
queries search among the codes by asymmetric distances. Recall@R: the share of the queries whose nearest
neighbour is among the first R. SIFT1M is not at hand: the descriptors are PhotoSIFT, of the same kind.
"ours" are `BoostKMeans(256)`, with quality="fast" and tol=1e-3 (the default of `ProductQuantizer`), and
with quality="best" and tol=1e-5. Recall in percent, means over the seeds.

![recall@R](images/paper_search.svg)

## 8 subspaces

{eight}

## 16 subspaces

{sixteen}

## What the paper says

The paper finds k-means, k-means++ and BKM(non) very close to each other, bisecting methods 0.1 to 1.3 %
below them, Mini-Batch and RBK 2 to 6 % below. By 1,000 queries:

{verdicts}

The recall of 1,000 queries has a standard deviation of a point or more, which is what the differences
between good quantizers amount to. So here are those methods with 10,000 queries, too:

{eight_of_all}

{sixteen_of_all}

{verdicts_of_all}

A product quantizer is tolerant of its codebooks, as the paper says: a fifth more distortion (bisecting)
costs one to two points of recall@10, and a third of a percent less is hardly seen.
"""


if __name__ == "__main__":
    if "--report" not in sys.argv:
        measure()
    write_page()
