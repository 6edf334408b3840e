"""Seeding: the labels with which a run starts."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import normalize

from boostkmeans import _core
from boostkmeans._data.frame import Array, Floats
from boostkmeans._data.rows import Rows
from boostkmeans._data.user_input import accepted_parameter
from boostkmeans._data.weights import RowWeights
from boostkmeans._runtime.errors import InvalidValuesError, Message, ParameterError
from boostkmeans._runtime.parameter_checks import check_initial_centres
from boostkmeans._steps.coincident import SAME_PLACE
from boostkmeans._steps.nearest import assign_nearest, distances_to_assigned
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.split_rules import SplitRules
from boostkmeans._steps.tree_builder import Ints, TreeBuilder

Init = str | ArrayLike | Callable[[Array, int, np.random.RandomState], ArrayLike]
SAMPLED = "sampled-k-means++"
PLAIN = "plain-k-means++"
INIT_NAMES = ("auto", "random-partition", "random", "k-means++", PLAIN, SAMPLED, "bisecting")

# Candidates per centre in greedy k-means++. scikit-learn uses 2 + log(k). The candidates and the
# previous centre are 16 columns, which is one AVX-512 vector, so 15 candidates cost no more than a few.
N_TRIALS = 15
# Number of rows per cluster from which "sampled-k-means++" draws its centres.
SAMPLE_PER_CLUSTER = 16
# Minimum number of rows from which "sampled-k-means++" draws its centres. It leads to the same inertia
# as k-means++ on all rows, in half of the time: see "Starts" in docs/benchmarks.md.
MIN_SAMPLE = 16_384
# The same for fewer rows: a share of them, but at least a minimum. Seeding on all rows would take longer
# than the sweeps: see "Small data" in docs/benchmarks.md.
MIN_SAMPLE_SHARE = 1 / 4
MIN_SMALL_SAMPLE = 2048
# The squared distance of two equal sparse rows may reach this share of |x|^2 by rounding.
SPARSE_ROUNDING = 2.0**-44

GrowTree = Callable[[TreeBuilder, int], Ints]
"""Function that grows a tree to a number of leaves, or resumes it from a checkpoint, and returns its
splits."""


def grow_tree(builder: TreeBuilder, n_leaves: int) -> Ints:
    """Grow a tree without checkpoints."""
    return builder.grow(n_leaves)


@dataclass(frozen=True)
class Seeding:
    """The initial labels of a problem, with one method per kind of start."""

    problem: Problem
    rng: np.random.RandomState
    grow: GrowTree = grow_tree

    def labels(self, init: object) -> Labels:
        """Return the initial labels for a named start, or for centres or labels of the user."""
        if not isinstance(init, str):
            return self.from_user(accepted_parameter(init, "init"))
        starts = {
            "random-partition": self.random_partition,
            "random": self.random_centres,
            "k-means++": self.plus_plus,
            PLAIN: self.plain_plus_plus,
            SAMPLED: self.sampled_plus_plus,
            "bisecting": self.bisecting,
        }
        return starts[init]()

    def random_partition(self) -> Labels:
        """Assign rows to random clusters of equal size: the paper's BKM(non)."""
        problem = self.problem
        labels = np.resize(np.arange(problem.n_clusters, dtype=np.int32), problem.rows.n_rows)
        self.rng.shuffle(labels)
        return labels

    def random_centres(self) -> Labels:
        """Assign rows to the nearest of k random rows: the paper's BKM(rnd)."""
        return self._from_centres(self.problem.rows.take(self._draw(self.problem.n_clusters)))

    def plus_plus(self) -> Labels:
        """Assign rows to the nearest of k rows drawn by greedy k-means++."""
        return self._plus_plus(self.problem.rows_in_memory, self.problem.row_weights)[1]

    def plain_plus_plus(self) -> Labels:
        """Assign rows to the nearest of k rows drawn by k-means++ as published: the paper's BKM(kpp)."""
        return self._plus_plus(self.problem.rows_in_memory, self.problem.row_weights, n_trials=1)[1]

    def sampled_plus_plus(self) -> Labels:
        """Assign rows to the nearest of k rows that k-means++ draws from a random sample."""
        problem = self.problem
        n_sample = seeding_sample(problem.rows.n_rows, problem.n_clusters)
        if n_sample >= problem.rows.n_rows:
            return self.plus_plus()
        sample = np.sort(self._draw(n_sample))
        weights = None if problem.row_weights is None else problem.row_weights[sample]
        chosen, _ = self._plus_plus(problem.rows.sample(sample), weights)
        return self._from_centres(problem.rows.take(sample[chosen]))

    def bisecting(self) -> Labels:
        """Assign rows to the leaves of a bisecting tree. Equal rows may lead to fewer than k leaves."""
        problem = self.problem
        seed = int(self.rng.randint(2**63 - 1, dtype=np.int64))
        builder = TreeBuilder.for_rows(
            problem.rows_in_memory, problem.row_weights, SplitRules(), seed, problem.n_threads
        )
        return builder.labels(self.grow(builder, problem.n_clusters))

    def from_user(self, array: Array) -> Labels:
        """Check and use centres (k, d) or labels (n,) that the user passed as `init`."""
        k, rows = self.problem.n_clusters, self.problem.rows
        n, d = rows.n_rows, rows.n_features
        if array.ndim == 2:
            return self._from_centres(rows.frame.enter(checked_centres(array, k, d, rows.frame.metric)))
        return checked_labels(array, k, n, d)

    def _plus_plus(
        self, rows: Rows, row_weights: Floats | None, n_trials: int = N_TRIALS
    ) -> tuple[NDArray[np.int64], Labels]:
        seed = int(self.rng.randint(2**63 - 1, dtype=np.int64))
        n_threads = self.problem.n_threads
        return _core.plus_plus(
            rows.core, row_weights, self.problem.n_clusters, n_trials, seed, n_threads
        )

    def _from_centres(self, centres: Floats) -> Labels:
        """Assign rows to the nearest centres, which are in the frame."""
        rows = self.problem.rows
        equal = RowWeights.of(None, rows.n_rows)
        return assign_nearest(rows, equal, centres, self.problem.n_threads)[0]

    def _draw(self, n_drawn: int) -> NDArray[np.int64]:
        """Draw distinct random rows. Rows of zero weight are used only if there are too few others."""
        weights = self.problem.row_weights
        if weights is None:
            return np.asarray(self.rng.choice(self.problem.rows.n_rows, n_drawn, replace=False))
        weighted, others = np.flatnonzero(weights > 0), np.flatnonzero(weights <= 0)
        drawn = self.rng.choice(weighted, min(n_drawn, len(weighted)), replace=False)
        return np.concatenate([drawn, others[: n_drawn - len(drawn)]])


