"""The paper's Table 3: average entropy of ten methods for document clustering, k = 5, 10, 15, 20.

`python paper/table3_entropy.py` runs this experiment; see `experiment.py`. A run is one method on one
set, for all numbers of clusters and seeds. `by_set` combines the runs of each set.
"""

import sys
import time
import warnings
from functools import lru_cache
from typing import Any

from experiment import N_THREADS, Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from joblib import Parallel, delayed

from boostkmeans.baselines import METHODS, PAPER_METHODS
from boostkmeans.documents import Weighting, tfidf
from boostkmeans.metrics import entropy
from public_data import CLUTO_SETS, documents

NAME = "documents"
TITLE = "Document clustering (the paper's Table 3)"

# Number of sets in the paper.
N_PAPER_SETS = 15
# Sets that no source has. `public_data.documents` returns None for them.
UNAVAILABLE_SETS = ("new3", "sports")
# The sets with the fewest documents, about half of all.
SMALLER_SETS = ("hitech", "k1b", "re0", "re1", "tr31", "tr41", "wap")
# Numbers of clusters at the paper's size and at the small size.
KS = [5, 10, 15, 20]
FEWER_KS = [10, 20]
# Runs per method at the paper's size and at the small size.
N_RUNS = 10
FEWER_RUNS = 2

# The paper's entropies for the k of `KS`.
PAPER = {
    "k-means": [0.539, 0.443, 0.402, 0.387],
    "k-means++": [0.550, 0.441, 0.403, 0.389],
    "Mini-Batch": [0.585, 0.488, 0.469, 0.475],
    "LVQ": [0.800, 0.761, 0.681, 0.674],
    "BKM(non)": [0.552, 0.442, 0.388, 0.368],
    "BKM(rnd)+Fast": [0.506, 0.419, 0.380, 0.353],
    "BsKM": [0.532, 0.438, 0.410, 0.373],
    "BsKM++": [0.507, 0.422, 0.400, 0.379],
    "BsBKM(non)": [0.514, 0.388, 0.353, 0.329],
    "RBK": [0.486, 0.402, 0.366, 0.339],
}
K_WAY = ["k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)", "BKM(rnd)+Fast"]
# Names in `METHODS` of rows that the paper does not have.
OTHERS = {
    "sampled tree": "sampled tree",
    "sampled RBK": "sampled RBK",
    "Mini-Batch, 10 % in total": "Mini-Batch, 10 % in total",
    "k-means (scikit-learn)": "k-means (scikit-learn)",
    "k-means++ (scikit-learn)": "k-means++ (scikit-learn)",
    "BsKM (scikit-learn)": "BsKM (scikit-learn)",
    "BsKM++ (scikit-learn)": "BsKM++ (scikit-learn)",
    "boostkmeans": "boost-balanced",
}
ROWS = {**PAPER_METHODS, **{row: METHODS[name] for row, name in OTHERS.items()}}
# Figures of a run that belong to its set.
SET_FIGURES = ("data", "documents", "terms", "classes")

Averages = dict[str, list[float]]
"""Entropies by method, one per k."""


def plan(full: bool) -> list[Json]:
    """Return one run per set and method, with all numbers of clusters and seeds."""
    sets, ks, runs = (CLUTO_SETS, KS, N_RUNS) if full else (SMALLER_SETS, FEWER_KS, FEWER_RUNS)
    return [
        {"set": name, "method": method, "ks": ks, "seeds": list(range(runs))}
        for name in sets
        for method in ROWS
    ]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    return 0.025 * len(run["ks"]) * len(run["seeds"])


@lru_cache(maxsize=1)
def weighted(name: str) -> tuple[Any, list[str], str] | None:
    """Return the TF-IDF rows of a set, the classes and the origin, or None if it is missing."""
    found = documents(name)
    if found is None:
        return None
    corpus, source = found
    assert corpus.classes is not None
    return tfidf(corpus, Weighting()).rows, [str(one) for one in corpus.classes], source


def fit_seeds(name: str, method: str, k: int, seeds: list[int]) -> Json:
    """Return the figures of all seeds of one method, with one thread."""
    warnings.simplefilter("ignore")  # Some methods warn about empty clusters and early stops.
    loaded = weighted(name)
    assert loaded is not None
    rows, classes, _ = loaded
    began = time.perf_counter()
    models = [ROWS[method](k, seed).set_params(n_threads=1).fit(rows) for seed in seeds]
    return {
        "entropy": [round(entropy(classes, model.labels_), 6) for model in models],
        "inertia": [round(float(model.inertia_), 4) for model in models],
        "seconds": round((time.perf_counter() - began) / len(seeds), 4),
    }


def measure(run: Json) -> Json:
    """Return entropy and inertia of each run of one method on one set, by k."""
    loaded = weighted(run["set"])
    if loaded is None:
        return {"missing": True}
    rows, classes, source = loaded
    # The longest fits come first, so that no core waits for them at the end.
    ks = sorted(run["ks"], reverse=True)
    found = Parallel(n_jobs=N_THREADS)(
        delayed(fit_seeds)(run["set"], run["method"], k, run["seeds"]) for k in ks
    )
    figures = {str(k): one for k, one in zip(ks, found, strict=True)}
    return {"data": source, "documents": rows.shape[0], "terms": rows.shape[1],
            "classes": len(set(classes)), "figures": figures}  # fmt: skip


def by_set(runs: list[Json]) -> list[Json]:
    """Return the sets on which all of the paper's methods have run, each with `methods`.

    `methods` has the figures by method and k. Other methods are included if they have run on all of
    these sets.
    """
    sets: dict[str, Json] = {}
    for one in runs:
        if "figures" in one:
            run = one["run"]
            figures = {name: one[name] for name in SET_FIGURES}
            found = sets.setdefault(run["set"], {"run": run, **figures, "methods": {}})
            found["methods"][run["method"]] = one["figures"]
    whole = [one for one in sets.values() if PAPER.keys() <= one["methods"].keys()]
    names = [name for name in ROWS if all(name in one["methods"] for one in whole)]
    for one in whole:
        one["methods"] = {name: one["methods"][name] for name in names}
    return whole


