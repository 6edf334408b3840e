"""Quantizers for vector search: training, encoding, search, inverted lists; against their peers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, metrics
from data import SHARED, Array, sift
from environment import N_THREADS, Json
from measure import interleaved, keep, median, timed

SUBSPACES = (8, 16)
NEIGHBOURS = 100
N_LISTS = 4096
# Shares of all rows that a search looks at.
BUDGETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


def learned() -> tuple[str, Array, Array]:
    """100,000 rows to learn from and 1,000 queries, of other photographs than the base."""
    path = SHARED / "sift" / "photosift_learn_query.npz"
    if not path.exists():
        X = np.random.default_rng(1).normal(60, 40, size=(101_000, 128)).clip(0, 255).astype(np.uint8)
        return "made: normal 100000 x 128", X[:100_000], X[100_000:]
    with np.load(path) as data:
        return "PhotoSIFT, 100000 x 128 to learn from", data["learn"], data["query"][:1000]


def ours(X: Array, m: int, clusterer: Any = None) -> Json:
    """A product quantizer, and the mean squared error of the rows that it was trained on."""
    made = ProductQuantizer(m, clusterer=clusterer, random_state=0, n_threads=N_THREADS).fit(X)
    return {"distortion": made.distortion_}


def faiss_quantizer(X: Array, m: int) -> Any:
    """All rows, 25 iterations."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    quantizer = faiss.ProductQuantizer(X.shape[1], m, 8)
    quantizer.cp.niter = 25
    quantizer.cp.max_points_per_centroid = len(X)
    quantizer.train(X)
    return quantizer


def faiss_training(X: Array, m: int) -> Json:
    """Its distortion is not part of its time: see `quantizer_training`."""
    seconds, quantizer = timed(partial(faiss_quantizer, X, m))
    gaps = X - quantizer.decode(quantizer.compute_codes(X))
    return {"training": seconds, "distortion": float((gaps.astype(np.float64) ** 2).sum() / len(X))}


def quantizer_training() -> None:
    """Product quantizers of 100,000 x 128, 256 centroids: time and distortion."""
    name, X, _ = learned()
    floats = X.astype(np.float32)
    fast = partial(BoostKMeans, quality="fast")
    found: Json = {}
    for m in SUBSPACES:
        contestants: dict[str, Callable[[], Json]] = {
            "faiss.ProductQuantizer, 25 iterations": partial(faiss_training, floats, m),
            "ours (default)": partial(ours, floats, m),
            "ours (tol=2e-3)": partial(ours, floats, m, fast(tol=2e-3)),
            "ours (tol=4e-3)": partial(ours, floats, m, fast(tol=4e-3)),
            'ours (BoostKMeans(quality="balanced"))': partial(ours, floats, m, BoostKMeans()),
            "ours (BisectingBoostKMeans())": partial(ours, floats, m, BisectingBoostKMeans()),
        }
        runs = interleaved(contestants, repeats=5)
        found[str(m)] = {
            contestant: {
                "seconds": median(
                    [run["training"] if "training" in run else run["seconds"] for run in many]
                ),
                "distortion": many[0]["distortion"],
            }
            for contestant, many in runs.items()
        }
    keep("quantizer_training", {"data": name, "subspaces": found})


def _medians(runs: dict[str, list[Json]]) -> Json:
    return {who: median([run["seconds"] for run in many]) for who, many in runs.items()}


def _counted(encode: Callable[[Array], Array], rows: Array) -> Json:
    return {"n": len(encode(rows))}


