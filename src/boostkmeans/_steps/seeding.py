"""Starts: from rows to the labels that the first sweep begins with."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import normalize

from boostkmeans import _core
from boostkmeans._data.rows import Array, Floats, Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.checkpoint import GROWTH, NOT_KEPT, Keeper
from boostkmeans._runtime.errors import InvalidValuesError, Message, ParameterError
from boostkmeans._runtime.parameter_checks import check_initial_centres
from boostkmeans._steps.coincident import SAME_PLACE
from boostkmeans._steps.partition import Labels, Partition, assigned, own_distances
from boostkmeans._steps.tree_builder import Growth, SplitRules

Init = str | ArrayLike | Callable[[Array, int, np.random.RandomState], ArrayLike]
SAMPLED = "sampled-k-means++"
NAMES = ("auto", "random-partition", "random", "k-means++", SAMPLED, "bisecting")

# Candidates per centre in k-means++. scikit-learn takes 2 + log(k); with the centre chosen last,
# 16 columns are one AVX-512 vector, so that more than that come for free up to k = 400,000.
N_TRIALS = 15
# The squared distance of two sparse rows that are equal may be that share of |x|^2, by rounding.
SPARSE_ROUNDING = 2.0**-44
# Without repair, "auto" draws k-means++ centres from a sample of the rows. It ends where k-means++ on
# all rows does, in half of the time; trees and random starts end far above it where there are clusters:
# see "Starts" in docs/benchmarks.md.
SAMPLE_PER_CLUSTER, SMALLEST_SAMPLE = 16, 16_384
# Seeding costs about 24 sweeps over its sample: not worth it where that is most of large data.
LARGEST_SHARE = 1 / 4
# Its cost grows with k squared, that of a tree hardly with k: "What auto stands for" in
# docs/benchmarks.md.
MOST_SEEDS = 1024
FEW_SEEDS = 16


@dataclass(frozen=True)
class Start:
    """Makes labels from rows: one method a start."""

    rows: Rows
    row_weights: Floats | None
    n_clusters: int
    rng: np.random.RandomState
    n_threads: int
    keeper: Keeper = NOT_KEPT

    def named(self, name: str) -> Labels:
        """Labels by the start of that name."""
        starts = {
            "random-partition": self.random_partition,
            "random": self.random_centres,
            "k-means++": self.plus_plus,
            SAMPLED: self.sampled_plus_plus,
            "bisecting": self.bisecting,
        }
        return starts[name]()

    def random_partition(self) -> Labels:
        """Each row into a random cluster, all clusters of the same size: the paper's BKM(non)."""
        labels = np.resize(np.arange(self.n_clusters, dtype=np.int32), self.rows.n_rows)
        self.rng.shuffle(labels)
        return labels

    def random_centres(self) -> Labels:
        """The nearest of k rows drawn at random: the paper's BKM(rnd)."""
        return self.from_centres(self.rows.take(self._draw(self.n_clusters)))

    def plus_plus(self) -> Labels:
        """The nearest of k rows drawn by greedy k-means++: the paper's BKM(kpp)."""
        return self._plus_plus(self.rows, self.row_weights)[1]

    def bisecting(self) -> Labels:
        """The leaves of a bisecting tree. There may be fewer than k, where rows are equal."""
        seed = int(self.rng.randint(2**63 - 1, dtype=np.int64))
        growth = Growth.over(self.rows, self.row_weights, SplitRules(), seed, self.n_threads)
        return growth.labels(grown(growth, self.n_clusters, self.keeper))

    def sampled_plus_plus(self) -> Labels:
        """K-means++ with the k rows drawn from a random sample."""
        n_sample = sample_size(self.rows.n_rows, self.n_clusters)
        if n_sample >= self.rows.n_rows:
            return self.plus_plus()
        sample = np.sort(self._draw(n_sample))
        weights = None if self.row_weights is None else self.row_weights[sample]
        chosen, _ = self._plus_plus(self.rows.sample(sample), weights)
        return self.from_centres(self.rows.take(sample[chosen]))

    def _plus_plus(self, rows: Rows, row_weights: Floats | None) -> tuple[NDArray[np.int64], Labels]:
        seed = int(self.rng.randint(2**63 - 1, dtype=np.int64))
        return _core.plus_plus(rows.core, row_weights, self.n_clusters, N_TRIALS, seed, self.n_threads)

    def from_centres(self, centres: Floats) -> Labels:
        """The nearest of given centres, which are in the frame."""
        everything = RowWeights.of(None, self.rows.n_rows)
        return assigned(self.rows, everything, centres, self.n_threads)[0]

    def given(self, array: Array) -> Labels:
        """Centres (k, d) or labels (n,) that the user gives."""
        k, n, d = self.n_clusters, self.rows.n_rows, self.rows.n_features
        if array.ndim == 2:
            centres = np.asarray(array, dtype=np.float64)
            check_initial_centres(centres, k, d)
            if self.rows.frame.metric == "cosine":
                centres = normalize(centres)
            return self.from_centres(self.rows.frame.enter(centres))
        if array.shape != (n,) or array.dtype.kind not in "iu":
            raise ParameterError(
                "init", f"one of {NAMES}, centres of shape ({k}, {d}), or {n} integer labels", array
            )
        if array.min() < 0 or array.max() >= k:
            raise InvalidValuesError(
                Message(
                    "Labels given as init must lie in [0, {k}). Got {low} to {high}.",
                    k=k, low=array.min(), high=array.max(),
                )
            )  # fmt: skip
        return array.astype(np.int32)

    def _draw(self, n_drawn: int) -> NDArray[np.int64]:
        """Random rows, none of them twice; none without weight as long as there are others."""
        n = self.rows.n_rows
        if self.row_weights is None:
            return np.asarray(self.rng.choice(n, n_drawn, replace=False))
        weighty, others = np.flatnonzero(self.row_weights > 0), np.flatnonzero(self.row_weights <= 0)
        drawn = self.rng.choice(weighty, min(n_drawn, len(weighty)), replace=False)
        return np.concatenate([drawn, others[: n_drawn - len(drawn)]])


