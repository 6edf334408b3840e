"""VLAD vectors of photographs with 512 dimensions, as in the paper's scalability test.

The paper's Flickr10M is not available. If the folder `BOOSTKMEANS_DATA` has a file in one of `FORMATS`
with "flickr" in its name, these real vectors are used. Otherwise the vectors are synthetic.

**Synthetic vectors** follow a model of the VLAD vectors of 1,975 photographs (RootSIFT, 64 words, PCA to
512 dimensions, unit length). Its constants were fitted once:

- The variance of column i = 1..512 is a power with an offset plus an exponential (`spectrum`). Its
  difference to the photographs is 1.3 % (root mean square of the logarithm), and 13 % at most.
- Rows are a mixture of 8,192 topics; the t-th topic has a share proportional to t^-0.9. A topic is one
  of 16 themes (40 % of its variance) plus a part of its own. A row has the share s of its variance
  from its topic, with s from Beta(1, 3), and the rest is normal noise. All parts have the same
  spectrum. Then rows are scaled to unit length.
- The six constants of the mixture are among the best of 205 random mixtures and 6 more near the best of
  them. A mixture with 8 themes scored slightly better, but its mean is further from zero.
- The constants were chosen by the following figures, which are therefore not an independent check. The
  average distortion of `BoostKMeans` for 16, 64 and 256 clusters of 1,975 rows is 0.854, 0.781 and 0.653
  for photographs, and 0.859, 0.780 and 0.649 for synthetic rows (mean of three seeds), all within 0.7 %.
  Normal rows of the same spectrum, without topics, have 0.884, 0.824 and 0.701. The squared distance to
  the nearest other row at 5, 50 and 95 % of the rows is 0.83, 1.28 and 1.59 for photographs, and 0.78,
  1.30 and 1.53 for synthetic rows.

Properties that need more than 1,975 photographs, such as near duplicates, could not be fitted and are
missing.

Row i does not depend on the number of rows: rows are generated in blocks, each with its own random seed.
"""

import os
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.io import open_vectors
from vlad_file import BLOCK, fill, write_rows

Array = NDArray[Any]
Floats = NDArray[np.float32]

N_FEATURES = 512
# Logarithm of the factor of the power in the spectrum.
POWER_LOG_FACTOR = -0.91639
# Exponent of the power.
POWER_EXPONENT = 1.54671
# Offset of the power.
POWER_OFFSET = 2.34759
# Logarithm of the factor of the exponential in the spectrum.
EXPONENTIAL_LOG_FACTOR = -6.2352
# Decay length of the exponential, in columns.
EXPONENTIAL_LENGTH = 473.637
N_TOPICS = 8192
# The t-th topic has a share proportional to t to minus this power.
TOPIC_DECAY = 0.9
N_THEMES = 16
# Share of a topic's variance that comes from its theme.
THEME_SHARE = 0.4
# Parameters of the beta distribution of a row's share of variance from its topic.
TOPIC_BETA = (1.0, 3.0)

# From this number on, rows are in a file, which is written once and mapped by all processes.
MIN_ROWS_IN_FILE = 1_000_000

VARIABLE = "BOOSTKMEANS_DATA"
FORMATS = (".npy", ".fbin", ".f16bin", ".fvecs")


def spectrum() -> NDArray[np.float64]:
    """Return the variance of each column; their sum is 1."""
    i = np.arange(1, N_FEATURES + 1)
    power = np.exp(POWER_LOG_FACTOR) * (i + POWER_OFFSET) ** -POWER_EXPONENT
    variances = power + np.exp(EXPONENTIAL_LOG_FACTOR - i / EXPONENTIAL_LENGTH)
    return np.asarray(variances / variances.sum())


