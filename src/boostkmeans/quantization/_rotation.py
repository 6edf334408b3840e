"""A rotation after which subspaces lose less, learned with the codebooks.

Alternately, as in Ge, He, Ke, Sun, "Optimized Product Quantization" (2013): codebooks for the rotated
rows, then the rotation that brings the rows nearest to their codes.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from boostkmeans._data.rows import Array, Floats
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.background import in_background
from boostkmeans.quantization import _codes
from boostkmeans.quantization._codes import Codebooks, Codes
from boostkmeans.quantization._training import Training

logger = logging.getLogger("boostkmeans")

# Rows for each centroid that a rotation is learned from: more change little.
ROWS_PER_CENTROID = 256
# Sweeps for the codebooks that it begins with.
FIRST_SWEEPS = 10
# Rows that are rotated at a time.
ROWS_AT_ONCE = 2**14


def rotated(array: Array, rotation: Floats) -> Array:
    """Rows times the rotation, in float32: summed up in float64, so that no order of sums is seen."""
    result = np.empty(array.shape, dtype=np.float32)
    for begin in range(0, len(array), ROWS_AT_ONCE):
        result[begin : begin + ROWS_AT_ONCE] = (
            array[begin : begin + ROWS_AT_ONCE].astype(np.float64) @ rotation
        )
    return result


def learn(
    array: Array, training: Training, n_rounds: int, rng: np.random.RandomState,
    after: Callable[[int], None],
) -> Floats:  # fmt: skip
    """A rotation for these rows, in so many rounds.

    It begins with the features as they are or with principal axes, whichever loses less. What LAPACK
    does cannot be interrupted: so it is done in a thread that nobody has to wait for.
    """
    call = partial(_learn, array, training, n_rounds, rng, after)
    # Sums of several threads depend on their number.
    with threadpool_limits(1):
        return in_background([call], 1, training.stopped)[0]


def _learn(
    array: Array, training: Training, n_rounds: int, rng: np.random.RandomState,
    after: Callable[[int], None],
) -> Floats:  # fmt: skip
    most = ROWS_PER_CENTROID * training.n_centroids
    if len(array) > most:
        array = array[np.sort(rng.choice(len(array), most, replace=False))]
    rows = array.astype(np.float64)
    starts = [np.eye(rows.shape[1]), balanced_axes(rows, len(training.seeds))]
    trained = [_first(training).run(rotated(array, start)) for start in starts]
    best = int(np.argmin([one.distortions.sum() for one in trained]))
    rotation, codebooks = starts[best], trained[best].codebooks
    for number in range(n_rounds):
        if training.stopped.is_set():
            break
        turned = rotated(array, rotation)
        codebooks, codes = _followed(turned, codebooks, training.n_threads)
        # The orthogonal matrix R that makes |X R - Y| smallest (Procrustes).
        left, _, right = np.linalg.svd(rows.T @ _codes.decode(codes, codebooks).astype(np.float64))
        rotation = left @ right
        logger.info("rotation: round %d of %d", number + 1, n_rounds)
        after(number)
    return rotation


def balanced_axes(rows: Floats, n_subspaces: int) -> Floats:
    """Principal axes, dealt out so that the subspaces have the same product of variances."""
    d = rows.shape[1]
    centred = rows - rows.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(rows))
    # Of an axis and its opposite, the one whose largest part is positive: the library may give either.
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), np.arange(d)] < 0, -1.0, 1.0)
    logs = np.log(np.maximum(variances, np.finfo(np.float64).tiny))
    parts: list[list[int]] = [[] for _ in range(n_subspaces)]
    sums = np.zeros(n_subspaces)
    for axis in np.argsort(-variances, kind="stable"):
        free = [j for j in range(n_subspaces) if len(parts[j]) < d // n_subspaces]
        # All logs are made positive by their least, so that what is dealt out always counts.
        poorest = min(free, key=lambda j: (sums[j], j))
        parts[poorest].append(int(axis))
        sums[poorest] += logs[axis] - logs.min()
    order = [axis for part in parts for axis in part]
    return np.ascontiguousarray(axes[:, order])


def _first(training: Training) -> Training:
    quick = BoostKMeans(quality="fast", max_iter=FIRST_SWEEPS)
    return replace(training, clusterer=quick, after=None)


def _followed(turned: Array, codebooks: Codebooks, n_threads: int) -> tuple[Codebooks, Codes]:
    """Codes of rows that were rotated a little, and the means of these: a step of Lloyd's."""
    codes = _codes.encode(turned, codebooks, n_threads)
    m, n_centroids, width = codebooks.shape
    means = codebooks.copy()
    for j in range(m):
        counts = np.bincount(codes[:, j], minlength=n_centroids)
        filled = counts > 0
        for column in range(width):
            sums = np.bincount(codes[:, j], turned[:, j * width + column], n_centroids)
            means[j, filled, column] = sums[filled] / counts[filled]
    return means, codes
