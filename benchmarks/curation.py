"""Benchmarks of curation: near duplicates against other libraries, and samples of WordNet's glosses."""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import faiss
import numpy as np

import data
from boostkmeans import BisectingBoostKMeans
from boostkmeans.curate import coverage, deduplicate, fit_levels, sample
from data import Array
from environment import N_THREADS, Json, version_of
from measure import timed
from process_memory import megabytes, reset_peak
from result_files import save_result

THRESHOLDS = (0.9, 0.95, 0.99)
# Share of the rows to which a near duplicate is added, and the cosines of these copies.
PLANTED_SHARE = 0.1
PLANTED_COSINES = (0.86, 0.93, 0.97, 0.995)
# The synthetic rows: topics with Zipf-distributed sizes, and a spectrum that decays like that of
# embeddings.
N_MILLION = 1_000_000
N_FEATURES, N_TOPICS, DECAY, SPREAD = 128, 2000, 0.6, 0.9
# Rows that are compared with all rows of the million.
N_CHECKED = 2000
# Bound on the error of an inner product of unit rows in float32.
FLOAT32_ERROR = 1e-5
# Queries of faiss among the million, from whose time that of all rows is extrapolated.
N_QUERIES = 5000
# Numbers of nearest clusters with which a cluster is compared.
NEIGHBOURS = (0, 8, 64)
# Samples of WordNet: shares of the rows, number of clusters, levels and seeds.
SHARES = (0.01, 0.05, 0.1)
N_CLUSTERS, LEVELS, N_SEEDS = 2000, (20, 200), 5
# Numbers of resamplings of `fit_levels`.
RESAMPLINGS = (0, 5)


def near_duplicates() -> None:
    """Find near duplicates of WordNet's glosses with planted copies, with three libraries."""
    found = data.wordnet()
    assert found is not None, "the embeddings of WordNet are needed"
    name, rows = found
    X = with_copies(rows, seed=0)
    seconds, pairs = timed(lambda: faiss_pairs(X, X, min(THRESHOLDS) - FLOAT32_ERROR))
    print(f"  faiss: {seconds:.1f} s", flush=True)
    results = []
    for threshold in THRESHOLDS:
        n_true = count_true(X, pairs, threshold)
        ours = timed_search(X, threshold)
        results.append({**ours, "n_pairs": n_true, "recall": ours["n_found"] / n_true})
    save_result(
        "near_duplicates",
        {
            "data": f"{name}, and {len(X) - len(rows)} near duplicates of these rows",
            "faiss_seconds": seconds,
            "results": results,
        },
    )


def near_duplicates_of_a_million() -> None:
    """Find all near duplicates of 1,000,000 synthetic rows."""
    X = million_rows()
    seconds, _ = timed(lambda: faiss_pairs(X[:N_QUERIES], X, min(THRESHOLDS)))
    print(f"  faiss: {seconds:.1f} s for {N_QUERIES} queries", flush=True)
    results = [timed_search(X, threshold, n_checked=N_CHECKED) for threshold in THRESHOLDS]
    save_result(
        "near_duplicates_of_a_million",
        {
            "data": f"synthetic, {N_TOPICS:,} topics, {len(X)} x {N_FEATURES}, with near duplicates",
            "faiss_seconds": seconds * len(X) / N_QUERIES,
            "n_queries": N_QUERIES,
            "n_checked": N_CHECKED,
            "results": results,
        },
    )


def near_duplicates_in_neighbouring_clusters() -> None:
    """Find most near duplicates of the same rows, in neighbouring clusters."""
    X, threshold = million_rows(), min(THRESHOLDS)
    results = [timed_search(X, threshold, n, n_checked=N_CHECKED) for n in NEIGHBOURS]
    save_result("near_duplicates_in_neighbouring_clusters", {"results": results})


def million_rows() -> Array:
    """Return synthetic rows, of which some are near duplicates."""
    return with_copies(synthetic_rows(int(N_MILLION / (1 + PLANTED_SHARE)), seed=1), seed=1)