@dataclass(frozen=True)
class Mixture:
    """Mixture of topics from which synthetic rows are drawn."""

    seed: int
    topics: Floats
    cumulative_shares: NDArray[np.float64]
    """Cumulative sums of the shares of the topics."""
    scale: Floats
    """Standard deviation of each column."""

    @classmethod
    @lru_cache(maxsize=1)
    def from_seed(cls, seed: int) -> "Mixture":
        """Draw the topics of a seed."""
        rng = np.random.default_rng((seed, 0))
        scale = np.sqrt(spectrum()).astype(np.float32)
        themes = _normal(rng, N_THEMES) * scale
        own = _normal(rng, N_TOPICS) * scale
        theme = themes[rng.integers(N_THEMES, size=N_TOPICS)]
        topics = np.sqrt(np.float32(THEME_SHARE)) * theme + np.sqrt(np.float32(1 - THEME_SHARE)) * own
        shares = np.arange(1.0, N_TOPICS + 1) ** -TOPIC_DECAY
        return cls(seed, topics, np.cumsum(shares / shares.sum()), scale)

    def block(self, number: int) -> Floats:
        """Return `BLOCK` rows, starting at row `number * BLOCK`."""
        rng = np.random.default_rng((self.seed, 1 + number))
        topic = np.minimum(np.searchsorted(self.cumulative_shares, rng.random(BLOCK)), N_TOPICS - 1)
        share = rng.beta(*TOPIC_BETA, size=(BLOCK, 1)).astype(np.float32)
        rows = _normal(rng, BLOCK)
        rows *= self.scale * np.sqrt(1 - share)
        rows += np.sqrt(share) * self.topics[topic]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def _normal(rng: np.random.Generator, n: int) -> Floats:
    return rng.standard_normal((n, N_FEATURES), dtype=np.float32)


def synthetic(n: int, seed: int = 0, dtype: str = "float32", folder: Path | None = None) -> Array:
    """Return the first n rows of a seed.

    From `MIN_ROWS_IN_FILE` rows on, they are mapped from a file in `folder`.
    """
    if dtype not in ("float32", "float16"):
        raise ValueError(f"dtype must be 'float32' or 'float16'. Got {dtype!r}.")
    if n < MIN_ROWS_IN_FILE:
        rows = np.empty((n, N_FEATURES), dtype=dtype)
        fill(rows, Mixture.from_seed(seed).block)
        return rows
    folder = cache_folder() if folder is None else folder
    existing = [path for path in folder.glob(f"vlad_{dtype}_seed{seed}_*.npy") if _rows_of(path) >= n]
    path = min(existing, key=_rows_of) if existing else _write(n, seed, dtype, folder)
    mapped: Array = np.load(path, mmap_mode="r")
    return mapped[:n]


def cache_folder() -> Path:
    """Return the user's cache folder if it is writable, else the folder for temporary files."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if not (base.is_dir() and os.access(base, os.W_OK)):
        base = Path(tempfile.gettempdir())
    return base / "boostkmeans"


def _rows_of(path: Path) -> int:
    return int(path.stem.rsplit("_", 1)[1])


def _write(n: int, seed: int, dtype: str, folder: Path) -> Path:
    path = folder / f"vlad_{dtype}_seed{seed}_{n}.npy"
    write_rows(path, (n, N_FEATURES), dtype, Mixture.from_seed(seed).block)
    return path


def find(folder: Path | None = None) -> Path | None:
    """Return the file of real vectors in `folder`, by default `BOOSTKMEANS_DATA`, or None."""
    if folder is None:
        named = os.environ.get(VARIABLE)
        if not named:
            return None
        folder = Path(named).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder. {VARIABLE} must name a folder with data.")
    for ending in FORMATS:
        for path in sorted(folder.iterdir()):
            if path.suffix == ending and "flickr" in path.name.lower():
                return path
    return None


def real(path: Path, n: int) -> Array:
    """Return the first n vectors of a file, memory-mapped if its format allows it."""
    vectors = open_vectors(path)
    if vectors.shape[1] != N_FEATURES:
        raise ValueError(
            f"{path}: the vectors have {vectors.shape[1]} dimensions, expected {N_FEATURES}."
        )
    if len(vectors) < n:
        raise ValueError(f"{path} has {len(vectors):,} vectors, but {n:,} are needed.")
    rows: Array = vectors.load()[:n] if vectors.is_mapped else vectors.read(0, n)
    return rows


def rows(n: int, seed: int = 0, dtype: str = "float32", folder: Path | None = None) -> tuple[Array, str]:
    """Return n vectors, real if available and synthetic otherwise, and their description."""
    path = find(folder)
    if path is not None:
        return real(path, n), f"{path.name}, the first {n:,} x {N_FEATURES}"
    return synthetic(n, seed, dtype), f"synthetic, VLAD-like {n:,} x {N_FEATURES}"


if __name__ == "__main__":  # Example: python paper/vlad.py 10000000 float16
    synthetic(int(sys.argv[1]), dtype=sys.argv[2])
