"""CLUTO's criteria and methods on CLUTO's document sets, as in the study of Zhao and Karypis (2004).

`python paper/cluto_criteria.py` runs this experiment; see `experiment.py`. A run is one method with one
criterion on one set, with one number of clusters and all seeds.
"""

import sys
import time
from functools import lru_cache
from typing import Any

from experiment import Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

from boostkmeans.documents import CriterionKMeans, Weighting, tfidf
from boostkmeans.metrics import entropy
from public_data import CLUTO_SETS, documents
from table3_entropy import N_PAPER_SETS, N_RUNS, SMALLER_SETS, UNAVAILABLE_SETS

NAME = "criteria"
LOAD_MATTERS = False
TITLE = "Criteria for document clustering (the study of CLUTO's authors)"
LARGER_SIZE = "the study's size"

CRITERIA = ("i1", "i2", "e1", "g1", "h1", "h2")
MINIMISED = ("e1", "g1")
METHODS = {"k-way": "k-way (direct)", "bisecting": "bisecting (rb)", "refined": "refined (rbr)"}
# The study's sets that a source has.
SETS = tuple(name for name in CLUTO_SETS if name not in UNAVAILABLE_SETS)
# Stands for the number of classes of a set.
CLASSES = "classes"
# Numbers of clusters at the study's size and at the small size.
KS = [CLASSES, 10, 20, 5, 15]
FEWER_KS = [CLASSES]
# The sets with the most term weights, together half of those of all sets.
LARGER_SETS = ("la12", "ohscal", "reviews")
# Runs per method and criterion at the small size.
FEWER_RUNS = 2


def plan(full: bool) -> list[Json]:
    """Return one run per set, method, criterion and number of clusters, with all seeds."""
    sets, ks, runs = (SETS, KS, N_RUNS) if full else (SMALLER_SETS, FEWER_KS, FEWER_RUNS)
    return [
        {"set": name, "method": method, "criterion": criterion, "k": k, "seeds": list(range(runs))}
        for k in ks
        for name in sets
        for method in METHODS
        for criterion in CRITERIA
    ]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    return 0.3 * len(run["seeds"])


def priority(run: Json) -> float:
    """Return the place of a run: the first numbers of clusters in `KS` first, and smaller sets first."""
    return KS.index(run["k"]) + 0.5 * (run["set"] in LARGER_SETS)


@lru_cache(maxsize=1)
def weighted(name: str) -> tuple[Any, list[str], str] | None:
    """Return the TF-IDF rows of a set, the classes and the origin, or None if it is missing."""
    found = documents(name)
    if found is None:
        return None
    corpus, source = found
    assert corpus.classes is not None
    return tfidf(corpus, Weighting()).rows, [str(one) for one in corpus.classes], source


def measure(run: Json) -> Json:
    """Return entropy and criterion of each fit of one method on one set."""
    loaded = weighted(run["set"])
    if loaded is None:
        return {"missing": True}
    rows, classes, source = loaded
    n_classes = len(set(classes))
    k = n_classes if run["k"] == CLASSES else run["k"]
    return {"data": source, "documents": rows.shape[0], "terms": rows.shape[1], "classes": n_classes,
            **fit_seeds(run, k, rows, classes)}  # fmt: skip


def fit_seeds(run: Json, k: int, rows: Any, classes: list[str]) -> Json:
    """Return the figures of all seeds with k clusters, with one thread."""
    began = time.process_time()
    models = [
        CriterionKMeans(k, criterion=run["criterion"], method=run["method"], random_state=seed,
                        n_threads=1).fit(rows)
        for seed in run["seeds"]
    ]  # fmt: skip
    return {
        "entropy": [round(entropy(classes, model.labels_), 5) for model in models],
        "objective": [float(f"{model.objective_:.8g}") for model in models],
        # Of the processor, because other programs may run at the same time.
        "seconds": round((time.process_time() - began) / len(models), 4),
    }