def balanced_samples() -> None:
    """Draw samples of WordNet's glosses, and count their classes."""
    found = data.wordnet()
    assert found is not None, "the embeddings of WordNet are needed"
    name, X = found
    with np.load(data.shared_folder() / "embeddings" / "wordnet_use512.npz") as arrays:
        classes = arrays["labels"].astype(np.int64)
    methods = sampling_methods(X)
    results = []
    for share in SHARES:
        n = round(share * len(X))
        for method, drawn in methods.items():
            figures = [class_figures(classes, drawn(n, seed)) for seed in range(N_SEEDS)]
            means = {key: float(np.mean([one[key] for one in figures])) for key in figures[0]}
            results.append({"share": share, "n": n, "method": method, **means})
            print(f"  {results[-1]}", flush=True)
    everything = class_figures(classes, np.arange(len(X)))
    save_result(
        "balanced_samples",
        {
            "data": name,
            "n_classes": len(np.unique(classes)),
            "n_clusters": N_CLUSTERS,
            "levels": list(LEVELS),
            "n_seeds": N_SEEDS,
            "all_rows": everything,
            "results": results,
        },
    )


def sampling_methods(X: Array) -> dict[str, Callable[[int, int], Array]]:
    """Return functions that draw a number of rows with a seed."""
    tree = BisectingBoostKMeans(N_CLUSTERS, random_state=0).fit(X)
    methods: dict[str, Callable[[int, int], Array]] = {
        "uniform": partial(draw, tree, method="uniform"),
        "hierarchical, tree": partial(draw, tree, levels=LEVELS),
        "diverse, tree": partial(draw, tree, method="diverse", levels=LEVELS, X=X),
    }
    for n_resample in RESAMPLINGS:
        levels = fit_levels(X, [N_CLUSTERS, *LEVELS], n_resample=n_resample, random_state=0)
        methods[f"hierarchical, `fit_levels`, {n_resample} resamplings"] = partial(draw, levels)
    return methods


def draw(model: Any, n: int, seed: int, **settings: Any) -> Array:
    """Draw a number of rows with a seed."""
    return sample(model, n, random_state=seed, **settings)


def class_figures(classes: Array, rows: Array) -> Json:
    """Return the number of classes, their entropy, and the share of the largest."""
    after = coverage(classes, rows).after
    return {
        "n_classes": after.n_clusters,
        "entropy": after.entropy,
        "largest_share": after.largest_share,
    }


def with_copies(rows: Array, seed: int) -> Array:
    """Return rows of unit length, followed by near duplicates of some of them."""
    rng = np.random.default_rng(seed)
    X = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    chosen = X[rng.choice(len(X), round(PLANTED_SHARE * len(X)), replace=False)]
    noise = rng.normal(size=chosen.shape).astype(np.float32)
    noise -= (noise * chosen).sum(axis=1, keepdims=True) * chosen
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    cosines = rng.choice(np.array(PLANTED_COSINES, dtype=np.float32), size=(len(chosen), 1))
    copies = cosines * chosen + np.sqrt(1 - cosines**2) * noise
    return np.ascontiguousarray(np.concatenate([X, copies]), dtype=np.float32)


def synthetic_rows(n: int, seed: int) -> Array:
    """Return rows around topics."""
    rng = np.random.default_rng(seed)
    scales = (np.arange(1, N_FEATURES + 1) ** -DECAY).astype(np.float32)
    topics = rng.normal(size=(N_TOPICS, N_FEATURES)).astype(np.float32) * scales
    shares = 1 / np.arange(1, N_TOPICS + 1)
    labels = rng.choice(N_TOPICS, n, p=shares / shares.sum())
    noise = rng.standard_normal(size=(n, N_FEATURES), dtype=np.float32)
    return np.asarray(topics[labels] + SPREAD * scales * noise)