def grown(growth: Growth, n_leaves: int, keeper: Keeper) -> NDArray[np.int64]:
    """The splits of a tree of so many leaves, which goes on from a checkpoint if there is one."""
    saved = keeper.saved(GROWTH)
    if saved is not None:
        growth.restore(saved)
    return growth.grow(n_leaves, lambda: keeper.keep(GROWTH, growth.state))


def automatic_start(n_rows: int, n_clusters: int, *, repaired: bool) -> tuple[str, str]:
    """What "auto" stands for, and why."""
    if n_clusters <= FEW_SEEDS:
        return SAMPLED, "the fastest for few clusters"
    if repaired:
        return "bisecting", "the fastest; repair sets right what it gets wrong"
    if n_clusters > MOST_SEEDS:
        return "bisecting", f"more than {MOST_SEEDS} clusters"
    most_of_large = n_rows * LARGEST_SHARE > SMALLEST_SAMPLE
    if most_of_large and sample_size(n_rows, n_clusters) > n_rows * LARGEST_SHARE:
        return "bisecting", "k-means++ would take longer than the sweeps"
    return SAMPLED, "without repair, a tree might end far above"


def sample_size(n_rows: int, n_clusters: int) -> int:
    """Rows from which k-means++ centres are drawn."""
    return min(n_rows, max(SAMPLE_PER_CLUSTER * n_clusters, SMALLEST_SAMPLE))


def fill_empty(
    partition: Partition,
    rows: Rows,
    row_weights: Floats | None,
    n_threads: int,
    *,
    strict: bool = False,
) -> bool:
    """Gives each empty cluster a row: those farthest from their centres that are not alone there.

    Of rows in parts, those of the first part that has enough of them.

    Sweeps would do so too, with the first row that they meet; and not at all where every row lies on
    its centre. Such rows stay if `strict`. Returns whether any moved; then the partition is to be
    recomputed.
    """
    empty = np.flatnonzero(partition.counts == 0)
    if len(empty) == 0:
        return False
    centres = partition.centres
    left = partition.counts.copy()
    waiting = deque(empty.tolist())
    for part in rows.parts():
        labels = partition.labels[part.where]
        gaps, norms = own_distances(part.rows, centres, labels, n_threads)
        if strict:
            nothing = SPARSE_ROUNDING if rows.stays_sparse else SAME_PLACE**2
            gaps[gaps <= nothing * norms] = -1.0
        if row_weights is not None:
            gaps[row_weights[part.where] <= 0] = -1.0
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
