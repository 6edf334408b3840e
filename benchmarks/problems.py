"""The problems of the comparison with other libraries: rows and a number of clusters."""

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.feature_extraction.text import TfidfTransformer

import data
from data import Array, shared_folder

CACHE = Path(tempfile.gettempdir()) / "boostkmeans-benchmarks"
# Key of the cached rows. It changes with this file, and if real data becomes available or disappears.
VERSION = hashlib.sha256(Path(__file__).read_bytes() + bytes(shared_folder().exists())).hexdigest()[:8]
# Seconds (one day) after which unused rows of other versions are deleted.
UNUSED_SECONDS = 86_400.0


@dataclass(frozen=True)
class Problem:
    """A data set, a number of clusters and a time limit."""

    name: str
    k: int
    make: Callable[[], tuple[str, Any]]
    """Function that returns a description of the rows, and the rows."""
    limit: float = 60.0
    """Time limit of a contestant, in seconds."""
    kind: str = "dense"
    file: str = ""
    """Name of the cached file, for problems that share their rows."""
    family: str = ""
    """Name of problems of the same data, maybe with fewer rows."""

    def path(self) -> Path:
        """Return the file with the rows; create it if necessary."""
        end = "npz" if self.kind == "sparse" else "npy"
        name = (self.file or self.name).replace(" ", "_").replace(",", "")
        path = cache_folder() / f"{name}.{end}"
        if not path.exists():
            origin, rows = self.make()
            unfinished = path.with_name("unfinished." + end)
            if self.kind == "sparse":
                sparse.save_npz(unfinished, rows, compressed=False)
            else:
                np.save(unfinished, np.ascontiguousarray(rows, dtype=np.float32))
            path.with_suffix(".txt").write_text(origin)
            unfinished.rename(path)
        return path

    def origin(self) -> str:
        """Return a description of the rows."""
        return self.path().with_suffix(".txt").read_text()

    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        if self.kind == "sparse":
            n, d = self.rows().shape
        else:
            n, d = np.load(self.path(), mmap_mode="r").shape
        return int(n), int(d)

    def rows(self) -> Any:
        """Load the rows into memory."""
        return load_rows(self.path())


def load_rows(path: Path) -> Any:
    """Load rows from a cached file."""
    return sparse.load_npz(path) if path.suffix == ".npz" else np.load(path)


def cache_folder() -> Path:
    """Return the cache folder of this version, and delete unused folders of other versions."""
    folder = CACHE / VERSION
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for old in CACHE.iterdir():
            if time.time() - old.stat().st_atime > UNUSED_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
    return folder


def blobs(n: int, d: int, k: int, std: float) -> tuple[str, Array]:
    """Return normal clusters of equal size and shape."""
    X = make_blobs(n, d, centers=k, cluster_std=std, random_state=0)[0]
    return f"synthetic, {k} blobs, standard deviation {std:g}", X.astype(np.float32)


def normal(n: int, d: int) -> tuple[str, Array]:
    """Return normal rows, which have no clusters."""
    X = np.random.default_rng(0).normal(size=(n, d))
    return "synthetic, normal, no clusters", X.astype(np.float32)


def uniform(n: int, d: int) -> tuple[str, Array]:
    """Return uniform rows, which have no clusters."""
    X = np.random.default_rng(0).random((n, d))
    return "synthetic, uniform, no clusters", X.astype(np.float32)


def embeddings(n: int, d: int, topics: int = 2000) -> tuple[str, Array]:
    """Return unit vectors with a falling spectrum around topics with Zipf-distributed sizes."""
    rng = np.random.default_rng(0)
    spectrum = np.arange(1, d + 1, dtype=np.float32) ** -0.5
    shares = 1 / np.arange(1, topics + 1)
    of = rng.choice(topics, size=n, p=shares / shares.sum())
    centres = rng.normal(size=(topics, d)).astype(np.float32) * spectrum
    X = centres[of] + 0.8 * rng.normal(size=(n, d)).astype(np.float32) * spectrum
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    origin = f"synthetic, embedding-like, unit length, {topics} topics with Zipf-distributed sizes"
    return origin, X


def wordnet() -> tuple[str, Array]:
    """Return real sentence embeddings, or synthetic ones of the same shape."""
    return data.wordnet() or embeddings(81_000, 512)


def birch() -> tuple[str, Array]:
    """Return birch1: two features, 100 clusters on a grid."""
    if not data.tabular_file().exists():
        return blobs(100_000, 2, 100, 0.3)
    return "birch1 (benchmark data set)", data.tabular("birch1")[0].astype(np.float32)


def newsgroups(name: str = "20Newsgroups_cai") -> tuple[str, Any]:
    """Return TF-IDF rows of unit length of a text collection, or synthetic documents."""
    path = shared_folder() / "text" / f"{name}.npz"
    if not path.exists():
        return documents(18_846, 26_214, 90, 20)
    return name, tfidf_rows(path)


