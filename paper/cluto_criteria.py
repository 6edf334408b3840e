"""CLUTO's criteria and methods on CLUTO's document sets, as in the study of Zhao and Karypis (2004).

`python paper/cluto_criteria.py` runs this experiment; see `experiment.py`. A run is one method with one
criterion on one set, for all numbers of clusters and seeds.
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
from table3_entropy import N_PAPER_SETS, N_RUNS, SMALLER_SETS

NAME = "criteria"
TITLE = "Criteria for document clustering (the study of CLUTO's authors)"

CRITERIA = ("i1", "i2", "e1", "g1", "h1", "h2")
MINIMISED = ("e1", "g1")
METHODS = {"k-way": "k-way (direct)", "bisecting": "bisecting (rb)", "refined": "refined (rbr)"}
# Stands for the number of classes of a set.
CLASSES = "classes"
# Numbers of clusters at the study's size and at the small size.
KS = [CLASSES, 5, 10, 15, 20]
FEWER_KS = [CLASSES]
# Runs per method and criterion at the small size.
FEWER_RUNS = 2
# Criteria that the study recommends, and those that it found worse than the others.
GOOD, POOR = ("i2", "h2"), ("i1", "g1")


def plan(full: bool) -> list[Json]:
    """Return one run per set, method and criterion, with all numbers of clusters and seeds."""
    sets, ks, runs = (CLUTO_SETS, KS, N_RUNS) if full else (SMALLER_SETS, FEWER_KS, FEWER_RUNS)
    return [
        {"set": name, "method": method, "criterion": criterion, "ks": ks, "seeds": list(range(runs))}
        for name in sets
        for method in METHODS
        for criterion in CRITERIA
    ]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    return 0.3 * len(run["ks"]) * len(run["seeds"])


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
    """Return entropy and criterion of each fit of one method on one set, by number of clusters."""
    loaded = weighted(run["set"])
    if loaded is None:
        return {"missing": True}
    rows, classes, source = loaded
    n_classes = len(set(classes))
    figures = {
        str(k): fit_seeds(run, n_classes if k == CLASSES else k, rows, classes) for k in run["ks"]
    }
    return {"data": source, "documents": rows.shape[0], "terms": rows.shape[1], "classes": n_classes,
            "figures": figures}  # fmt: skip


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

Entropies = dict[tuple[str, str], list[float]]
"""Entropies by method and criterion, one per set."""


def complete_sets(runs: list[Json]) -> dict[str, dict[tuple[str, str], Json]]:
    """Return the figures by set, and by method and criterion, of sets with all runs."""
    found: dict[str, dict[tuple[str, str], Json]] = {}
    for one in runs:
        if "figures" in one:
            run = one["run"]
            found.setdefault(run["set"], {})[run["method"], run["criterion"]] = one
    n_runs = len(METHODS) * len(CRITERIA)
    return {name: figures for name, figures in found.items() if len(figures) == n_runs}


def chosen(figures: Json, criterion: str, choice: str) -> float:
    """Return the mean entropy of all runs, or that of the run with the best criterion."""
    entropies, values = np.array(figures["entropy"]), np.array(figures["objective"])
    if choice == "mean":
        return float(entropies.mean())
    return float(entropies[values.argmin() if criterion in MINIMISED else values.argmax()])


def entropies(sets: dict[str, dict[tuple[str, str], Json]], k: Any, choice: str) -> Entropies:
    """Return the entropies with k clusters."""
    return {
        (method, criterion): [
            chosen(one[method, criterion]["figures"][str(k)], criterion, choice) for one in sets.values()
        ]
        for method in METHODS
        for criterion in CRITERIA
    }


def relative(values: Entropies, method: str) -> dict[str, float]:
    """Return the mean over the sets of the entropy divided by that of the best criterion."""
    rows = np.array([values[method, criterion] for criterion in CRITERIA])
    means = (rows / rows.min(axis=0)).mean(axis=1)
    return dict(zip(CRITERIA, means.tolist(), strict=True))


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


def relative_table(sets: dict[str, dict[tuple[str, str], Json]], ks: list[Any], choice: str) -> str:
    """Return the average relative entropies by method and number of clusters."""
    return criteria_table(
        {
            f"{METHODS[method]}, {k_text(k)}": relative(entropies(sets, k, choice), method)
            for method in METHODS
            for k in ks
        }
    )


def k_text(k: Any) -> str:
    """Return the number of clusters for a table."""
    return "k = number of classes" if k == CLASSES else f"k = {k}"


def mean_table(sets: dict[str, dict[tuple[str, str], Json]], ks: list[Any]) -> str:
    """Return the mean entropies over the sets, by method and number of clusters."""
    lines = {}
    for method in METHODS:
        for k in ks:
            values = entropies(sets, k, "mean")
            lines[f"{METHODS[method]}, {k_text(k)}"] = {
                criterion: float(np.mean(values[method, criterion])) for criterion in CRITERIA
            }
    return criteria_table(lines)


def set_table(sets: dict[str, dict[tuple[str, str], Json]], method: str) -> str:
    """Return the mean entropies of each set with one cluster per class."""
    values = entropies(sets, CLASSES, "mean")
    return criteria_table(
        {
            f"{name} (k = {next(iter(one.values()))['classes']})": {
                criterion: values[method, criterion][i] for criterion in CRITERIA
            }
            for i, (name, one) in enumerate(sets.items())
        }
    )


def seconds_table(sets: dict[str, dict[tuple[str, str], Json]]) -> str:
    """Return the mean seconds of a fit with one cluster per class."""

    def seconds(method: str, criterion: str) -> float:
        found = [one[method, criterion]["figures"][CLASSES]["seconds"] for one in sets.values()]
        return float(np.mean(found))

    rows = {
        METHODS[method]: {criterion: seconds(method, criterion) for criterion in CRITERIA}
        for method in METHODS
    }
    return criteria_table(rows, digits=2)


def ranking(sets: dict[str, dict[tuple[str, str], Json]], ks: list[Any]) -> list[str]:
    """Return one line per method: the criteria from the best to the worst, over all `ks`."""
    lines = []
    for method in METHODS:
        found = [relative(entropies(sets, k, "mean"), method) for k in ks]
        means = {criterion: float(np.mean([one[criterion] for one in found])) for criterion in CRITERIA}
        order = sorted(means, key=lambda criterion: means[criterion])
        text = ", ".join(f"{criterion} ({means[criterion]:.3f})" for criterion in order)
        lines.append(f"- {METHODS[method]}: {text}")
    return lines


def page(result: Json) -> str:
    """Return the page: entropies by method and criterion."""
    sets = complete_sets(result["runs"])
    if not sets:
        return "No set was measured with all methods. `paper/public_data.py` explains the data."
    first = next(iter(next(iter(sets.values())).values()))
    ks, n_seeds = first["run"]["ks"], len(first["run"]["seeds"])
    described = [next(iter(one.values())) for one in sets.values()]
    return TEXT.format(
        sets=", ".join(
            f"{one['run']['set']} ({one['documents']:,} x {one['terms']:,}, {one['classes']} classes)"
            for one in described
        ),
        sources=", ".join(sorted({one["data"] for one in described})),
        n=len(sets),
        n_paper=N_PAPER_SETS,
        n_seeds=n_seeds,
        good=" and ".join(GOOD),
        poor=" and ".join(POOR),
        ranking="\n".join(ranking(sets, ks)),
        relative=relative_table(sets, ks, "mean"),
        best=relative_table(sets, ks, "best"),
        means=mean_table(sets, ks),
        by_set=set_table(sets, "refined"),
        seconds=seconds_table(sets),
    )


TEXT = """Zhao and Karypis, the authors of CLUTO, compare criteria for document clustering in "Empirical
and theoretical comparisons of selected criterion functions for document clustering", Machine Learning
55, 2004. [Documents](../documents.md#criteria) explains the criteria, and [The
mathematics](../mathematics.md#criteria-for-documents) has the gains of moves. This page repeats the
comparison with `CriterionKMeans` on {n} of the study's {n_paper} sets: {sets}. Source: {sources}.

Rows are TF-IDF vectors with log(n / df), scaled to unit length. Each method has {n_seeds} runs, which
end when no row moves. The measure is the entropy of the classes in the clusters: lower is better. The
relative entropy of a criterion is its entropy divided by the lowest one of all criteria, for the same
set, method and number of clusters. The average over the sets is 1 for a criterion that is the best one
on every set.

## Ranking

The study recommends {good}, and finds {poor} worse than the others. Here the criteria have this order,
by the average relative entropy over the sets and all numbers of clusters:

{ranking}

## Average relative entropy, mean of {n_seeds} runs

{relative}

## Average relative entropy, run with the best criterion

CLUTO makes ten trials, and returns the one with the best value of the criterion.

{best}

## Mean entropy

{means}

## Entropy of each set, refined, one cluster per class

{by_set}

## Seconds per fit

Mean processor time of a fit with one thread and one cluster per class.

{seconds}
"""


if __name__ == "__main__":
    main(sys.modules[__name__])
