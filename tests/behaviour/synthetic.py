"""Generate small synthetic data that is bit-identical on every machine and with every version of NumPy.

All numbers come from the raw 64-bit output of PCG64, which NumPy guarantees never to change, by integer
arithmetic and exact scaling. No BLAS, no transcendental function and no distribution method is involved.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def raw_bits(seed: int, n: int) -> NDArray[np.uint64]:
    """Return n random 64-bit integers."""
    return np.asarray(np.random.PCG64(seed).random_raw(n))


def integers(seed: int, n: int, high: int) -> Ints:
    """Return n random integers from 0 to high - 1."""
    return (raw_bits(seed, n) % np.uint64(high)).astype(np.int64)


def bells(seed: int, *shape: int) -> Floats:
    """Return bell-shaped numbers between -4 and 4 with a standard deviation of 1.15.

    Each is the sum of four 16-bit integers, scaled by a power of two, and so exact in float32 as well.
    """
    n = int(np.prod(shape))
    words = raw_bits(seed, n).view(np.uint16).reshape(n, 4).astype(np.int64)
    return np.asarray((words.sum(axis=1) - 131_070) / 32_768.0).reshape(shape)


@cache
def blobs(n: int, d: int, k: int, spread: float = 2.0, seed: int = 0) -> Floats:
    """Return n rows around k centres; with a spread of 2 the clusters overlap."""
    centres = spread * bells(seed + 1, k, d)
    rows = centres[integers(seed + 2, n, k)] + bells(seed + 3, n, d)
    rows.setflags(write=False)
    return rows


@cache
def cloud(n: int, d: int, seed: int = 0) -> Floats:
    """Return n rows without clusters."""
    rows = bells(seed + 4, n, d)
    rows.setflags(write=False)
    return rows


@cache
def far_rows(n: int, d: int, n_far: int, factor: float = 1024.0, seed: int = 0) -> Floats:
    """Return a cloud of n rows, of which the last `n_far` are far away: a sample misses most of them."""
    rows = bells(seed + 5, n, d)
    rows[n - n_far :] *= factor
    rows.setflags(write=False)
    return rows


@cache
def pixels(n: int, d: int, k: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return n rows of bytes around k centres, about a third of the values 0, like images have them."""
    values = np.rint(24.0 * blobs(n, d, k, 2.0, seed) + 32.0)
    rows = np.clip(values, 0, 255).astype(np.uint8)
    rows.setflags(write=False)
    return rows


@cache
def repeated(n_distinct: int, n_times: int, d: int, seed: int = 0) -> Floats:
    """Return rows of which each distinct one occurs several times."""
    rows = np.repeat(blobs(n_distinct, d, n_distinct, 2.0, seed), n_times, axis=0)
    rows.setflags(write=False)
    return rows


@cache
def topics(n: int, d: int, k: int, per_row: int = 8, seed: int = 0) -> Any:
    """Return a CSR matrix of n documents: half of the terms of each belong to one of k topics."""
    topic = np.repeat(integers(seed + 6, n, k), per_row)
    width = d // k
    own = topic * width + integers(seed + 7, n * per_row, width)
    any_term = integers(seed + 8, n * per_row, d)
    columns = np.where(np.tile(np.arange(per_row), n) < per_row // 2, own, any_term)
    values = 1.0 + integers(seed + 9, n * per_row, 8) / 4.0
    matrix = sparse.csr_array((values, (np.repeat(np.arange(n), per_row), columns)), shape=(n, d))
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


@cache
def weights(n: int, seed: int = 0) -> Floats:
    """Return n weights among 0, 0.5, 1 and 1.5: a quarter of the rows has none."""
    return np.asarray(integers(seed + 10, n, 4) / 2.0)


@cache
def texts(n: int, n_topics: int, seed: int = 0) -> list[str]:
    """Return n short texts made of syllables; half of the words of each belong to one topic."""
    topic = integers(seed + 11, n, n_topics)
    own = 12 * topic[:, None] + integers(seed + 12, n * 8, 12).reshape(n, 8)
    common = 12 * n_topics + integers(seed + 13, n * 8, 60).reshape(n, 8)
    numbers = np.concatenate([own, common], axis=1)
    return [" ".join(_word(int(number)) for number in row) for row in numbers]


def _word(number: int) -> str:
    syllables = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru")
    return "".join(syllables[int(digit)] for digit in f"{number:03d}")