def timed_search(
    X: Array, threshold: float, n_neighbours: int | None = None, *, n_checked: int = 0
) -> Json:
    """Return the seconds, the number of pairs and the memory of `deduplicate`.

    With `n_checked`, return the recall of pairs of rows that are compared with all rows. The seconds end
    before this comparison.
    """
    reset_peak()
    before = megabytes("VmRSS")
    began = time.perf_counter()
    ends: list[tuple[float, float]] = []

    def note_end(what: str, done: int, total: int | None) -> None:
        if what == "checking pairs" and not ends:
            ends.append((time.perf_counter(), megabytes("VmHWM")))

    found = deduplicate(
        X,
        threshold,
        n_neighbours=n_neighbours,
        n_checked=n_checked,
        n_threads=N_THREADS,
        progress=note_end,
    )
    ends.append((time.perf_counter(), megabytes("VmHWM")))
    figures: Json = {
        "threshold": threshold,
        "n_neighbours": n_neighbours,
        "seconds": ends[0][0] - began,
        "megabytes": ends[0][1] - before,
        "n_found": found.n_pairs,
        "n_kept": len(found.keep),
    }
    if n_checked:
        assert found.missed is not None
        figures["n_pairs_checked"] = found.missed.n_pairs_checked
        figures["recall"] = found.missed.recall
        figures["interval"] = list(found.missed.interval)
    print(f"  {figures}", flush=True)
    return figures


def faiss_pairs(queries: Array, X: Array, threshold: float) -> tuple[Array, Array, Array]:
    """Return all pairs of a query and a row above a threshold, by faiss' exact range search.

    They are numbers of queries, numbers of rows, and inner products in float32.
    """
    faiss.omp_set_num_threads(N_THREADS)
    index = faiss.IndexFlatIP(X.shape[1])
    index.add(X)
    limits, products, rows = index.range_search(queries, threshold)
    return np.repeat(np.arange(len(queries)), np.diff(limits.astype(np.int64))), rows, products


def count_true(X: Array, pairs: tuple[Array, Array, Array], threshold: float) -> int:
    """Return the number of pairs of different rows above a threshold, in float64 near the threshold."""
    first, second, products = (one[pairs[0] < pairs[1]] for one in pairs)
    cosines = products.astype(np.float64)
    near = np.flatnonzero(np.abs(cosines - threshold) < FLOAT32_ERROR)
    a, b = X[first[near]].astype(np.float64), X[second[near]].astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines[near] = (a * b).sum(axis=1) / lengths
    return int((cosines >= threshold).sum())


def near_duplicates_semhash() -> None:
    """Find the same near duplicates with semhash.

    The records are row numbers, and the embeddings are given, so that no model is needed.
    """
    try:
        from semhash import SemHash
    except ImportError:
        print("  semhash is not installed", file=sys.stderr)
        return
    found = data.wordnet()
    assert found is not None, "the embeddings of WordNet are needed"
    X = with_copies(found[1], seed=0)
    records = [str(i) for i in range(len(X))]
    build_seconds, index = timed(lambda: SemHash.from_embeddings(X, records, model=no_model))
    print(f"  index: {build_seconds:.1f} s", flush=True)
    results = []
    for threshold in THRESHOLDS:
        seconds, result = timed(partial(index.self_deduplicate, threshold=threshold))
        neighbours = index.index.query_threshold(index.index.vectors, threshold=threshold)
        results.append(
            {
                "threshold": threshold,
                "seconds": build_seconds + seconds,
                "n_found": count_pairs(neighbours),
                "n_kept": len(result.selected),
            }
        )
        print(f"  {results[-1]}", flush=True)
    save_result(
        "near_duplicates_semhash",
        {"data": found[0], "semhash": version_of("semhash"), "results": results},
    )


def count_pairs(neighbours: list[tuple[Array, Array]]) -> int:
    """Return the number of pairs that the lists of neighbours of all rows contain."""
    rows = np.repeat(np.arange(len(neighbours)), [len(others) for others, _ in neighbours])
    others = np.concatenate([others for others, _ in neighbours]).astype(np.int64)
    ends = np.sort(np.column_stack([rows, others])[rows != others], axis=1)
    return len(np.unique(ends, axis=0))


def no_model(*_: object, **__: object) -> Array:
    """Stand for the model of semhash, which is only needed for texts."""
    raise NotImplementedError


BENCHMARKS = [
    near_duplicates,
    near_duplicates_semhash,
    near_duplicates_of_a_million,
    near_duplicates_in_neighbouring_clusters,
    balanced_samples,
]