# --- Page ----------------------------------------------------------------------------------------------

Sets = dict[str, dict[tuple[str, str], Json]]
"""Runs with one number of clusters by set, and by method and criterion."""
Entropies = dict[tuple[str, str], list[float]]
"""Entropies by method and criterion, one per set."""


def complete_sets(runs: list[Json], k: Any) -> Sets:
    """Return the sets for which all methods and criteria have run with k clusters."""
    found: Sets = {}
    for one in runs:
        run = one["run"]
        if "entropy" in one and run["k"] == k:
            found.setdefault(run["set"], {})[run["method"], run["criterion"]] = one
    n_runs = len(METHODS) * len(CRITERIA)
    return {name: figures for name, figures in found.items() if len(figures) == n_runs}


def chosen(figures: Json, criterion: str, choice: str) -> float:
    """Return the mean entropy of all seeds, or that of the seed with the best criterion."""
    entropies, values = np.array(figures["entropy"]), np.array(figures["objective"])
    if choice == "mean":
        return float(entropies.mean())
    return float(entropies[values.argmin() if criterion in MINIMISED else values.argmax()])


def entropies(sets: Sets, choice: str) -> Entropies:
    """Return the entropies of all methods and criteria."""
    return {
        (method, criterion): [chosen(one[method, criterion], criterion, choice) for one in sets.values()]
        for method in METHODS
        for criterion in CRITERIA
    }


def relative(values: Entropies, method: str) -> dict[str, float]:
    """Return the mean over the sets of the entropy divided by that of the best criterion."""
    rows = np.array([values[method, criterion] for criterion in CRITERIA])
    means = (rows / rows.min(axis=0)).mean(axis=1)
    return dict(zip(CRITERIA, means.tolist(), strict=True))


def absolute(values: Entropies, method: str) -> dict[str, float]:
    """Return the mean over the sets of the entropy."""
    return {criterion: float(np.mean(values[method, criterion])) for criterion in CRITERIA}


def criteria_table(rows: dict[str, dict[str, float]], digits: int = 3) -> str:
    """Return a table with one column per criterion. The lowest value of each row is bold."""
    lines = []
    for name, values in rows.items():
        cells = [
            f"**{value:.{digits}f}**" if value == min(values.values()) else f"{value:.{digits}f}"
            for value in values.values()
        ]
        lines.append([name, *cells])
    return table(["", *CRITERIA], lines)


def by_method_and_k(by_k: dict[Any, Sets], choice: str, combine: Any) -> str:
    """Return a table of entropies, combined over the sets, by method and number of clusters."""
    return criteria_table(
        {
            f"{METHODS[method]}, {k_text(k)}": combine(entropies(sets, choice), method)
            for method in METHODS
            for k, sets in by_k.items()
        }
    )


def k_text(k: Any) -> str:
    """Return the number of clusters for a table."""
    return "one cluster per class" if k == CLASSES else f"k = {k}"


def set_table(sets: Sets, method: str) -> str:
    """Return the mean entropies of each set."""
    values = entropies(sets, "mean")
    return criteria_table(
        {
            f"{name} ({some_run(one)['classes']} classes)": {
                criterion: values[method, criterion][i] for criterion in CRITERIA
            }
            for i, (name, one) in enumerate(sets.items())
        }
    )


def seconds_table(sets: Sets) -> str:
    """Return the mean seconds of a fit."""

    def seconds(method: str, criterion: str) -> float:
        return float(np.mean([one[method, criterion]["seconds"] for one in sets.values()]))

    rows = {
        METHODS[method]: {criterion: seconds(method, criterion) for criterion in CRITERIA}
        for method in METHODS
    }
    return criteria_table(rows, digits=2)


