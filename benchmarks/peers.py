"""The contestants: ours and the peers, one function each, all in one registry.

A new peer is one function that is given rows, k and a seed, and returns labels for all rows. Peers get
the same threads, float32 rows, and the settings that their documentation recommends or has as defaults;
where these leave rows out, there is a second entry that takes all rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from data import Array
from environment import N_THREADS, Json

DENSE, SPARSE = frozenset({"dense"}), frozenset({"sparse"})


@dataclass(frozen=True)
class Found:
    """What a contestant returns."""

    labels: Array
    curve: list[tuple[float, float]] = field(default_factory=list)
    """Seconds and inertia on the way, of those that tell."""


@dataclass(frozen=True)
class Contestant:
    """One setting of one library."""

    name: str
    fit: Callable[[Any, int, int], Found]
    needs: str
    """The module that has to be installed."""
    takes: frozenset[str]
    own: bool = False

    @property
    def package(self) -> str:
        """The name of its distribution."""
        return DISTRIBUTIONS.get(self.needs, self.needs)

    def cannot(self, kind: str) -> str:
        """Why it cannot take part for rows of this kind; empty if it can."""
        if kind not in self.takes:
            return f"takes no {kind} rows"
        return "" if find_spec(self.needs) is not None else "not installed"


DISTRIBUTIONS = {"sklearn": "scikit-learn", "sklearnex": "scikit-learn-intelex", "faiss": "faiss-cpu"}
CONTESTANTS: dict[str, Contestant] = {}

Fit = Callable[[Any, int, int], Found]


def contestant(name: str, needs: str, takes: frozenset[str], own: bool = False) -> Callable[[Fit], Fit]:
    """Puts a function into the registry."""

    def enter(fit: Fit) -> Fit:
        CONTESTANTS[name] = Contestant(name, fit, needs, takes, own)
        return fit

    return enter


@contestant("ours", "boostkmeans", DENSE | SPARSE, own=True)
def ours(X: Any, k: int, seed: int) -> Found:
    """The defaults."""
    return boost(X, k, seed)


@contestant('ours, quality="fast"', "boostkmeans", DENSE | SPARSE, own=True)
def ours_fast(X: Any, k: int, seed: int) -> Found:
    """Without annealing, with an early end."""
    return boost(X, k, seed, quality="fast")


@contestant("ours, tol=1e-6", "boostkmeans", DENSE | SPARSE, own=True)
def ours_to_the_end(X: Any, k: int, seed: int) -> Found:
    """The defaults, which go on for longer."""
    return boost(X, k, seed, tol=1e-6)


@contestant("ours, tree and refinement", "boostkmeans", DENSE | SPARSE, own=True)
def ours_refined(X: Any, k: int, seed: int) -> Found:
    """The bisecting tree, then single moves over candidates."""
    from boostkmeans import BisectingBoostKMeans

    model = BisectingBoostKMeans(k, refine=True, n_threads=N_THREADS, random_state=seed).fit(X)
    return of(model)


def boost(X: Any, k: int, seed: int = 0, **parameters: Any) -> Found:
    """Direct k-way, by any setting."""
    from boostkmeans import BoostKMeans

    return of(BoostKMeans(k, n_threads=N_THREADS, random_state=seed, **parameters).fit(X))


def of(model: Any) -> Found:
    """Labels and curve of a model of ours."""
    return Found(model.labels_, [(record.seconds, record.inertia) for record in model.history_])


@contestant("scikit-learn KMeans", "sklearn", DENSE | SPARSE)
def scikit_learn(X: Any, k: int, seed: int) -> Found:
    """Its defaults: greedy k-means++, one run."""
    from sklearn.cluster import KMeans

    return Found(KMeans(k, random_state=seed).fit(X).labels_)


@contestant("scikit-learn KMeans, random rows", "sklearn", DENSE | SPARSE)
def scikit_learn_random(X: Any, k: int, seed: int) -> Found:
    """For many clusters, where its k-means++ takes most of the time."""
    from sklearn.cluster import KMeans

    return Found(KMeans(k, init="random", n_init=1, random_state=seed).fit(X).labels_)


@contestant("scikit-learn MiniBatchKMeans", "sklearn", DENSE | SPARSE)
def mini_batch(X: Any, k: int, seed: int) -> Found:
    """Its defaults: batches of 1,024 rows (it recommends more than 256 a core)."""
    from sklearn.cluster import MiniBatchKMeans

    return Found(MiniBatchKMeans(k, random_state=seed).fit(X).labels_)


@contestant("scikit-learn-intelex KMeans", "sklearnex", DENSE | SPARSE)
def intelex(X: Any, k: int, seed: int) -> Found:
    """The same estimator, by oneDAL."""
    from sklearnex.cluster import KMeans

    return Found(KMeans(k, random_state=seed).fit(X).labels_)


@contestant("scikit-learn-intelex KMeans, random rows", "sklearnex", DENSE | SPARSE)
def intelex_random(X: Any, k: int, seed: int) -> Found:
    """The same from random rows."""
    from sklearnex.cluster import KMeans

    return Found(KMeans(k, init="random", n_init=1, random_state=seed).fit(X).labels_)


@contestant("faiss.Kmeans", "faiss", DENSE)
def faiss_kmeans(X: Any, k: int, seed: int) -> Found:
    """Its defaults: 25 iterations, on at most 256 rows a cluster."""
    return faiss_found(X, k, seed, "Kmeans")


@contestant("faiss.Kmeans, all rows", "faiss", DENSE)
def faiss_kmeans_all(X: Any, k: int, seed: int) -> Found:
    """25 iterations on all rows."""
    return faiss_found(X, k, seed, "Kmeans", max_points_per_centroid=len(X))


@contestant("faiss.SuperKmeans", "faiss", DENSE)
def faiss_super_kmeans(X: Any, k: int, seed: int) -> Found:
    """25 iterations with pruning, on at most 256 rows a cluster."""
    return faiss_found(X, k, seed, "SuperKmeans")


@contestant("faiss.SuperKmeans, all rows", "faiss", DENSE)
def faiss_super_kmeans_all(X: Any, k: int, seed: int) -> Found:
    """25 iterations with pruning, on all rows."""
    return faiss_found(X, k, seed, "SuperKmeans", max_points_per_centroid=len(X))


def faiss_found(X: Any, k: int, seed: int, kind: str, **settings: Any) -> Found:
    """Training, then one exact search for the labels."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    make = vars(faiss)[kind]  # SuperKmeans is not in its types yet
    model = make(X.shape[1], k, **{"niter": 25, "seed": seed + 1, **settings})
    model.train(X)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(np.ascontiguousarray(model.centroids))
    return Found(index.search(X, 1)[1][:, 0])


