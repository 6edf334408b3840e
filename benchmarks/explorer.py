"""Benchmark of the cluster explorer: size of a page, time to create it, and quality of the layout."""

import gzip
import time
from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

import data
from boostkmeans import BoostKMeans, explore
from boostkmeans.explore._layout.placing import place_rows
from boostkmeans.explore._measures.explored_rows import ExploredRows
from data import Array
from environment import N_THREADS, Json
from isolated import isolated
from measure import timed
from result_files import save_result

# Numbers of rows and of clusters of the pages.
PAGES = ((1_000, 20), (100_000, 200), (1_000_000, 1000))
# Number of rows and of clusters of the comparison of layouts, and number of compared neighbours.
LAYOUT_ROWS, LAYOUT_CLUSTERS, NEIGHBOURS = 20_000, 200, 10


def explorer() -> None:
    """Create pages of 1,000 to 1,000,000 rows, with and without texts."""
    found = []
    for n, k in PAGES:
        for with_texts in (False, True):
            outcome = isolated(create_page, n, k, with_texts, limit=None)
            figures = {**outcome.unwrap(), "peak_megabytes": outcome.peak_megabytes}
            found.append({"n": n, "k": k, "texts": with_texts, **figures})
            print(f"  {found[-1]}", flush=True)
    save_result("explorer", {"data": data.sift(1)[0].replace(" 1 x 128", ""), "pages": found})


def create_page(n: int, k: int, with_texts: bool) -> Json:
    """Return the size of a page and the seconds that it takes. The fit is not measured."""
    _, X = data.sift(n)
    model = BoostKMeans(k, quality="fast", random_state=0, n_threads=N_THREADS).fit(X)
    texts = some_texts(n) if with_texts else None
    began = time.perf_counter()
    steps: dict[str, float] = {}

    def note(what: str, done: int, total: int | None) -> None:
        steps.setdefault(what, time.perf_counter() - began)

    seconds, page = timed(
        lambda: explore.page(model, X, texts=texts, n_threads=N_THREADS, progress=note)
    )
    return {"seconds": seconds, "megabytes": len(page.html.encode()) / 1e6, "step_starts": steps}


def some_texts(n: int) -> list[str]:
    """Return n texts: WordNet's glosses, repeated, or synthetic ones without the file."""
    path = data.shared_folder() / "embeddings" / "wordnet_glosses.txt.gz"
    if not path.exists():
        return [f"synthetic text number {i} about topic {i % 1000}" for i in range(n)]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        glosses = [line.rstrip("\n") for line in file]
    return [glosses[i % len(glosses)] for i in range(n)]


def explorer_layout() -> None:
    """Compare the layout with PCA and with t-SNE of all rows: share of neighbours that are preserved."""
    found = data.wordnet()
    name, X = found if found is not None else data.mnist()
    X = X[:LAYOUT_ROWS]
    model = BoostKMeans(LAYOUT_CLUSTERS, random_state=0, n_threads=N_THREADS).fit(X)
    near = neighbours(X)
    rows = ExploredRows(model, X, N_THREADS)
    layouts: dict[str, Callable[[], Array]] = {
        "PCA": lambda: PCA(2, random_state=0).fit_transform(X),
        "explorer": lambda: place_rows(rows, model.labels_, 0, lambda *_: None),
        "t-SNE of all rows": lambda: TSNE(2, random_state=0, n_jobs=N_THREADS).fit_transform(X),
    }
    figures = {}
    for layout, compute in layouts.items():
        on_map = neighbours(compute())
        figures[layout] = {
            "preserved": preserved(near, on_map),
            "same_cluster": float((model.labels_[on_map] == model.labels_[:, None]).mean()),
        }
        print(f"  {layout}: {figures[layout]}", flush=True)
    save_result(
        "explorer_layout",
        {
            "data": f"{name}, the first {LAYOUT_ROWS:,} rows",
            "k": LAYOUT_CLUSTERS,
            "neighbours": NEIGHBOURS,
            "same_cluster": float((model.labels_[near] == model.labels_[:, None]).mean()),
            "layouts": figures,
        },
    )


def neighbours(points: Array) -> Array:
    """Return the nearest other rows of each row."""
    search = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(points)
    found = search.kneighbors(points, return_distance=False)
    # A row is usually the nearest one of itself. Among equal rows, it may be missing.
    is_itself = found == np.arange(len(points))[:, None]
    is_itself[~is_itself.any(axis=1), -1] = True
    others: Array = found[~is_itself].reshape(len(points), NEIGHBOURS)
    return others


def preserved(near: Array, on_map: Array) -> float:
    """Return the share of neighbours that are also neighbours on the map."""
    common = [len(np.intersect1d(a, b)) for a, b in zip(near, on_map, strict=True)]
    return float(np.mean(common)) / NEIGHBOURS


BENCHMARKS = [explorer, explorer_layout]
