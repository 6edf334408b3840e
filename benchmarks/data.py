"""Data to measure with: real data from a folder beside the project where it is, else made data."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

SHARED = Path(__file__).parents[2] / "shared" / "data"

Array = NDArray[Any]


def sift(n: int) -> tuple[str, Array]:
    """Real SIFT descriptors as float32, or normal data of the same shape, rounded and in [0, 255]."""
    files = sorted((SHARED / "sift").glob("photosift_base_*of4.npz"))
    if not files:
        X = np.random.default_rng(0).normal(60, 40, size=(n, 128))
        return f"made: normal {n} x 128", X.clip(0, 255).round().astype(np.float32)
    parts, have = [], 0
    for file in files:
        with np.load(file) as data:
            parts.append(data["X"][: n - have])
        have += len(parts[-1])
        if have == n:
            break
    return f"PhotoSIFT {n} x 128", np.concatenate(parts).astype(np.float32)


def mnist() -> tuple[str, Array]:
    """MNIST as float32, or blobs of the same shape that overlap."""
    file = SHARED / "vision" / "mnist_70000x784_uint8.npz"
    if not file.exists():
        X, _ = make_blobs(70_000, 784, centers=100, cluster_std=20.0, random_state=0)
        return "made: blobs 70000 x 784", X.astype(np.float32)
    with np.load(file) as data:
        return "MNIST 70000 x 784", data["X"].astype(np.float32)


def blobs(n: int, d: int, k: int, std: float, seed: int = 0) -> tuple[Array, Array, float]:
    """float32 blobs, their labels, and the inertia of the planted partition."""
    X, labels = make_blobs(n, d, centers=k, cluster_std=std, random_state=seed)
    X = X.astype(np.float32)
    planted = sum(
        float(
            (
                (X[labels == r].astype(np.float64) - X[labels == r].mean(axis=0, dtype=np.float64)) ** 2
            ).sum()
        )
        for r in range(k)
    )
    return X, labels, planted


TABULAR = SHARED / "tabular" / "sipu_birch_a_s.npz"


def tabular(name: str) -> tuple[Array, int]:
    """One of P. Franti's sets, and its number of clusters."""
    with np.load(TABULAR) as arrays:
        return arrays[f"{name}_X"], len(np.unique(arrays[f"{name}_y"]))