def checked_centres(array: Array, n_clusters: int, n_features: int, metric: str) -> Floats:
    """Return centres that the user passed as `init`, of unit length for metric "cosine"."""
    centres = np.asarray(array, dtype=np.float64)
    check_initial_centres(centres, n_clusters, n_features)
    return normalize(centres) if metric == "cosine" else centres


def checked_labels(array: Array, n_clusters: int, n_rows: int, n_features: int) -> Labels:
    """Return labels that the user passed as `init`. Raise an error if they are invalid."""
    k = n_clusters
    if array.shape != (n_rows,) or array.dtype.kind not in "iu":
        expected = (
            f"one of {INIT_NAMES}, centres of shape ({k}, {n_features}), or {n_rows} integer labels"
        )
        raise ParameterError("init", expected, array)
    low, high = array.min(), array.max()
    if low < 0 or high >= k:
        text = "Labels given as init must lie in [0, {k}). Got {low} to {high}."
        raise InvalidValuesError(Message(text, k=k, low=low, high=high))
    return array.astype(np.int32)


def seeding_sample(n_rows: int, n_clusters: int) -> int:
    """Return the number of rows from which "sampled-k-means++" draws its centres."""
    enough = min(max(MIN_SMALL_SAMPLE, int(n_rows * MIN_SAMPLE_SHARE)), MIN_SAMPLE)
    return min(n_rows, max(SAMPLE_PER_CLUSTER * n_clusters, enough))


def fill_empty(partition: Partition, problem: Problem, *, strict: bool = False) -> bool:
    """Move a row into each empty cluster, choosing the rows that are farthest from their centres.

    The last row of a cluster is not moved. Streamed rows are taken from the first blocks that have
    enough rows. Sweeps would fill empty clusters, too, but with the first row that they visit, and not
    at all if every row lies on its centre. With `strict`, rows that lie on their centre are not moved.
    Return True if any row moved; the caller then recomputes the partition.
    """
    empty = np.flatnonzero(partition.counts == 0)
    if len(empty) == 0:
        return False
    rows, row_weights = problem.rows, problem.row_weights
    centres = partition.centres
    left = partition.counts.copy()
    waiting = deque(empty.tolist())
    for block in rows.blocks():
        labels = partition.labels[block.where]
        gaps, norms = distances_to_assigned(block.rows, centres, labels, problem.n_threads)
        if strict:
            on_centre = SPARSE_ROUNDING if rows.stays_sparse else SAME_PLACE**2
            gaps[gaps <= on_centre * norms] = -1.0
        if row_weights is not None:
            gaps[row_weights[block.where] <= 0] = -1.0
        for row in np.argsort(-gaps, kind="stable"):
            own = labels[row]
            if not waiting or gaps[row] < 0:
                break
            if left[own] > 1:
                left[own] -= 1
                labels[row] = waiting.popleft()
        if not waiting:
            break
    return len(waiting) < len(empty)
