"""The peers and ours, each as one function that returns its figures."""

import numpy as np

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from data import Array
from measure import N_THREADS, Json


def ours(X: Array, k: int, seed: int = 0, **parameters: object) -> Json:
    """Inertia, and the curve of (seconds, inertia) over the sweeps."""
    settings = {"n_threads": N_THREADS, "random_state": seed, **parameters}
    return figures_of(BoostKMeans(k, **settings).fit(X))  # type: ignore[arg-type]


def our_tree(X: Array, k: int, seed: int = 0, **parameters: object) -> Json:
    """The same for the bisecting tree."""
    settings = {"n_threads": N_THREADS, "random_state": seed, **parameters}
    return figures_of(BisectingBoostKMeans(k, **settings).fit(X))  # type: ignore[arg-type]


def figures_of(model: BoostKMeans | BisectingBoostKMeans) -> Json:
    """What a fitted model tells about its fit."""
    return {
        "inertia": model.inertia_,
        "sweeps": model.n_iter_,
        "stopped_by": model.stop_reason_,
        "curve": [(r.seconds, r.inertia) for r in model.history_],
    }


def scikit_learn(X: Array, k: int, seed: int = 0) -> Json:
    """KMeans(n_init=1) with its defaults."""
    from sklearn.cluster import KMeans

    model = KMeans(k, n_init=1, random_state=seed).fit(X)
    centres = model.cluster_centers_.astype(np.float64)
    return {"inertia": exact_inertia(X, centres, model.labels_), "iterations": model.n_iter_}


def faiss_kmeans(X: Array, k: int, niter: int, seed: int = 0) -> Json:
    """faiss.Kmeans on all rows (no subsampling), labels included."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    model = faiss.Kmeans(X.shape[1], k, niter=niter, seed=seed + 1, max_points_per_centroid=len(X))
    model.train(X)
    _, labels = model.index.search(X, 1)
    centres = np.asarray(model.centroids, dtype=np.float64)
    return {"inertia": exact_inertia(X, centres, labels[:, 0])}


def faiss_super_kmeans(X: Array, k: int, niter: int, seed: int = 0) -> Json:
    """faiss.SuperKmeans on all rows, labels included (exact, by faiss' flat index)."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    make = vars(faiss)["SuperKmeans"]  # which its types do not know yet
    model = make(X.shape[1], k, niter=niter, seed=seed + 1, max_points_per_centroid=len(X))
    model.train(X)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(np.ascontiguousarray(model.centroids))
    _, labels = index.search(X, 1)
    centres = np.asarray(model.centroids, dtype=np.float64)
    return {"inertia": exact_inertia(X, centres, labels[:, 0])}


def super_kmeans(X: Array, k: int, seed: int = 0, **settings: object) -> Json:
    """superkmeans on all rows, then the fastest of its assignments of the training rows."""
    from superkmeans import SuperKMeans

    model = SuperKMeans(
        n_clusters=k,
        dimensionality=X.shape[1],
        n_threads=N_THREADS,
        seed=seed + 42,
        sampling_fraction=1.0,
        **settings,
    )
    centres = model.train(X)
    quantized = settings.get("quantizer", "f32") != "f32"
    assign = model.assign if quantized else model.assign_training_points
    labels = np.asarray(assign(X, centres))
    return {"inertia": exact_inertia(X, np.asarray(centres, dtype=np.float64), labels)}


def exact_inertia(X: Array, centres: Array, labels: Array) -> float:
    """In float64, a batch of rows at a time."""
    total = 0.0
    for begin in range(0, len(X), 10_000):
        batch = slice(begin, begin + 10_000)
        total += float(((X[batch].astype(np.float64) - centres[labels[batch]]) ** 2).sum())
    return total
