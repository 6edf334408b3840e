"""Rotation of the rows before product quantization, learned together with the codebooks.

The method alternates two steps, as in Ge, He, Ke and Sun, "Optimized Product Quantization" (2013): it
computes codebooks for the rotated rows, then the rotation that brings the rows nearest to their codes.
"""

import logging
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from boostkmeans._data.frame import Array, Floats
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.background import in_background
from boostkmeans.quantization import _codes
from boostkmeans.quantization._codes import Codebooks, Codes
from boostkmeans.quantization._training import SubspaceTrainer

logger = logging.getLogger("boostkmeans")

# Number of rows per centroid that a rotation is learned from. More rows change the result little.
ROWS_PER_CENTROID = 256
# Number of sweeps for the first codebooks. A few suffice, because each later round improves the
# codebooks.
FIRST_SWEEPS = 10
# Rows rotated at a time, to bound the float64 copies.
ROWS_PER_BLOCK = 2**14


def rotate(array: Array, rotation: Floats) -> Array:
    """Multiply the rows by the rotation and return float32.

    Sums are float64, so that the order of summation in BLAS does not change the result.
    """
    result = np.empty(array.shape, dtype=np.float32)
    for begin in range(0, len(array), ROWS_PER_BLOCK):
        end = begin + ROWS_PER_BLOCK
        result[begin:end] = array[begin:end].astype(np.float64) @ rotation
    return result


def learn_rotation(
    array: Array,
    trainer: SubspaceTrainer,
    n_rounds: int,
    rng: np.random.RandomState,
    on_round: Callable[[int], None],
) -> Floats:
    """Learn a rotation for the rows.

    The first rotation is the identity or the balanced principal axes, whichever has the lower
    distortion. LAPACK calls cannot be interrupted. They run in a background thread, so that Ctrl-C does
    not have to wait for them.
    """
    call = partial(_learn, array, trainer, n_rounds, rng, on_round)
    # With several BLAS threads, the rounding of sums would depend on the number of threads.
    with threadpool_limits(1):
        return in_background([call], 1, trainer.stop_requested)[0]


def _learn(
    array: Array,
    trainer: SubspaceTrainer,
    n_rounds: int,
    rng: np.random.RandomState,
    on_round: Callable[[int], None],
) -> Floats:
    max_rows = ROWS_PER_CENTROID * trainer.n_centroids
    if len(array) > max_rows:
        array = array[np.sort(rng.choice(len(array), max_rows, replace=False))]
    rows = array.astype(np.float64)
    rotation, codebooks = _first_rotation(array, rows, trainer)
    for number in range(n_rounds):
        if trainer.stop_requested.is_set():
            break
        rotated = rotate(array, rotation)
        codebooks, codes = _lloyd_step(rotated, codebooks, trainer.n_threads)
        # Orthogonal Procrustes problem: the rotation R that minimises |X R - Y|.
        left, _, right = np.linalg.svd(rows.T @ _codes.decode(codes, codebooks).astype(np.float64))
        rotation = left @ right
        logger.info("rotation: round %d of %d", number + 1, n_rounds)
        on_round(number)
    return rotation


def _first_rotation(array: Array, rows: Floats, trainer: SubspaceTrainer) -> tuple[Floats, Codebooks]:
    """Return the better of two rotations to start from, and its codebooks."""
    starts = [np.eye(rows.shape[1]), balanced_axes(rows, len(trainer.seeds))]
    quick = trainer.with_clusterer(BoostKMeans(quality="fast", max_iter=FIRST_SWEEPS))
    trained = [quick.run(rotate(array, start)) for start in starts]
    best = int(np.argmin([one.distortions.sum() for one in trained]))
    return starts[best], trained[best].codebooks


def balanced_axes(rows: Floats, n_subspaces: int) -> Floats:
    """Return principal axes, grouped so that all subspaces have a similar product of variances."""
    d = rows.shape[1]
    centred = rows - rows.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(rows))
    # The sign of an eigenvector is arbitrary. Making its largest component positive fixes it.
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), np.arange(d)] < 0, -1.0, 1.0)
    logs = np.log(np.maximum(variances, np.finfo(np.float64).tiny))
    # Shifted so that every logarithm is positive: adding an axis always increases the sum.
    logs -= logs.min()
    groups: list[list[int]] = [[] for _ in range(n_subspaces)]
    sums = np.zeros(n_subspaces)
    for axis in np.argsort(-variances, kind="stable"):
        open_groups = [j for j in range(n_subspaces) if len(groups[j]) < d // n_subspaces]
        smallest = min(open_groups, key=lambda j: (sums[j], j))
        groups[smallest].append(int(axis))
        sums[smallest] += logs[axis]
    order = [axis for group in groups for axis in group]
    return np.ascontiguousarray(axes[:, order])


def _lloyd_step(rotated: Array, codebooks: Codebooks, n_threads: int) -> tuple[Codebooks, Codes]:
    """Assign rows to their nearest centroids, and return the means of these clusters and the codes."""
    codes = _codes.encode(rotated, codebooks, n_threads)
    m, n_centroids, width = codebooks.shape
    means = codebooks.copy()
    for j in range(m):
        counts = np.bincount(codes[:, j], minlength=n_centroids)
        filled = counts > 0
        for column in range(width):
            sums = np.bincount(codes[:, j], rotated[:, j * width + column], n_centroids)
            means[j, filled, column] = sums[filled] / counts[filled]
    return means, codes
