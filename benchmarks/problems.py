"""What contestants meet on: rows and a number of clusters, small and large, easy and hard."""

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
from data import SHARED, Array

CACHE = Path(tempfile.gettempdir()) / "boostkmeans-benchmarks"
# Made rows depend on this file, real ones on whether they are there.
VERSION = hashlib.sha256(Path(__file__).read_bytes() + bytes(SHARED.exists())).hexdigest()[:8]
UNUSED = 86_400.0  # seconds


@dataclass(frozen=True)
class Problem:
    """One meeting."""

    name: str
    k: int
    make: Callable[[], tuple[str, Any]]
    """Where the rows come from, and the rows."""
    limit: float = 60.0
    """Seconds for one contestant."""
    kind: str = "dense"
    file: str = ""
    """The same rows for several problems."""

    def path(self) -> Path:
        """Its rows as a file, which is made if it is not there."""
        end = "npz" if self.kind == "sparse" else "npy"
        name = (self.file or self.name).replace(" ", "_").replace(",", "")
        path = cache() / f"{name}.{end}"
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
        """What the rows are."""
        return self.path().with_suffix(".txt").read_text()

    def rows(self) -> Any:
        """In memory."""
        return sparse.load_npz(self.path()) if self.kind == "sparse" else np.load(self.path())


def cache() -> Path:
    """A folder for this version; those of others go, once nobody has used them for some time."""
    folder = CACHE / VERSION
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for old in CACHE.iterdir():
            if time.time() - old.stat().st_atime > UNUSED:
                shutil.rmtree(old, ignore_errors=True)
    return folder


def blobs(n: int, d: int, k: int, std: float) -> tuple[str, Array]:
    """Normal clusters of one size and shape."""
    X = make_blobs(n, d, centers=k, cluster_std=std, random_state=0)[0]
    return f"made: {k} blobs, standard deviation {std:g}", X.astype(np.float32)


def normal(n: int, d: int) -> tuple[str, Array]:
    """Without clusters."""
    return "made: normal, no clusters", np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)


def uniform(n: int, d: int) -> tuple[str, Array]:
    """Without clusters."""
    return "made: uniform, no clusters", np.random.default_rng(0).random((n, d)).astype(np.float32)


def embeddings(n: int, d: int, topics: int = 2000) -> tuple[str, Array]:
    """Of unit length, with a falling spectrum, around topics whose numbers follow Zipf's law."""
    rng = np.random.default_rng(0)
    spectrum = np.arange(1, d + 1, dtype=np.float32) ** -0.5
    shares = 1 / np.arange(1, topics + 1)
    of = rng.choice(topics, size=n, p=shares / shares.sum())
    centres = rng.normal(size=(topics, d)).astype(np.float32) * spectrum
    X = centres[of] + 0.8 * rng.normal(size=(n, d)).astype(np.float32) * spectrum
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return f"made: like embeddings, unit length, {topics} topics by Zipf's law", X


def birch() -> tuple[str, Array]:
    """Two columns, 100 clusters on a grid."""
    if not data.TABULAR.exists():
        return blobs(100_000, 2, 100, 0.3)
    return "birch1, real benchmark set", data.tabular("birch1")[0].astype(np.float32)


def newsgroups(name: str = "20Newsgroups_cai") -> tuple[str, Any]:
    """TF-IDF of unit length; or made documents of about that size."""
    path = SHARED / "text" / f"{name}.npz"
    if not path.exists():
        return documents(18_846, 26_214, 90, 20)
    counts = sparse.csr_matrix(sparse.load_npz(path))
    return name, TfidfTransformer().fit_transform(counts).astype(np.float32)


def cluto(name: str) -> tuple[str, Any]:
    """One of CLUTO's sets as TF-IDF of unit length."""
    path = SHARED / "cluto" / f"{name}.npz"
    if not path.exists():
        return documents(7000, 40_000, 60, 10)
    counts = sparse.csr_matrix(sparse.load_npz(path))
    return f"CLUTO's {name}", TfidfTransformer().fit_transform(counts).astype(np.float32)


def documents(n: int, d: int, n_terms: int, n_topics: int) -> tuple[str, Any]:
    """Terms by Zipf's law: half of them in one order for all, the others in an order of their topic."""
    rng = np.random.default_rng(0)
    law = np.cumsum(1 / np.arange(1, d + 1))
    topics = rng.integers(n_topics, size=n)
    ranks = np.searchsorted(law / law[-1], rng.random((n, n_terms)))
    steps, offsets = 2 * rng.integers(1, d, size=n_topics) + 1, rng.integers(d, size=n_topics)
    of_topic = (ranks * steps[topics][:, None] + offsets[topics][:, None]) % d
    columns = np.where(rng.random((n, n_terms)) < 0.5, of_topic, ranks)
    starts = np.arange(0, n * n_terms + 1, n_terms)
    values = np.ones(n * n_terms, dtype=np.float32)
    X = sparse.csr_matrix((values, columns.ravel().astype(np.int32), starts), shape=(n, d))
    X.sum_duplicates()
    X = TfidfTransformer().fit_transform(X).astype(np.float32)
    return f"made: {n:,} documents of {n_topics} topics, {d:,} terms", X


def sift(n: int, k: int, limit: float = 30.0) -> Problem:
    """SIFT descriptors: real data, no clear clusters."""
    return Problem(f"SIFT {n:,} x 128, k={k:,}", k, partial(data.sift, n), limit, file=f"sift {n}")


PROBLEMS = [
    Problem("blobs 10,000 x 8, k=8", 8, partial(blobs, 10_000, 8, 8, 3.0)),
    Problem("birch1 100,000 x 2, k=100", 100, birch),
    Problem("uniform 100,000 x 2, k=1,000", 1000, partial(uniform, 100_000, 2)),
    Problem("blobs 100,000 x 32, k=64", 64, partial(blobs, 100_000, 32, 64, 1.0)),
    Problem("normal 10,000 x 64, k=500", 500, partial(normal, 10_000, 64)),
    Problem("normal 1,000,000 x 16, k=16", 16, partial(normal, 1_000_000, 16)),
    Problem("blobs 10,000,000 x 8, k=32", 32, partial(blobs, 10_000_000, 8, 64, 3.0)),
    Problem("MNIST 70,000 x 784, k=10", 10, data.mnist, file="mnist"),
    Problem("MNIST 70,000 x 784, k=1,000", 1000, data.mnist, 30.0, file="mnist"),
    Problem("embeddings 50,000 x 1,536, k=100", 100, partial(embeddings, 50_000, 1536), 30.0),
    Problem("embeddings 100,000 x 768, k=2,000", 2000, partial(embeddings, 100_000, 768), 45.0),
    sift(10_000, 256),
    sift(100_000, 256),
    sift(1_000_000, 256),
    sift(100_000, 1024),
    sift(100_000, 4096),
    sift(1_000_000, 10_000, 45.0),
    sift(1_000_000, 100_000, 240.0),
    Problem("classic, k=8", 8, partial(cluto, "classic"), kind="sparse"),
    Problem("20 newsgroups, k=20", 20, newsgroups, kind="sparse", file="newsgroups"),
    Problem("20 newsgroups, k=200", 200, newsgroups, kind="sparse", file="newsgroups"),
    Problem("TDT2, k=30", 30, partial(newsgroups, "TDT2_top30"), kind="sparse"),
    Problem("documents 200,000 x 50,000, k=100", 100, partial(documents, 200_000, 50_000, 60, 300),
            60.0, "sparse"),
]  # fmt: skip