def cluto(name: str) -> tuple[str, Any]:
    """Return TF-IDF rows of unit length of one of CLUTO's data sets, or synthetic documents."""
    path = shared_folder() / "cluto" / f"{name}.npz"
    if not path.exists():
        return documents(7000, 40_000, 60, 10)
    return f"CLUTO's {name}", tfidf_rows(path)


def tfidf_rows(path: Path) -> Any:
    """Return TF-IDF rows of unit length from a file of term counts."""
    counts = sparse.csr_matrix(sparse.load_npz(path))
    return TfidfTransformer().fit_transform(counts).astype(np.float32)


def documents(n: int, d: int, n_drawn: int, n_topics: int) -> tuple[str, Any]:
    """Return synthetic documents of `n_drawn` terms each, as TF-IDF rows of unit length.

    Term frequencies follow Zipf's law. Half of the terms are ranked in the same order for all documents,
    the other half in an order that depends on the topic.
    """
    rng = np.random.default_rng(0)
    law = np.cumsum(1 / np.arange(1, d + 1))
    topics = rng.integers(n_topics, size=n)
    ranks = np.searchsorted(law / law[-1], rng.random((n, n_drawn)))
    steps, offsets = 2 * rng.integers(1, d, size=n_topics) + 1, rng.integers(d, size=n_topics)
    of_topic = (ranks * steps[topics][:, None] + offsets[topics][:, None]) % d
    columns = np.where(rng.random((n, n_drawn)) < 0.5, of_topic, ranks)
    starts = np.arange(0, n * n_drawn + 1, n_drawn)
    values = np.ones(n * n_drawn, dtype=np.float32)
    X = sparse.csr_matrix((values, columns.ravel().astype(np.int32), starts), shape=(n, d))
    X.sum_duplicates()
    X = TfidfTransformer().fit_transform(X).astype(np.float32)
    return f"synthetic, {n:,} documents of {n_topics} topics, {d:,} terms", X


def sift(n: int, k: int, limit: float = 30.0) -> Problem:
    """Return a problem with SIFT descriptors, which have no clear clusters."""
    name, make = f"SIFT {n:,} x 128, k={k:,}", partial(data.sift, n)
    return Problem(name, k, make, limit, file=f"sift {n}", family="sift")


def shared(name: str, k: int, make: Callable[[], tuple[str, Any]], limit: float, file: str) -> Problem:
    """Return a problem whose rows other problems have, too."""
    return Problem(name, k, make, limit, file=file, family=file)


PROBLEMS = [
    Problem("blobs 10,000 x 8, k=8", 8, partial(blobs, 10_000, 8, 8, 3.0)),
    Problem("birch1 100,000 x 2, k=100", 100, birch),
    Problem("uniform 100,000 x 2, k=1,000", 1000, partial(uniform, 100_000, 2)),
    Problem("blobs 100,000 x 32, k=64", 64, partial(blobs, 100_000, 32, 64, 1.0)),
    Problem("normal 10,000 x 64, k=500", 500, partial(normal, 10_000, 64)),
    Problem("normal 1,000,000 x 16, k=16", 16, partial(normal, 1_000_000, 16)),
    Problem("blobs 10,000,000 x 8, k=32", 32, partial(blobs, 10_000_000, 8, 64, 3.0)),
    shared("MNIST 70,000 x 784, k=10", 10, data.mnist, 60.0, "mnist"),
    shared("MNIST 70,000 x 784, k=100", 100, data.mnist, 30.0, "mnist"),
    shared("MNIST 70,000 x 784, k=1,000", 1000, data.mnist, 30.0, "mnist"),
    shared("WordNet embeddings 81,000 x 512, k=100", 100, wordnet, 30.0, "wordnet"),
    shared("WordNet embeddings 81,000 x 512, k=1,000", 1000, wordnet, 30.0, "wordnet"),
    Problem("embeddings 50,000 x 1,536, k=100", 100, partial(embeddings, 50_000, 1536), 30.0),
    Problem("embeddings 100,000 x 768, k=2,000", 2000, partial(embeddings, 100_000, 768), 45.0),
    sift(10_000, 256),
    sift(100_000, 256),
    sift(1_000_000, 256),
    sift(100_000, 1024),
    sift(100_000, 4096),
    sift(1_000_000, 10_000, 120.0),
    sift(1_000_000, 100_000, 240.0),
    Problem("classic, k=8", 8, partial(cluto, "classic"), kind="sparse"),
    Problem("20 newsgroups, k=20", 20, newsgroups, kind="sparse", file="newsgroups",
            family="newsgroups"),
    Problem("20 newsgroups, k=200", 200, newsgroups, kind="sparse", file="newsgroups",
            family="newsgroups"),
    Problem("TDT2, k=30", 30, partial(newsgroups, "TDT2_top30"), kind="sparse"),
    Problem("documents 200,000 x 50,000, k=100", 100, partial(documents, 200_000, 50_000, 60, 300),
            60.0, "sparse"),
]  # fmt: skip