@contestant("superkmeans", "superkmeans", DENSE)
def super_kmeans(X: Any, k: int, seed: int) -> Found:
    """Its defaults: of many rows, some."""
    return super_found(X, k, seed)


@contestant("superkmeans, sq8", "superkmeans", DENSE)
def super_kmeans_sq8(X: Any, k: int, seed: int) -> Found:
    """With codes of a byte, which it recommends for speed."""
    return super_found(X, k, seed, quantizer="sq8")


@contestant("superkmeans, all rows", "superkmeans", DENSE)
def super_kmeans_all(X: Any, k: int, seed: int) -> Found:
    """Its defaults on all rows."""
    return super_found(X, k, seed, sampling_fraction=1.0)


@contestant("superkmeans, hierarchical, refined", "superkmeans", DENSE)
def super_kmeans_refined(X: Any, k: int, seed: int) -> Found:
    """Its best hierarchical setting: 10 + 10 iterations and 3 refinements, on all rows."""
    iterations = {"iters_mesoclustering": 10, "iters_fineclustering": 10, "iters_refinement": 3}
    return super_found(X, k, seed, hierarchical=True, sampling_fraction=1.0, **iterations)


@contestant("superkmeans, flat, 25 iterations", "superkmeans", DENSE)
def super_kmeans_flat(X: Any, k: int, seed: int) -> Found:
    """Its best setting, on all rows."""
    return super_found(X, k, seed, hierarchical=False, sampling_fraction=1.0, iters=25)


def super_found(X: Any, k: int, seed: int, **settings: Any) -> Found:
    """Training, then the fastest of its assignments that gives all rows."""
    from superkmeans import SuperKMeans

    model = SuperKMeans(
        n_clusters=k, dimensionality=X.shape[1], n_threads=N_THREADS, seed=seed + 42, **settings
    )
    centres = model.train(X)
    exact = settings.get("quantizer", "f32") == "f32"
    assign = model.assign_training_points if exact and takes_all(model) else model.assign
    return Found(np.asarray(assign(X, centres)))


def takes_all(model: Any) -> bool:
    """Whether it was trained on all rows, whose assignment it knows in part."""
    return getattr(model, "sampled_indices", None) is None


@contestant("fastkmeans", "fastkmeans", DENSE)
def fast_kmeans(X: Any, k: int, seed: int) -> Found:
    """Its defaults, on CPUs."""
    import torch
    from fastkmeans import FastKMeans

    torch.set_num_threads(N_THREADS)
    model = FastKMeans(X.shape[1], k, gpu=False, seed=seed)
    return Found(model.fit_predict(X))


@contestant("sparsekmeans Lloyd", "sparsekmeans", SPARSE)
def sparse_lloyd(X: Any, k: int, seed: int) -> Found:
    """Its defaults."""
    return sparse_found(X, k, seed, "LloydKmeans")


@contestant("sparsekmeans Elkan", "sparsekmeans", SPARSE)
def sparse_elkan(X: Any, k: int, seed: int) -> Found:
    """Its defaults."""
    return sparse_found(X, k, seed, "ElkanKmeans")


def sparse_found(X: Any, k: int, seed: int, kind: str) -> Found:
    """By GraphBLAS."""
    import sparsekmeans

    model = vars(sparsekmeans)[kind](n_clusters=k, random_state=seed, n_threads=N_THREADS)
    return Found(np.asarray(model.fit(X)))


def figures_of(X: Any, found: Found) -> Json:
    """Inertia by the means of the clusters, in float64, and the curve."""
    from boostkmeans.metrics import average_distortion

    return {"inertia": average_distortion(X, found.labels) * X.shape[0], "curve": found.curve}
