"""Benchmarks of the assignment to several clusters, and of silhouettes."""

import numpy as np

import data
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.metrics import silhouette, simplified_silhouette
from environment import N_THREADS, Json
from measure import interleaved, median
from result_files import save_result

N_ROWS = 1_000_000
N_QUERIES = 10_000
N_CLUSTERS = 100_000
# Number of nearest clusters.
M = 10
CANDIDATES = (1024, 4096, 16_384)
# Number of queries whose nearest centres are found by float64 distances to all centres.
N_CHECKED = 200
# Rows and clusters of the silhouettes.
N_SILHOUETTE = 20_000
K_SILHOUETTE = 50


def many_nearest_clusters() -> None:
    """Compare predict_many, k = 100,000, m = 10, with faiss IndexFlatL2: time and recall."""
    import faiss

    faiss.omp_set_num_threads(N_THREADS)
    name, X = data.sift(N_ROWS)
    found = data.photosift_training(1, N_QUERIES)
    queries = X[-N_QUERIES:] if found is None else found[1].astype(np.float32)
    model = BisectingBoostKMeans(N_CLUSTERS, n_threads=N_THREADS, random_state=0).fit(X)
    centres = model.cluster_centers_.astype(np.float32)
    model.cluster_centers_ = centres.astype(np.float64)  # both search the same points
    index = faiss.IndexFlatL2(centres.shape[1])
    index.add(centres)
    labels: dict[str, data.Array] = {}

    def ours(n_candidates: int | None, way: str) -> Json:
        labels[way] = model.predict_many(queries, M, n_candidates=n_candidates)[1]
        return {}

    def theirs(way: str) -> Json:
        labels[way] = index.search(queries, M)[1]
        return {}

    exact, flat = "`predict_many(X, 10)`", "faiss `IndexFlatL2`"
    runs = interleaved(
        {
            exact: lambda: ours(None, exact),
            flat: lambda: theirs(flat),
            **{way_of(n): lambda n=n: ours(n, way_of(n)) for n in CANDIDATES},  # type: ignore[misc]
        }
    )
    truth = nearest_centres(queries[:N_CHECKED], centres)
    save_result(
        "many_nearest_clusters",
        {
            "data": f"{name}; {len(queries):,} queries from other photographs",
            "k": N_CLUSTERS,
            "m": M,
            "n_queries": len(queries),
            "n_checked": N_CHECKED,
            "ways": {
                way: {
                    "seconds": median([run["seconds"] for run in of]),
                    "recall": recall(labels[way][:N_CHECKED], truth),
                    "same_order": float((labels[way][:N_CHECKED] == truth).all(axis=1).mean()),
                }
                for way, of in runs.items()
            },
        },
    )


def way_of(n_candidates: int) -> str:
    """Return the name of an approximate search."""
    return f"`n_candidates={n_candidates}`"


def nearest_centres(queries: data.Array, centres: data.Array) -> data.Array:
    """Return the nearest centres by differences in float64. Ties go to the lower index."""
    points = centres.astype(np.float64)
    found = []
    for query in queries.astype(np.float64):
        gaps = np.square(points - query).sum(axis=1)
        found.append(np.argsort(gaps, kind="stable")[:M])
    return np.array(found)


def recall(labels: data.Array, truth: data.Array) -> float:
    """Return the share of the true nearest centres that were found."""
    return float((labels[:, :, None] == truth[:, None, :]).any(axis=1).mean())


def exact_silhouette() -> None:
    """Compare the silhouettes with scikit-learn's: 20,000 x 128, k = 50."""
    from sklearn.metrics import silhouette_samples

    name, X = data.sift(N_SILHOUETTE)
    model = BoostKMeans(K_SILHOUETTE, n_threads=N_THREADS, random_state=0).fit(X)
    labels, rows = model.labels_, X.astype(np.float64)
    values: dict[str, data.Array] = {}

    def measured(way: str, samples: data.Array) -> Json:
        values[way] = samples
        return {"mean": float(samples.mean())}

    ours, theirs = "`metrics.silhouette`", "scikit-learn `silhouette_samples`"
    simplified = "`metrics.simplified_silhouette`"
    runs = interleaved(
        {
            ours: lambda: measured(ours, silhouette(rows, labels, n_threads=N_THREADS).samples),
            theirs: lambda: measured(theirs, silhouette_samples(rows, labels)),
            simplified: lambda: measured(simplified, simplified_silhouette(X, model).samples),
        }
    )
    save_result(
        "exact_silhouette",
        {
            "data": name,
            "k": K_SILHOUETTE,
            "largest_difference": float(np.abs(values[ours] - values[theirs]).max()),
            "correlation": float(np.corrcoef(values[ours], values[simplified])[0, 1]),
            "ways": {
                way: {"seconds": median([run["seconds"] for run in of]), "mean": of[0]["mean"]}
                for way, of in runs.items()
            },
        },
    )


BENCHMARKS = [many_nearest_clusters, exact_silhouette]
