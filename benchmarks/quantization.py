"""Benchmarks of quantizers for vector search: training, encoding, search and inverted lists."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import data
from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, metrics
from data import Array
from environment import N_THREADS, Json
from measure import interleaved, median, timed
from result_files import save_result

SUBSPACES = (8, 16)
# Number of neighbours that a search among codes returns.
NEIGHBOURS = 100
# Number of inverted lists (clusters of the coarse quantizer).
N_LISTS = 4096
# Shares of all rows that a search in inverted lists scans.
BUDGETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
N_TRAINING = 100_000
N_QUERIES = 1000


def training_data() -> tuple[str, Array, Array]:
    """Return a name, 100,000 training rows and 1,000 queries, as uint8."""
    found = data.photosift_training(N_TRAINING, N_QUERIES)
    if found is None:
        X = data.synthetic_descriptors(N_TRAINING + N_QUERIES, seed=1).astype(np.uint8)
        return "synthetic, normal 100000 x 128", X[:N_TRAINING], X[N_TRAINING:]
    return "PhotoSIFT, 100000 x 128 for training", *found


def boosted_training(X: Array, m: int, clusterer: Any = None) -> Json:
    """Train a product quantizer, and return its mean squared error on the training rows."""
    made = ProductQuantizer(m, clusterer=clusterer, random_state=0, n_threads=N_THREADS).fit(X)
    return {"distortion": made.distortion_}


def faiss_quantizer(X: Array, m: int) -> Any:
    """Train faiss's product quantizer for 25 iterations on all rows."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    quantizer = faiss.ProductQuantizer(X.shape[1], m, 8)
    quantizer.cp.niter = 25
    quantizer.cp.max_points_per_centroid = len(X)
    quantizer.train(X)
    return quantizer


def faiss_training(X: Array, m: int) -> Json:
    """Return the training time of faiss alone, and its mean squared error."""
    seconds, quantizer = timed(partial(faiss_quantizer, X, m))
    gaps = X - quantizer.decode(quantizer.compute_codes(X))
    return {"training": seconds, "distortion": float((gaps.astype(np.float64) ** 2).sum() / len(X))}


def quantizer_training() -> None:
    """Compare the training of product quantizers, 100,000 x 128: time and distortion."""
    name, X, _ = training_data()
    floats = X.astype(np.float32)
    fast = partial(BoostKMeans, quality="fast")
    found: Json = {}
    for m in SUBSPACES:
        train = partial(boosted_training, floats, m)
        contestants: dict[str, Callable[[], Json]] = {
            "faiss.ProductQuantizer, 25 iterations": partial(faiss_training, floats, m),
            "boostkmeans (default)": train,
            "boostkmeans (tol=2e-3)": partial(train, fast(tol=2e-3)),
            "boostkmeans (tol=4e-3)": partial(train, fast(tol=4e-3)),
            'boostkmeans (BoostKMeans(quality="balanced"))': partial(train, BoostKMeans()),
            "boostkmeans (BisectingBoostKMeans())": partial(train, BisectingBoostKMeans()),
        }
        runs = interleaved(contestants, repeats=5)
        found[str(m)] = {
            contestant: {
                "seconds": median([run["training" if "training" in run else "seconds"] for run in some]),
                "distortion": some[0]["distortion"],
            }
            for contestant, some in runs.items()
        }
    save_result("quantizer_training", {"data": name, "subspaces": found})


