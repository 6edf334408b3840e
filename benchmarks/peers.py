"""The contestants of the comparison with other libraries: one function per setting, in one registry.

To add a contestant, write one function that takes rows, k and a seed, and returns labels for all rows.
All contestants get the same threads and float32 rows. Other libraries run with the settings that their
documentation recommends, or with their defaults; if these use only a sample of the rows, a second entry
uses all rows.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

import baseline
import cores
from data import Array
from environment import N_THREADS, Json

DENSE = frozenset({"dense"})
SPARSE = frozenset({"sparse"})
Role = Literal["own", "baseline", "peer"]


@dataclass(frozen=True)
class Fitted:
    """Result of a contestant."""

    labels: Array
    curve: list[tuple[float, float]] = field(default_factory=list)
    """Seconds and inertia during the fit; empty if the library does not report them."""
    details: Json = field(default_factory=dict)
    """Further figures that only boostkmeans has."""


@dataclass(frozen=True)
class Contestant:
    """One setting of one library."""

    name: str
    fit: Callable[[Any, int, int], Fitted]
    module: str
    """Module that must be installed."""
    kinds: frozenset[str]
    """Kinds of rows that it accepts: "dense", "sparse" or both."""
    role: Role = "peer"
    """"own" for boostkmeans, "baseline" for an earlier release, "peer" for other libraries."""

    @property
    def own(self) -> bool:
        """Return True for settings of this version of boostkmeans."""
        return self.role == "own"

    @property
    def package(self) -> str:
        """Name of the distribution that provides the module."""
        return DISTRIBUTIONS.get(self.module, self.module)

    @property
    def python(self) -> Path:
        """Interpreter of the environment that it runs in."""
        return baseline.interpreter() if self.role == "baseline" else Path(sys.executable)

    def obstacle(self, kind: str) -> str:
        """Return why it cannot cluster rows of this kind, or "" if it can."""
        if kind not in self.kinds:
            return f"takes no {kind} rows"
        if self.role == "baseline":
            return baseline.obstacle()
        return "" if find_spec(self.module) is not None else "not installed"


DISTRIBUTIONS = {"sklearn": "scikit-learn", "sklearnex": "scikit-learn-intelex", "faiss": "faiss-cpu"}
CONTESTANTS: dict[str, Contestant] = {}

Fit = Callable[[Any, int, int], Fitted]


def contestant(
    name: str, module: str, kinds: frozenset[str], role: Role = "peer"
) -> Callable[[Fit], Fit]:
    """Register a function as a contestant."""

    def register(fit: Fit) -> Fit:
        CONTESTANTS[name] = Contestant(name, fit, module, kinds, role)
        return fit

    return register


@contestant("boostkmeans", "boostkmeans", DENSE | SPARSE, role="own")
def boost_default(X: Any, k: int, seed: int) -> Fitted:
    """Run BoostKMeans with its defaults."""
    return boost(X, k, seed)


@contestant(baseline.NAME, "boostkmeans", DENSE | SPARSE, role="baseline")
def boost_baseline(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults of an earlier release: a worker calls this in the environment of the release."""
    return boost(X, k, seed)


@contestant('boostkmeans, quality="fast"', "boostkmeans", DENSE | SPARSE, role="own")
def boost_fast(X: Any, k: int, seed: int) -> Fitted:
    """Run without annealing, and with a larger tolerance."""
    return boost(X, k, seed, quality="fast")