def quantizer_use() -> None:
    """Encoding 1,000,000 x 128, and search among these codes, by the same codebooks."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    name, X, queries = learned()
    _, base = sift(1_000_000)
    asked = queries.astype(np.float32)
    found: Json = {}
    for m in SUBSPACES:
        quantizer = ProductQuantizer(m, random_state=0, n_threads=N_THREADS).fit(X)
        index = faiss.IndexPQ(128, m, 8)
        faiss.copy_array_to_vector(quantizer.codebooks_.ravel(), index.pq.centroids)
        index.is_trained = True
        encoders: dict[str, Callable[[Array], Array]] = {
            "faiss": index.sa_encode,
            "ours": quantizer.encode,
        }
        encoding = interleaved(
            {who: partial(_counted, encode, base) for who, encode in encoders.items()}
        )
        codes = quantizer.encode(base)
        same_codes = float((index.sa_encode(base) == codes).mean())
        index.add_sa_codes(codes)
        results: dict[str, Any] = {}

        def theirs(index: Any = index, results: dict[str, Any] = results) -> Json:
            results["faiss"] = index.search(asked, NEIGHBOURS)
            return {}

        def own(
            quantizer: Any = quantizer, codes: Array = codes, results: dict[str, Any] = results
        ) -> Json:
            results["ours"] = quantizer.search(asked, codes, NEIGHBOURS)
            return {}

        searching = interleaved({"faiss": theirs, "ours": own})
        gaps, ids = results["faiss"]
        found[str(m)] = {
            "encoding": {
                who: median([run["seconds"] for run in runs]) for who, runs in encoding.items()
            },
            "searching": {
                who: median([run["seconds"] for run in runs]) for who, runs in searching.items()
            },
            "same_codes": same_codes,
            "same_neighbours": float((ids == results["ours"].indices).mean()),
            "largest_difference_of_distances": float(
                (np.abs(gaps - results["ours"].distances) / results["ours"].distances).max()
            ),
        }
    keep("quantizer_use", {"data": f"{name}, 1000000 x 128 to encode", "subspaces": found})


def recall_by_budget(labels: Array, order: Array, truth: Array) -> list[float]:
    """Share of the true ten neighbours in the lists of the nearest centres, by rows that are looked at.

    `labels` are those of all rows, `order` has all centres for each query, the nearest first. Lists are
    read as a whole, one after the other; means over all queries, joined by lines between two numbers of
    lists.
    """
    n_lists = order.shape[1]
    scanned = np.cumsum(np.bincount(labels, minlength=n_lists)[order], axis=1).mean(axis=0)
    rank = np.argsort(order, axis=1)
    needed = np.take_along_axis(rank, labels[truth], axis=1)  # lists before that of a true neighbour
    met = np.cumsum(np.bincount(needed.ravel(), minlength=n_lists)) / needed.size
    return [float(np.interp(budget * len(labels), scanned, met)) for budget in BUDGETS]


def coarse_quantizers() -> None:
    """Inverted lists of 1,000,000 x 128, k=4,096: recall@10 at equal numbers of scanned vectors."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    _, _, queries = learned()
    name, base = sift(1_000_000)
    truth = metrics.exact_neighbors(base, queries, 10, n_threads=N_THREADS).indices

    def by_faiss(seed: int) -> Array:
        found = faiss.Kmeans(128, N_LISTS, niter=10, seed=seed, max_points_per_centroid=len(base))
        found.train(base)
        return np.asarray(found.centroids)

    def by_superkmeans(seed: int) -> Array:
        from superkmeans import SuperKMeans

        made = SuperKMeans(n_clusters=N_LISTS, dimensionality=128, n_threads=N_THREADS, seed=seed + 42)
        return np.asarray(made.train(base))

    def by_ours(seed: int, **parameters: Any) -> Array:
        made = BoostKMeans(N_LISTS, random_state=seed, n_threads=N_THREADS, **parameters).fit(base)
        return made.cluster_centers_

    contestants: dict[str, Callable[[int], Array]] = {
        "faiss.Kmeans, 10 iterations": by_faiss,
        "superkmeans": by_superkmeans,
        'ours (quality="fast")': partial(by_ours, quality="fast"),
        "ours (default)": by_ours,
    }
    rows = []
    for contestant, make in contestants.items():
        for seed in range(2):
            seconds, centres = timed(partial(make, seed))
            own = metrics.exact_neighbors(centres, base, 1, n_threads=N_THREADS)
            order = metrics.exact_neighbors(centres, queries, N_LISTS, n_threads=N_THREADS).indices
            recalls = recall_by_budget(own.indices[:, 0], order, truth)
            distortion = float(own.distances.mean())
            rows.append(
                {"name": contestant, "seed": seed, "seconds": seconds, "recall": recalls,
                 "distortion": distortion,
                 "imbalance": metrics.size_imbalance(own.indices[:, 0], n_clusters=N_LISTS)}
            )  # fmt: skip
            print(
                f"  {contestant}: {seconds:.1f} s, {distortion:.6g}, {np.round(recalls, 4)}", flush=True
            )
    keep("coarse_quantizers", {"data": name, "k": N_LISTS, "budgets": BUDGETS, "rows": rows})


FIGURES = [quantizer_training, quantizer_use, coarse_quantizers]
