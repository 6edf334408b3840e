"""Vectors of the kind that the paper's scalability test clusters: VLAD of photographs, 512 dimensions.

Its Flickr10M is not to be had. The real thing is used where somebody has it: a file of `FORMATS` whose
name has "flickr" in it, in the folder that the variable `BOOSTKMEANS_DATA` names. Else vectors are
made.

**Made vectors** follow the VLAD vectors of 1,975 photographs (RootSIFT, 64 words, PCA to 512
dimensions, unit length), from which the constants below were fitted once:

- The variance of column i = 1..512 is a power with an offset plus an exponential (`spectrum`): the
  difference to the photographs is 1.3 % (root mean square of the logarithm), and 13 % at most.
- Rows are a mixture: 8,192 topics, of which the t-th has a share in proportion to t^-0.9; each is
  one of 16 themes (40 % of its variance) and something of its own. A row has the share s of its
  variance from its topic, with s from Beta(1, 3), the rest is normal noise; all have the same
  spectrum. Then rows are scaled to unit length.
- These six numbers are among the best of 205 mixtures that were tried at random, and 6 more near the
  best of them: one with 8 themes scored a little better, but its mean is further from zero. They
  were chosen by the figures that follow, which are no independent check. Average distortion by
  `BoostKMeans` for 16, 64 and 256 clusters of 1,975 rows: photographs have 0.854, 0.781, 0.653,
  made rows 0.859, 0.780, 0.649 (mean of three seeds), all within 0.7 %. Normal rows of the same
  spectrum, without topics, have 0.884, 0.824, 0.701. Squared distance to the nearest other row at
  5, 50 and 95 % of the rows: photographs 0.83, 1.28, 1.59, made rows 0.78, 1.30, 1.53.

What photographs have beyond 1,975 of them (near duplicates, say) could not be fitted, and is not there.

Row i is the same for whatever number of rows: they are made in blocks, each from its own random
numbers.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io import open_vectors

Array = NDArray[Any]
Floats = NDArray[np.float32]

N_FEATURES = 512
# ln of the factor, exponent and offset of the power; ln of the factor and length of the exponential.
POWER, DECAY, OFFSET, FLOOR, LENGTH = -0.91639, 1.54671, 2.34759, -6.2352, 473.637
N_TOPICS, TOPIC_DECAY, N_THEMES, OF_THEME, TOPIC_BETA = 8192, 0.9, 16, 0.4, (1.0, 3.0)

BLOCK = 4096
# From here on, rows are in a file, which several processes map, and which is made once.
IN_FILE = 1_000_000
# What is left free on the disk.
SPARE_BYTES = 2 << 30

VARIABLE = "BOOSTKMEANS_DATA"
FORMATS = (".npy", ".fbin", ".f16bin", ".fvecs")


def spectrum() -> NDArray[np.float64]:
    """The variance of each column; their sum is 1."""
    i = np.arange(1, N_FEATURES + 1)
    variances = np.exp(POWER) * (i + OFFSET) ** -DECAY + np.exp(FLOOR - i / LENGTH)
    return np.asarray(variances / variances.sum())


@dataclass(frozen=True)
class Mixture:
    """Where rows come from."""

    seed: int
    topics: Floats
    limits: NDArray[np.float64]
    """Of the topics' shares, added up."""
    scale: Floats

    @classmethod
    @lru_cache(maxsize=1)
    def of(cls, seed: int) -> "Mixture":
        """The topics of a seed."""
        rng = np.random.default_rng((seed, 0))
        scale = np.sqrt(spectrum()).astype(np.float32)
        themes = _normal(rng, N_THEMES) * scale
        own = _normal(rng, N_TOPICS) * scale
        theme = themes[rng.integers(N_THEMES, size=N_TOPICS)]
        topics = np.sqrt(np.float32(OF_THEME)) * theme + np.sqrt(np.float32(1 - OF_THEME)) * own
        shares = np.arange(1.0, N_TOPICS + 1) ** -TOPIC_DECAY
        return cls(seed, topics, np.cumsum(shares / shares.sum()), scale)

    def block(self, number: int) -> Floats:
        """Rows number * BLOCK and following."""
        rng = np.random.default_rng((self.seed, 1 + number))
        topic = np.minimum(np.searchsorted(self.limits, rng.random(BLOCK)), N_TOPICS - 1)
        share = rng.beta(*TOPIC_BETA, size=(BLOCK, 1)).astype(np.float32)
        rows = _normal(rng, BLOCK)
        rows *= self.scale * np.sqrt(1 - share)
        rows += np.sqrt(share) * self.topics[topic]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def blocks(self, n: int) -> Iterator[Floats]:
        """The first n rows."""
        for begin in range(0, n, BLOCK):
            yield self.block(begin // BLOCK)[: n - begin]


def _normal(rng: np.random.Generator, n: int) -> Floats:
    return rng.standard_normal((n, N_FEATURES), dtype=np.float32)


def made(n: int, seed: int = 0, dtype: str = "float32", folder: Path | None = None) -> Array:
    """The first n rows of a seed, in memory; from `IN_FILE` rows on mapped from a file in `folder`."""
    if dtype not in ("float32", "float16"):
        raise ValueError(f"dtype must be 'float32' or 'float16'. Got {dtype!r}.")
    if n < IN_FILE:
        rows = np.empty((n, N_FEATURES), dtype=dtype)
        _fill(rows, Mixture.of(seed))
        return rows
    folder = cache_folder() if folder is None else folder
    there = [path for path in folder.glob(f"vlad_{dtype}_seed{seed}_*.npy") if _rows_of(path) >= n]
    path = min(there, key=_rows_of) if there else _written(n, seed, dtype, folder)
    mapped: Array = np.load(path, mmap_mode="r")
    return mapped[:n]


def cache_folder() -> Path:
    """Where files are kept: the user's cache, or the system's folder for temporary files."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if not (base.is_dir() and os.access(base, os.W_OK)):
        base = Path(tempfile.gettempdir())
    return base / "boostkmeans"


def _rows_of(path: Path) -> int:
    return int(path.stem.rsplit("_", 1)[1])


def _written(n: int, seed: int, dtype: str, folder: Path) -> Path:
    """A new file, which has its name only when it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    _check_space(n * N_FEATURES * np.dtype(dtype).itemsize, folder)
    path = folder / f"vlad_{dtype}_seed{seed}_{n}.npy"
    part = folder / f"{path.name}.{os.getpid()}.part"
    try:
        rows = np.lib.format.open_memmap(part, mode="w+", dtype=np.dtype(dtype), shape=(n, N_FEATURES))
        _fill(rows, Mixture.of(seed))
        rows.flush()
        del rows
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _fill(rows: Array, mixture: Mixture) -> None:
    begin = 0
    for block in mixture.blocks(len(rows)):
        rows[begin : begin + len(block)] = block
        begin += len(block)


def _check_space(needed: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE_BYTES:
        raise OSError(
            f"{folder} has {free / 1e9:.1f} GB free, and the rows take {needed / 1e9:.1f} GB beside "
            f"{SPARE_BYTES / 1e9:.1f} GB that stay free. Set XDG_CACHE_HOME to a folder with more "
            "space, or take float16."
        )


def find(folder: Path | None = None) -> Path | None:
    """The file of real vectors in `folder`, or in the one that `VARIABLE` names, if there is one."""
    if folder is None:
        named = os.environ.get(VARIABLE)
        if not named:
            return None
        folder = Path(named).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder: {VARIABLE} must name one with data in it.")
    for ending in FORMATS:
        for path in sorted(folder.iterdir()):
            if path.suffix == ending and "flickr" in path.name.lower():
                return path
    return None


def real(path: Path, n: int) -> Array:
    """The first n vectors of a file, mapped where its format allows that; the rest is not read."""
    vectors = open_vectors(path)
    if vectors.shape[1] != N_FEATURES:
        raise ValueError(
            f"{path}: vectors have {vectors.shape[1]} dimensions, and those of the paper {N_FEATURES}."
        )
    if len(vectors) < n:
        raise ValueError(f"{path} has {len(vectors):,} vectors, and {n:,} are needed.")
    rows: Array = vectors.load()[:n] if vectors.is_mapped else vectors.read(0, n)
    return rows


def rows(n: int, seed: int = 0, dtype: str = "float32", folder: Path | None = None) -> tuple[Array, str]:
    """n vectors, and what they are: real ones where there are any, else made ones."""
    path = find(folder)
    if path is not None:
        return real(path, n), f"{path.name}, the first {n:,} x {N_FEATURES}"
    return made(n, seed, dtype), f"made: VLAD-like {n:,} x {N_FEATURES}"
