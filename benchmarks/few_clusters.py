"""Benchmark of the rules for few clusters with many rows: each rule is switched off in turn."""

from contextlib import ExitStack
from typing import Any
from unittest import mock

import data
from boostkmeans import BoostKMeans
from boostkmeans._engine import few_clusters as rules
from boostkmeans._engine import sweep_step
from data import Array
from environment import N_THREADS, Json
from measure import median, timed
from problems import blobs, normal, uniform
from result_files import save_result

SEEDS = (0, 1, 2)

# What replaces a rule in each variant: object, name and value.
VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "all rules": [],
    "no row bounds": [(sweep_step, "BOUNDS_BELOW_MOVES", -1)],
    "no extrapolation": [(rules.Extrapolation, "is_due", False)],
    "no rule, as in 0.8": [(rules, "MAX_CLUSTERS", 0)],
}


def problems() -> list[tuple[str, Array, int]]:
    """Return data without clusters, real data, and clusters that overlap."""
    return [
        ("normal 1,000,000 x 16", normal(1_000_000, 16)[1], 16),
        ("uniform 500,000 x 16", uniform(500_000, 16)[1], 16),
        ("MNIST 70,000 x 784", data.mnist()[1], 10),
        ("64 blobs, 1,000,000 x 8", blobs(1_000_000, 8, 64, 3.0)[1], 32),
    ]


def few_clusters() -> None:
    """Compare fits with few clusters and many rows, with and without each rule."""
    found = []
    for name, X, k in problems():
        runs: dict[str, list[Json]] = {variant: [] for variant in VARIANTS}
        for seed in SEEDS:
            for variant, changes in VARIANTS.items():
                runs[variant].append(fit(X, k, seed, changes))
                print(f"  {name}, {variant}: {runs[variant][-1]}", flush=True)
        figures = {
            variant: {key: median([one[key] for one in ones]) for key in ones[0]}
            for variant, ones in runs.items()
        }
        found.append({"data": name, "k": k, "variants": figures})
    save_result("few_clusters", {"seeds": len(SEEDS), "rows": found})


def fit(X: Array, k: int, seed: int, changes: list[tuple[Any, str, Any]]) -> Json:
    """Return the figures of a fit with some names replaced."""
    with ExitStack() as stack:
        for change in changes:
            stack.enter_context(mock.patch.object(*change))
        seconds, model = timed(lambda: BoostKMeans(k, random_state=seed, n_threads=N_THREADS).fit(X))
    kinds = [record.kind for record in model.history_]
    return {
        "seconds": seconds,
        "inertia": model.inertia_,
        "sweeps": len(kinds) - kinds.count("start"),
        "extrapolations": kinds.count("extrapolation"),
        "comparisons": sum(record.evaluations for record in model.history_) / (len(X) * k),
    }


BENCHMARKS = [few_clusters]
