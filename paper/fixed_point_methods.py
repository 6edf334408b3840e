"""The methods that the page about fixed points of Lloyd's algorithm compares."""

from collections.abc import Callable
from typing import Any

from experiment import N_THREADS

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray
from sklearn import cluster
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from boostkmeans import BoostKMeans
from boostkmeans.baselines import KMeans
from lloyd_bias import Labels

Array = NDArray[Any]

# Rows, number of clusters, random labels and seed -> labels.
Method = Callable[[Array, int, Labels, int], Labels]

# High enough for each method to end by itself.
MAX_ITER = 1000
# Up to this number of rows, one thread of scikit-learn is fast enough; more are slow on a busy machine.
ONE_THREAD = 10_000
# The plain rule: all clusters, without annealing and repair, until no move is left.
PLAIN: dict[str, Any] = {"n_candidates": None, "repair": False, "annealing": 0, "tol": 0,
                         "max_iter": MAX_ITER, "n_threads": N_THREADS}  # fmt: skip


def means(rows: Array, labels: Labels, k: int) -> NDArray[np.float64]:
    """Return the means of the clusters."""
    sums = np.zeros((k, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return np.asarray(sums / np.bincount(labels, minlength=k)[:, None])


def lloyd(rows: Array, k: int, init: Any, seed: int) -> Labels:
    """Run Lloyd's algorithm until no row moves."""
    n_threads = N_THREADS if len(rows) > ONE_THREAD else 1
    model = KMeans(k, init=init, tol=0, max_iter=MAX_ITER, random_state=seed, n_threads=n_threads)
    return np.asarray(model.fit(rows).labels_)


def plain_moves(rows: Array, k: int, init: Any, seed: int) -> Labels:
    """Run single moves until no row moves."""
    return np.asarray(BoostKMeans(k, init=init, random_state=seed, **PLAIN).fit(rows).labels_)


def scikit_learn(rows: Array, k: int, seed: int, **settings: Any) -> Labels:
    """Run scikit-learn's `KMeans` with its defaults, except for the given settings."""
    with threadpool_limits(N_THREADS if len(rows) > ONE_THREAD else 1):
        return np.asarray(cluster.KMeans(k, random_state=seed, **settings).fit(rows).labels_)


def after_pca(rows: Array, k: int, seed: int) -> Labels:
    """Run scikit-learn's `KMeans` on the first k - 1 principal components, which can hold k means."""
    return scikit_learn(PCA(k - 1, random_state=seed).fit_transform(rows), k, seed)


def faiss_kmeans(rows: Array, k: int, seed: int) -> Labels:
    """Run the defaults of `faiss.Kmeans`, and assign the rows by an exact search.

    Raise ImportError if faiss is not installed.
    """
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    # The lowest number of rows per cluster only controls a warning.
    model = faiss.Kmeans(rows.shape[1], k, seed=seed + 1, min_points_per_centroid=1)
    model.train(rows)
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(np.ascontiguousarray(model.centroids))
    return np.asarray(index.search(rows, 1)[1][:, 0])


def defaults(rows: Array, k: int, seed: int) -> Labels:
    """Run `BoostKMeans` with its defaults."""
    return np.asarray(BoostKMeans(k, random_state=seed, n_threads=N_THREADS).fit(rows).labels_)


METHODS: dict[str, Method] = {
    "Lloyd, random labels": lambda X, k, start, seed: lloyd(X, k, means(X, start, k), seed),
    "Lloyd, random rows": lambda X, k, _, seed: lloyd(X, k, "random", seed),
    "faiss": lambda X, k, _, seed: faiss_kmeans(X, k, seed),
    "scikit-learn": lambda X, k, _, seed: scikit_learn(X, k, seed),
    "scikit-learn, best of 10": lambda X, k, _, seed: scikit_learn(X, k, seed, n_init=10),
    "scikit-learn after PCA": lambda X, k, _, seed: after_pca(X, k, seed),
    "single moves, random labels": lambda X, k, start, seed: plain_moves(X, k, start, seed),
    "single moves, k-means++": lambda X, k, _, seed: plain_moves(X, k, "k-means++", seed),
    "boostkmeans": lambda X, k, _, seed: defaults(X, k, seed),
}
