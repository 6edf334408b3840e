"""Benchmark of fits that run first in a few principal components."""

import numpy as np

import data
import problems
from boostkmeans import BoostKMeans
from boostkmeans._data.projection import Spectrum, spectrum_rows
from boostkmeans._engine.dimensions import COMPONENTS_UNIT
from environment import N_THREADS, Json
from measure import median, one_line, timed
from result_files import save_result

# Shares of the variance for which the number of components is measured.
SHARES = (0.7, 0.8, 0.87, 0.93)
# Seeds per setting.
SEEDS = 2
# Name of the setting without a projection.
ALL = "None"


def projected_fits() -> None:
    """Compare fits by the share of the variance in the components in which they run first."""
    wordnet = data.wordnet() or problems.embeddings(81_000, 512)
    mnist = data.mnist()
    topics = problems.embeddings(100_000, 768)
    sets = {
        f"{wordnet[0]}, k = 1,000": (wordnet[1], 1000),
        f"{wordnet[0]}, k = 100": (wordnet[1], 100),
        f"{mnist[0]}, k = 1,000": (mnist[1], 1000),
        f"{topics[0]}, {topics[1].shape[0]} x {topics[1].shape[1]}, k = 2,000": (topics[1], 2000),
    }
    found = {name: compare_dimensions(name, X, k) for name, (X, k) in sets.items()}
    save_result("projected_fits", {"sets": found})


def compare_dimensions(title: str, X: data.Array, k: int) -> Json:
    """Return time and inertia by number of dimensions, relative to fits in all dimensions."""
    settings = settings_for(X)
    runs: dict[str, list[Json]] = {name: [] for name in settings}
    for seed in range(SEEDS):
        for name, (dimensions, _) in settings.items():
            runs[name].append(fit_figures(X, k, dimensions, seed))
            print(f"  {title}, {name}: {one_line(runs[name][-1])}", flush=True)
    return {
        name: {"share": settings[name][1], **relative_figures(some, runs[ALL])}
        for name, some in runs.items()
    }


def settings_for(X: data.Array) -> dict[str, tuple[int | str | None, float | None]]:
    """Return the values of `dimensions` to compare, with their shares of the variance."""
    some = np.linspace(0, len(X) - 1, spectrum_rows(X.shape[1])).astype(np.int64)
    shares = Spectrum.of(X[some].astype(np.float64)).shares
    settings: dict[str, tuple[int | str | None, float | None]] = {ALL: (None, 1.0)}
    for share in SHARES:
        n = -(-(int(np.searchsorted(shares, share)) + 1) // COMPONENTS_UNIT) * COMPONENTS_UNIT
        if n < X.shape[1]:
            settings[str(n)] = n, float(shares[n - 1])
    settings["auto"] = "auto", None
    return settings


def fit_figures(X: data.Array, k: int, dimensions: int | str | None, seed: int) -> Json:
    """Return the figures of one fit."""
    model = BoostKMeans(k, dimensions=dimensions, n_threads=N_THREADS, random_state=seed)
    seconds, _ = timed(lambda: model.fit(X))
    return {"seconds": seconds, "inertia": model.inertia_, "sweeps": model.n_iter_}


def relative_figures(runs: list[Json], whole: list[Json]) -> Json:
    """Return median time and mean inertia of some runs, relative to runs in all dimensions."""
    seconds = median([run["seconds"] for run in runs])
    ratios = [run["inertia"] / other["inertia"] for run, other in zip(runs, whole, strict=True)]
    return {
        "seconds": seconds,
        "time_ratio": seconds / median([run["seconds"] for run in whole]),
        "inertia_ratio": float(np.mean(ratios)),
        "sweeps": median([run["sweeps"] for run in runs]),
    }


BENCHMARKS = [projected_fits]
