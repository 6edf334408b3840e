"""Small data sets, easy and hard, on which the defaults are compared with scikit-learn."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs

import data
from data import Array

Problem = tuple[Array, int]
"""Rows, and the number of clusters."""


def problems() -> Iterator[tuple[str, Callable[[], Problem]]]:
    """Yield the name of each problem, and a function that makes it."""
    yield "SIFT, k=256", lambda: (data.sift(20_000)[1], 256)
    yield "SIFT, k=500", lambda: (data.sift(20_000)[1], 500)
    yield "SIFT, k=1,000", lambda: (data.sift(5000)[1], 1000)
    yield "MNIST, k=10", lambda: (data.mnist()[1][:10_000], 10)
    yield "MNIST, k=100", lambda: (data.mnist()[1][:10_000], 100)
    yield "iris, k=3", lambda: (load_iris().data, 3)
    yield "digits, k=10", lambda: (load_digits().data, 10)
    yield "digits, k=100", lambda: (load_digits().data, 100)
    yield "breast cancer, k=8", lambda: (load_breast_cancer().data, 8)
    yield "blobs apart, d=2, k=25", partial(blobs, 2500, 2, 25, 0.1)
    yield "blobs apart, d=16, k=400", partial(blobs, 40_000, 16, 400, 1.0)
    yield "blobs that overlap, d=10, k=50", partial(blobs, 10_000, 10, 50, 5.0)
    yield "uniform, d=2, k=100", partial(uniform, 10_000, 2, 100)
    yield "uniform, d=32, k=50", partial(uniform, 10_000, 32, 50)
    yield "normal, d=64, k=500", partial(normal, 2500, 64, 500)
    yield "many duplicates, d=3, k=50", partial(grid, 20_000, 3, 50)
    yield "anisotropic, d=8, k=30", partial(anisotropic, 10_000, 8, 30)
    yield "sizes by a power law, d=8, k=40", partial(power_law, 20_000, 8, 40)
    if data.tabular_file().exists():
        for name, k in (("s3", 15), ("a3", 50), ("unbalance", 8), ("birch1", 100), ("birch2", 10)):
            yield f"{name}, k={k}", partial(tabular, name, k)


def tabular(name: str, k: int) -> Problem:
    """Return one of P. Fränti's two-dimensional data sets."""
    return data.tabular(name)[0], k


def blobs(n: int, d: int, k: int, std: float) -> Problem:
    """Return normal clusters of equal size and shape."""
    return make_blobs(n, d, centers=k, cluster_std=std, random_state=0)[0].astype(np.float32), k


def uniform(n: int, d: int, k: int) -> Problem:
    """Return uniform rows, which have no clusters."""
    return np.random.default_rng(0).uniform(size=(n, d)).astype(np.float32), k


def normal(n: int, d: int, k: int) -> Problem:
    """Return normal rows, which have no clusters."""
    return np.random.default_rng(0).normal(size=(n, d)).astype(np.float32), k


def grid(n: int, d: int, k: int) -> Problem:
    """Return binomial integers from 0 to 6, so that most rows occur many times."""
    return np.random.default_rng(0).binomial(6, 0.5, size=(n, d)).astype(np.float32), k


def anisotropic(n: int, d: int, k: int) -> Problem:
    """Return long and thin clusters, each with its own direction."""
    rng = np.random.default_rng(0)
    X, labels = make_blobs(n, d, centers=k, cluster_std=1.0, random_state=0)
    centres = np.stack([X[labels == r].mean(axis=0) for r in range(k)])
    shapes = rng.normal(size=(k, d, d)) * np.geomspace(0.1, 3, d)
    moved = np.einsum("nd,nde->ne", X - centres[labels], shapes[labels])
    return (moved + centres[labels]).astype(np.float32), k


def power_law(n: int, d: int, k: int) -> Problem:
    """Return clusters whose sizes follow a power law: the largest has a quarter of the rows."""
    shares = 1 / np.arange(1, k + 1) ** 1.2
    sizes = np.maximum(5, n * shares / shares.sum()).astype(int)
    return make_blobs(sizes, d, cluster_std=1.5, random_state=0)[0].astype(np.float32), k
