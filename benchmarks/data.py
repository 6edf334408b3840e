"""Data sets of the benchmarks: real data from the shared folder, or synthetic data if it is missing.

The shared folder is `BOOSTKMEANS_SHARED`, by default `shared/data` next to the checkout.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

Array = NDArray[Any]

# Number of features of a SIFT descriptor.
SIFT_FEATURES = 128


def shared_folder() -> Path:
    """Return the folder with data sets that the project does not ship."""
    given = os.environ.get("BOOSTKMEANS_SHARED")
    return Path(given) if given else Path(__file__).parents[2] / "shared" / "data"


def sift(n: int) -> tuple[str, Array]:
    """Return a name and n SIFT descriptors as float32, real or synthetic."""
    rows = photosift(n)
    if rows is None:
        return f"synthetic, normal {n} x 128", synthetic_descriptors(n)
    return f"PhotoSIFT {n} x 128", rows.astype(np.float32)


def photosift(n: int) -> Array | None:
    """Return the first n PhotoSIFT descriptors as uint8, or None if the files hold fewer."""
    parts: list[Array] = []
    n_missing = n
    for path in sorted((shared_folder() / "sift").glob("photosift_base_*of4.npz")):
        with np.load(path) as arrays:
            parts.append(arrays["X"][:n_missing])
        n_missing -= len(parts[-1])
        if not n_missing:
            return np.concatenate(parts)
    return None


def photosift_training(n_learn: int, n_query: int) -> tuple[Array, Array] | None:
    """Return training rows and queries of PhotoSIFT as uint8, or None if the file is missing.

    They come from other photographs than the rows of `photosift`.
    """
    path = shared_folder() / "sift" / "photosift_learn_query.npz"
    if not path.exists():
        return None
    with np.load(path) as arrays:
        return arrays["learn"][:n_learn], arrays["query"][:n_query]


def synthetic_descriptors(n: int, seed: int = 0) -> Array:
    """Return normal rows as float32 integers in [0, 255], the range of SIFT descriptors."""
    X = np.random.default_rng(seed).normal(60, 40, size=(n, SIFT_FEATURES))
    return X.clip(0, 255).round().astype(np.float32)


def mnist() -> tuple[str, Array]:
    """Return a name and MNIST as float32, or overlapping blobs of the same shape."""
    path = shared_folder() / "vision" / "mnist_70000x784_uint8.npz"
    if not path.exists():
        X, _ = make_blobs(70_000, 784, centers=100, cluster_std=20.0, random_state=0)
        return "synthetic, blobs 70000 x 784", X.astype(np.float32)
    with np.load(path) as arrays:
        return "MNIST 70000 x 784", arrays["X"].astype(np.float32)


def wordnet() -> tuple[str, Array] | None:
    """Return a name and embeddings of WordNet's glosses as float32, or None without the file."""
    path = shared_folder() / "embeddings" / "wordnet_use512.npz"
    if not path.exists():
        return None
    with np.load(path) as arrays:
        rows = arrays["X"].astype(np.float32)
    return f"WordNet glosses, Universal Sentence Encoder Lite {len(rows)} x {rows.shape[1]}", rows


def blobs(n: int, d: int, k: int, std: float, seed: int = 0) -> tuple[Array, Array, float]:
    """Return float32 blobs, their labels, and the inertia of this planted partition."""
    X, labels = make_blobs(n, d, centers=k, cluster_std=std, random_state=seed)
    X = X.astype(np.float32)
    clusters = (X[labels == r].astype(np.float64) for r in range(k))
    planted = sum(float(((rows - rows.mean(axis=0)) ** 2).sum()) for rows in clusters)
    return X, labels, planted


def tabular_file() -> Path:
    """Return the path of P. Fränti's clustering basic benchmark, which may be missing."""
    return shared_folder() / "tabular" / "sipu_birch_a_s.npz"


def tabular(name: str) -> tuple[Array, int]:
    """Return the rows and the number of clusters of one of P. Fränti's data sets."""
    with np.load(tabular_file()) as arrays:
        return arrays[f"{name}_X"], len(np.unique(arrays[f"{name}_y"]))