@contestant("boostkmeans, tol=1e-6", "boostkmeans", DENSE | SPARSE, role="own")
def boost_converged(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults with a smaller tolerance, close to convergence."""
    return boost(X, k, seed, tol=1e-6)


@contestant("boostkmeans, tree and refinement", "boostkmeans", DENSE | SPARSE, role="own")
def boost_refined(X: Any, k: int, seed: int) -> Fitted:
    """Run BisectingBoostKMeans with refinement."""
    from boostkmeans import BisectingBoostKMeans

    model = BisectingBoostKMeans(k, refine=True, n_threads=N_THREADS, random_state=seed).fit(X)
    return fitted_model(model)


def boost(X: Any, k: int, seed: int = 0, **parameters: Any) -> Fitted:
    """Run BoostKMeans with any parameters."""
    from boostkmeans import BoostKMeans

    return fitted_model(BoostKMeans(k, n_threads=N_THREADS, random_state=seed, **parameters).fit(X))


def fitted_model(model: Any) -> Fitted:
    """Return the labels, the curve and the shares of serial work of a model of boostkmeans."""
    curve = [(record.seconds, record.inertia) for record in model.history_]
    return Fitted(model.labels_, curve, cores.figures(model))


@contestant("scikit-learn KMeans", "sklearn", DENSE | SPARSE)
def scikit_learn(X: Any, k: int, seed: int) -> Fitted:
    """Run scikit-learn's defaults: greedy k-means++, one run."""
    from sklearn.cluster import KMeans

    return Fitted(KMeans(k, random_state=seed).fit(X).labels_)


@contestant("scikit-learn KMeans, random rows", "sklearn", DENSE | SPARSE)
def scikit_learn_random(X: Any, k: int, seed: int) -> Fitted:
    """Run from random rows, because k-means++ takes most of the time for many clusters."""
    from sklearn.cluster import KMeans

    return Fitted(KMeans(k, init="random", n_init=1, random_state=seed).fit(X).labels_)


@contestant("scikit-learn MiniBatchKMeans", "sklearn", DENSE | SPARSE)
def mini_batch(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults: batches of 1,024 rows (scikit-learn recommends more than 256 per core)."""
    from sklearn.cluster import MiniBatchKMeans

    return Fitted(MiniBatchKMeans(k, random_state=seed).fit(X).labels_)


@contestant("scikit-learn-intelex KMeans", "sklearnex", DENSE | SPARSE)
def intelex(X: Any, k: int, seed: int) -> Fitted:
    """Run scikit-learn's estimator, accelerated by oneDAL."""
    from sklearnex.cluster import KMeans

    return Fitted(KMeans(k, random_state=seed).fit(X).labels_)


@contestant("scikit-learn-intelex KMeans, random rows", "sklearnex", DENSE | SPARSE)
def intelex_random(X: Any, k: int, seed: int) -> Fitted:
    """Run it from random rows."""
    from sklearnex.cluster import KMeans

    return Fitted(KMeans(k, init="random", n_init=1, random_state=seed).fit(X).labels_)


@contestant("faiss.Kmeans", "faiss", DENSE)
def faiss_kmeans(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults: 25 iterations, on at most 256 rows per cluster."""
    return run_faiss(X, k, seed, "Kmeans")


@contestant("faiss.Kmeans, all rows", "faiss", DENSE)
def faiss_kmeans_all(X: Any, k: int, seed: int) -> Fitted:
    """Run 25 iterations on all rows."""
    return run_faiss(X, k, seed, "Kmeans", max_points_per_centroid=len(X))


@contestant("faiss.SuperKmeans", "faiss", DENSE)
def faiss_super_kmeans(X: Any, k: int, seed: int) -> Fitted:
    """Run 25 iterations with pruning, on at most 256 rows per cluster."""
    return run_faiss(X, k, seed, "SuperKmeans")


@contestant("faiss.SuperKmeans, all rows", "faiss", DENSE)
def faiss_super_kmeans_all(X: Any, k: int, seed: int) -> Fitted:
    """Run 25 iterations with pruning, on all rows."""
    return run_faiss(X, k, seed, "SuperKmeans", max_points_per_centroid=len(X))


def run_faiss(X: Any, k: int, seed: int, kind: str, **settings: Any) -> Fitted:
    """Train centres, then assign all rows by one exact search."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    make = vars(faiss)[kind]  # SuperKmeans is missing in the type stubs of faiss.
    model = make(X.shape[1], k, **{"niter": 25, "seed": seed + 1, **settings})
    model.train(X)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(np.ascontiguousarray(model.centroids))
    return Fitted(index.search(X, 1)[1][:, 0])


@contestant("superkmeans", "superkmeans", DENSE)
def super_kmeans(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults, which sample the rows of large data sets."""
    return run_superkmeans(X, k, seed)


@contestant("superkmeans, sq8", "superkmeans", DENSE)
def super_kmeans_sq8(X: Any, k: int, seed: int) -> Fitted:
    """Run with 8-bit codes, which superkmeans recommends for speed."""
    return run_superkmeans(X, k, seed, quantizer="sq8")


@contestant("superkmeans, all rows", "superkmeans", DENSE)
def super_kmeans_all(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults on all rows."""
    return run_superkmeans(X, k, seed, sampling_fraction=1.0)


@contestant("superkmeans, hierarchical, refined", "superkmeans", DENSE)
def super_kmeans_refined(X: Any, k: int, seed: int) -> Fitted:
    """Run the best hierarchical setting: 10 + 10 iterations and 3 refinements, on all rows."""
    iterations = {"iters_mesoclustering": 10, "iters_fineclustering": 10, "iters_refinement": 3}
    return run_superkmeans(X, k, seed, hierarchical=True, sampling_fraction=1.0, **iterations)


@contestant("superkmeans, flat, 25 iterations", "superkmeans", DENSE)
def super_kmeans_flat(X: Any, k: int, seed: int) -> Fitted:
    """Run the best flat setting: 25 iterations on all rows."""
    return run_superkmeans(X, k, seed, hierarchical=False, sampling_fraction=1.0, iters=25)


def run_superkmeans(X: Any, k: int, seed: int, **settings: Any) -> Fitted:
    """Train centres, then use the fastest assignment that labels all rows."""
    from superkmeans import SuperKMeans

    model = SuperKMeans(
        n_clusters=k, dimensionality=X.shape[1], n_threads=N_THREADS, seed=seed + 42, **settings
    )
    centres = model.train(X)
    exact = settings.get("quantizer", "f32") == "f32"
    assign = model.assign_training_points if exact and used_all_rows(model) else model.assign
    return Fitted(np.asarray(assign(X, centres)))


def used_all_rows(model: Any) -> bool:
    """Return True if superkmeans trained on all rows, and so can reuse parts of their assignment."""
    return getattr(model, "sampled_indices", None) is None


@contestant("fastkmeans", "fastkmeans", DENSE)
def fast_kmeans(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults on the CPU."""
    import torch
    from fastkmeans import FastKMeans

    torch.set_num_threads(N_THREADS)
    model = FastKMeans(X.shape[1], k, gpu=False, seed=seed)
    return Fitted(model.fit_predict(X))


@contestant("sparsekmeans Lloyd", "sparsekmeans", SPARSE)
def sparse_lloyd(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults of sparsekmeans."""
    return run_sparsekmeans(X, k, seed, "LloydKmeans")


@contestant("sparsekmeans Elkan", "sparsekmeans", SPARSE)
def sparse_elkan(X: Any, k: int, seed: int) -> Fitted:
    """Run the defaults of sparsekmeans."""
    return run_sparsekmeans(X, k, seed, "ElkanKmeans")


def run_sparsekmeans(X: Any, k: int, seed: int, kind: str) -> Fitted:
    """Run one of the estimators of sparsekmeans, which use GraphBLAS."""
    import sparsekmeans

    model = vars(sparsekmeans)[kind](n_clusters=k, random_state=seed, n_threads=N_THREADS)
    return Fitted(np.asarray(model.fit(X)))


def figures_of(X: Any, fitted: Fitted) -> Json:
    """Return the inertia, computed from the labels in float64, and the curve."""
    from boostkmeans.metrics import average_distortion

    inertia = average_distortion(X, fitted.labels) * X.shape[0]
    return {"inertia": inertia, "curve": fitted.curve, **fitted.details}