def quantizer_use() -> None:
    """Compare encoding of 1,000,000 x 128, and search among these codes, with equal codebooks."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    name, X, queries = training_data()
    _, base = data.sift(1_000_000)
    found: Json = {}
    for m in SUBSPACES:
        quantizer = ProductQuantizer(m, random_state=0, n_threads=N_THREADS).fit(X)
        index = faiss.IndexPQ(128, m, 8)
        faiss.copy_array_to_vector(quantizer.codebooks_.ravel(), index.pq.centroids)
        index.is_trained = True
        found[str(m)] = {
            **encoding_figures(quantizer, index, base),
            **search_figures(quantizer, index, base, queries.astype(np.float32)),
        }
    save_result("quantizer_use", {"data": f"{name}, 1000000 x 128 to encode", "subspaces": found})


def encoding_figures(quantizer: ProductQuantizer, index: Any, base: Array) -> Json:
    """Return the times of encoding, and the share of equal codes."""
    codes: dict[str, Array] = {}

    def encode(name: str, function: Callable[[Array], Array]) -> Json:
        codes[name] = function(base)
        return {}

    runs = interleaved({
        "faiss": partial(encode, "faiss", index.sa_encode),
        "boostkmeans": partial(encode, "boostkmeans", quantizer.encode),
    })  # fmt: skip
    same = float((codes["faiss"] == codes["boostkmeans"]).mean())
    return {"encoding": median_seconds(runs), "same_codes": same}


def search_figures(quantizer: ProductQuantizer, index: Any, base: Array, queries: Array) -> Json:
    """Return the times of search, and how far the neighbours agree."""
    codes = quantizer.encode(base)
    index.add_sa_codes(codes)
    results: dict[str, Any] = {}

    def theirs() -> Json:
        results["faiss"] = index.search(queries, NEIGHBOURS)
        return {}

    def own() -> Json:
        results["boostkmeans"] = quantizer.search(queries, codes, NEIGHBOURS)
        return {}

    runs = interleaved({"faiss": theirs, "boostkmeans": own})
    (distances, ids), found = results["faiss"], results["boostkmeans"]
    differences = np.abs(distances - found.distances) / found.distances
    return {
        "searching": median_seconds(runs),
        "same_neighbours": float((ids == found.indices).mean()),
        "largest_difference_of_distances": float(differences.max()),
    }


def median_seconds(runs: dict[str, list[Json]]) -> Json:
    """Return the median time of each contestant."""
    return {name: median([run["seconds"] for run in some]) for name, some in runs.items()}


def recall_by_budget(labels: Array, order: Array, truth: Array) -> list[float]:
    """Return the share of the true neighbours that a search finds, by the share of rows it scans.

    A search scans whole inverted lists, starting with the list of the nearest centre. Recall and number
    of scanned rows are averaged over the queries for each number of lists, and interpolated linearly.

    Parameters
    ----------
    labels : array of shape (n_rows,)
        Inverted list of each row.
    order : array of shape (n_queries, n_lists)
        Lists by distance of their centre to the query, nearest first.
    truth : array of shape (n_queries, 10)
        Rows that are the true neighbours of each query.
    """
    n_lists = order.shape[1]
    scanned = np.cumsum(np.bincount(labels, minlength=n_lists)[order], axis=1).mean(axis=0)
    rank = np.argsort(order, axis=1)
    # Number of lists that are scanned before the list of a true neighbour.
    needed = np.take_along_axis(rank, labels[truth], axis=1)
    recall = np.cumsum(np.bincount(needed.ravel(), minlength=n_lists)) / needed.size
    return [float(np.interp(budget * len(labels), scanned, recall)) for budget in BUDGETS]


def faiss_centres(X: Array, seed: int) -> Array:
    """Return the centres of faiss.Kmeans with its 10 iterations for inverted lists, on all rows."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    found = faiss.Kmeans(X.shape[1], N_LISTS, niter=10, seed=seed, max_points_per_centroid=len(X))
    found.train(X)
    return np.asarray(found.centroids)


def superkmeans_centres(X: Array, seed: int) -> Array:
    """Return the centres of superkmeans with its defaults."""
    from superkmeans import SuperKMeans

    made = SuperKMeans(
        n_clusters=N_LISTS, dimensionality=X.shape[1], n_threads=N_THREADS, seed=seed + 42
    )
    return np.asarray(made.train(X))


def boosted_centres(X: Array, seed: int, **parameters: Any) -> Array:
    """Return the centres of BoostKMeans."""
    made = BoostKMeans(N_LISTS, random_state=seed, n_threads=N_THREADS, **parameters).fit(X)
    return made.cluster_centers_


def coarse_quantizers() -> None:
    """Compare inverted lists, 1,000,000 x 128, k = 4,096: recall@10 at equal numbers of scanned rows."""
    _, _, queries = training_data()
    name, base = data.sift(1_000_000)
    truth = metrics.exact_neighbors(base, queries, 10, n_threads=N_THREADS).indices
    contestants: dict[str, Callable[[Array, int], Array]] = {
        "faiss.Kmeans, 10 iterations": faiss_centres,
        "superkmeans": superkmeans_centres,
        'boostkmeans (quality="fast")': partial(boosted_centres, quality="fast"),
        "boostkmeans (default)": boosted_centres,
    }
    rows = []
    for contestant, make in contestants.items():
        for seed in range(2):
            seconds, centres = timed(partial(make, base, seed))
            figures = inverted_list_figures(centres, base, queries, truth)
            rows.append({"name": contestant, "seed": seed, "seconds": seconds, **figures})
            print(f"  {contestant}: {seconds:.1f} s, {figures}", flush=True)
    save_result("coarse_quantizers", {"data": name, "k": N_LISTS, "budgets": BUDGETS, "rows": rows})


def inverted_list_figures(centres: Array, base: Array, queries: Array, truth: Array) -> Json:
    """Return recall, distortion and imbalance of the inverted lists of some centres."""
    assigned = metrics.exact_neighbors(centres, base, 1, n_threads=N_THREADS)
    labels = assigned.indices[:, 0]
    order = metrics.exact_neighbors(centres, queries, N_LISTS, n_threads=N_THREADS).indices
    return {
        "recall": recall_by_budget(labels, order, truth),
        "distortion": float(assigned.distances.mean()),
        "imbalance": metrics.size_imbalance(labels, n_clusters=N_LISTS),
    }


BENCHMARKS = [quantizer_training, quantizer_use, coarse_quantizers]