def averages(runs: list[Json], ks: list[int], choice: str) -> Averages:
    """Return the mean over the sets (see `by_set`) of the entropy of the chosen run.

    `choice` is "objective" (the run with the lowest inertia), "lowest" (the run with the lowest
    entropy), "mean" (all runs) or "deviation" (their standard deviation).
    """
    found: Averages = {}
    for method in runs[0]["methods"]:
        for k in ks:
            values = [chosen_entropy(one["methods"][method][str(k)], choice) for one in runs]
            found.setdefault(method, []).append(float(np.mean(values)))
    return found


def chosen_entropy(figures: Json, choice: str) -> float:
    """Return the entropy of the chosen run of one method on one set."""
    entropies, inertias = np.array(figures["entropy"]), np.array(figures["inertia"])
    choices = {
        "objective": entropies[inertias.argmin()],
        "lowest": entropies.min(),
        "mean": entropies.mean(),
        "deviation": entropies.std(ddof=1),
    }
    return float(choices[choice])


def entropy_table(groups: dict[str, Averages], ks: list[int]) -> str:
    """Return a table of methods by k for several groups.

    The lowest value of the paper's methods is bold in each column.
    """
    methods = list(dict.fromkeys(method for values in groups.values() for method in values))
    rows = []
    for method in methods:
        cells = [method]
        for values in groups.values():
            for i in range(len(ks)):
                best = min(values[one][i] for one in PAPER)
                value = f"{values[method][i]:.3f}" if method in values else ""
                is_best = method in PAPER and values[method][i] == best
                cells.append(f"**{value}**" if is_best else value)
        rows.append(cells)
    return table(["", *[f"{name}, k={k}" for name in groups for k in ks]], rows)


def rankings(runs: list[Json], ks: list[int]) -> list[str]:
    """Return the ranks of BsBKM(non) and BKM(rnd)+Fast among the paper's methods."""
    lines = []
    for choice, name in (("lowest", "lowest entropy (as in the paper)"), ("objective", "best objective"),
                         ("mean", "mean of all runs")):  # fmt: skip
        values = averages(runs, ks, choice)
        for i, k in enumerate(ks):
            order = sorted(PAPER, key=lambda method: values[method][i])
            k_way = [method for method in order if method in K_WAY]
            rank = order.index("BsBKM(non)") + 1
            lines.append(
                f"- {name}, k={k}: BsBKM(non) has rank {rank} ({values['BsBKM(non)'][i]:.3f}; first: "
                f"{order[0]} {values[order[0]][i]:.3f}); best k-way method: {k_way[0]} "
                f"({values[k_way[0]][i]:.3f}), BKM(rnd)+Fast {values['BKM(rnd)+Fast'][i]:.3f}."
            )
    return lines


def page(result: Json) -> str:
    """Return the page: measured entropies next to those of the paper."""
    runs = by_set(result["runs"])
    if not runs:
        return "No set was measured with all methods. `paper/public_data.py` explains the data."
    ks, seeds = runs[0]["run"]["ks"], runs[0]["run"]["seeds"]
    names = [run["run"]["set"] for run in runs]
    printed = {method: [row[KS.index(k)] for k in ks] for method, row in PAPER.items()}
    mean, deviation = averages(runs, ks, "mean"), averages(runs, ks, "deviation")
    return TEXT.format(
        sets=", ".join(
            f"{run['run']['set']} ({run['documents']:,} x {run['terms']:,}, {run['classes']} classes)"
            for run in runs
        ),
        sources=", ".join(sorted({run["data"] for run in runs})),
        others=", ".join(name for name in CLUTO_SETS if name not in names) or "none",
        n=len(runs), n_paper=N_PAPER_SETS, runs=len(seeds),
        unfinished=unfinished(runs[0]["methods"]),
        lowest=entropy_table({"paper": printed, "measured": averages(runs, ks, "lowest")}, ks),
        objective=entropy_table({"best objective": averages(runs, ks, "objective")}, ks),
        mean=entropy_table({"mean": mean, "sd": deviation}, ks),
        rankings="\n".join(rankings(runs, ks)),
    )  # fmt: skip


def unfinished(methods: Json) -> str:
    """Return a sentence about methods without results on all sets, or an empty string."""
    missing = [name for name in ROWS if name not in methods]
    return f" Not yet measured on all sets: {', '.join(missing)}." if missing else ""


TEXT = """The entropy of the classes in the clusters (lower is better) is averaged over {n} of the
paper's {n_paper} sets: {sets}. Source: {sources}. Missing sets: {others}.

Rows are TF-IDF vectors with log(n / df), scaled to unit length. Each method has {runs} runs with one
thread. The first ten rows of the tables are the paper's methods; BsBKM(non) and RBK are exact. The other
rows are our defaults ("sampled tree", "sampled RBK", "boostkmeans"), the second reading of Mini-Batch,
and scikit-learn's implementations.{unfinished}

## The lowest entropy of {runs} runs

As in the paper, the run is chosen by the measured entropy itself, which a user could not do.

{lowest}

## The run with the best objective

A user can choose this run: it is the best of {runs} runs by the objective.

{objective}

## All runs

{mean}

## Ranks

In the paper, BsBKM(non) is first for k >= 10, and BKM(rnd)+Fast is first of the k-way methods.

{rankings}
"""


if __name__ == "__main__":
    main(sys.modules[__name__])