def ranking(by_k: dict[Any, Sets]) -> list[str]:
    """Return one line per method: the criteria from the best to the worst, over all `by_k`."""
    lines = []
    for method in METHODS:
        found = [relative(entropies(sets, "mean"), method) for sets in by_k.values()]
        means = {criterion: float(np.mean([one[criterion] for one in found])) for criterion in CRITERIA}
        order = sorted(means, key=lambda criterion: means[criterion])
        text = ", ".join(f"{criterion} ({means[criterion]:.3f})" for criterion in order)
        lines.append(f"- {METHODS[method]}: {text}")
    return lines


def some_run(runs: dict[tuple[str, str], Json]) -> Json:
    """Return one of the runs of a set, which describes the set."""
    return next(iter(runs.values()))


def unfinished(result: Json, by_k: dict[Any, Sets]) -> str:
    """Return a sentence about planned numbers of clusters that are not measured on all sets."""
    planned = KS if result["size"] == "full" else FEWER_KS
    missing = sorted((k for k in planned if k not in by_k), key=lambda k: (k == CLASSES, k))
    return f" Not yet measured on all sets: {', '.join(map(k_text, missing))}." if missing else ""


def page(result: Json) -> str:
    """Return the page: entropies by method and criterion, for numbers of clusters with all sets."""
    found = {k: complete_sets(result["runs"], k) for k in KS}
    n_sets = max(len(sets) for sets in found.values())
    if n_sets == 0:
        return "No set was measured with all methods. `paper/public_data.py` explains the data."
    by_k = {k: sets for k, sets in found.items() if len(sets) == n_sets}
    first = next(iter(by_k.values()))
    described = [some_run(one) for one in first.values()]
    return TEXT.format(
        sets=", ".join(
            f"{one['run']['set']} ({one['documents']:,} x {one['terms']:,}, {one['classes']} classes)"
            for one in described
        ),
        sources=", ".join(sorted({one["data"] for one in described})),
        n=n_sets,
        n_paper=N_PAPER_SETS,
        unavailable=" and ".join(UNAVAILABLE_SETS),
        unfinished=unfinished(result, by_k),
        n_seeds=len(described[0]["run"]["seeds"]),
        ranking="\n".join(ranking(by_k)),
        relative=by_method_and_k(by_k, "mean", relative),
        best=by_method_and_k(by_k, "best", relative),
        means=by_method_and_k(by_k, "mean", absolute),
        k=k_text(next(iter(by_k))),
        by_set=set_table(first, "refined"),
        seconds=seconds_table(first),
    )


TEXT = """Zhao and Karypis, the authors of CLUTO, compare criteria for document clustering in "Empirical
and theoretical comparisons of selected criterion functions for document clustering", Machine Learning
55, 2004. [Documents](../documents.md#criteria) explains the criteria, and [The
mathematics](../mathematics.md#criteria-for-documents) has the gains of moves. This page repeats the
comparison with `CriterionKMeans` on {n} of the study's {n_paper} sets: {sets}. Source: {sources}. No
source has the sets {unavailable}.{unfinished}

Rows are TF-IDF vectors with log(n / df), scaled to unit length. Each method has {n_seeds} runs, which
end when no row moves. The measure is the entropy of the classes in the clusters: lower is better. The
relative entropy of a criterion is its entropy divided by the lowest one of all criteria, for the same
set, method and number of clusters. The average over the sets is 1 for a criterion that is the best one
on every set.

## Ranking

The criteria have this order by the relative entropy of the mean of {n_seeds} runs, averaged over the
sets and the numbers of clusters below. The order is another one if the run with the best criterion is
chosen. The entropies that the study printed are not repeated here.

{ranking}

## Average relative entropy, mean of {n_seeds} runs

{relative}

## Average relative entropy, run with the best criterion

CLUTO makes ten trials, and returns the one with the best value of the criterion.

{best}

## Mean entropy

{means}

## Entropy of each set, refined, {k}

{by_set}

## Seconds per fit

Mean processor time of a fit with one thread, {k}. Other programs were running.

{seconds}
"""


if __name__ == "__main__":
    main(sys.modules[__name__])
