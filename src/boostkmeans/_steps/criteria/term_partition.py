"""Term partition: a clustering of unit rows with its composites by term, and sweeps of a criterion."""

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from boostkmeans import _core
from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.rows import Rows, check_finite, describe, native_array, unit_factors
from boostkmeans._steps.criteria.criterion import ClusterNumbers, criterion_value, value_of_sums
from boostkmeans._steps.nearest import ZERO_WEIGHT_ROWS_AT_ONCE, nearest
from boostkmeans._steps.partition import Labels
from boostkmeans._steps.sweep import proposing_rows


@dataclass(frozen=True)
class UnitRows:
    """Rows scaled to unit length, without a shift: criteria depend on the origin.

    All sums are in the order of the columns, so that an array and a CSR matrix of the same data give the
    same labels.
    """

    rows: Rows
    weights: Floats | None
    """Weight of each row, None if all are 1. Rows of zeros have no direction, and weight 0."""
    n_threads: int

    @classmethod
    def of(cls, array: Array, weights: Floats | None, n_threads: int) -> "UnitRows":
        """Scale the rows of an array or CSR matrix. Raise NotFiniteError if a value is not finite."""
        native = native_array(array, n_threads)
        factors = unit_factors(array, "cosine", n_threads, native=native, by_columns=True)
        assert factors is not None, "the metric is the cosine"
        keep_sparse = sparse.issparse(array)
        if keep_sparse:
            check_finite(array)
        else:
            describe(array, factors, n_threads, native=native)
        frame = Frame(np.zeros(array.shape[1]), 0, "cosine")
        rows = Rows(array, frame, factors, stays_sparse=keep_sparse, native=native)
        if (factors == 0).any():
            weights = np.where(factors == 0, 0.0, 1.0 if weights is None else weights)
        return cls(rows, weights, n_threads)

    @property
    def positive(self) -> NDArray[np.int64]:
        """Numbers of the rows that have a positive weight."""
        if self.weights is None:
            return np.arange(self.rows.n_rows)
        return np.flatnonzero(self.weights > 0)

    def sample(self, indices: NDArray[np.int64]) -> "UnitRows":
        """Copy some rows."""
        weights = None if self.weights is None else self.weights[indices]
        return UnitRows(self.rows.sample(indices), weights, self.n_threads)

    def labels_around_seeds(self, n_clusters: int, rng: np.random.RandomState) -> Labels:
        """Draw one row per cluster, and assign the others to the most similar one."""
        seeds = rng.choice(self.positive, n_clusters, replace=False)
        labels = self.most_similar(self.rows.take(seeds))
        labels[seeds] = np.arange(n_clusters)  # Equal seeds would leave all but one cluster empty.
        return labels

    def most_similar(self, directions: Floats) -> Labels:
        """Return the direction with the largest cosine for each row. Ties go to the lower index."""
        k = len(directions)
        labels = np.empty(self.rows.n_rows, dtype=np.int32)
        composites = _core.TermComposites(
            labels=labels,
            by_term=np.ascontiguousarray(directions.T),
            weights=np.zeros(k),
            counts=np.zeros(k, dtype=np.int64),
        )
        _core.most_similar(self.rows.core, composites, self.n_threads)
        return labels

    def assign_weightless(self, labels: Labels, directions: Floats) -> None:
        """Assign rows without weight, which sweeps never move, to the most similar direction, in place.

        Rows of zeros get the label that `predict` returns for them.
        """
        if self.weights is None:
            return
        weightless = np.flatnonzero(self.weights <= 0)
        for begin in range(0, len(weightless), ZERO_WEIGHT_ROWS_AT_ONCE):
            some = weightless[begin : begin + ZERO_WEIGHT_ROWS_AT_ONCE]
            labels[some] = self.sample(some).most_similar(directions)
        zero_rows = self.rows.zero_rows()
        if zero_rows is not None and zero_rows.any():
            zero = Rows(np.zeros((1, self.rows.n_features)), self.rows.frame, None)
            labels[zero_rows] = nearest(zero, directions, 1)[0][0]

    def has_same_lengths(self) -> bool:
        """Return False if the lengths of rows have changed since they were scaled to unit length."""
        return self.rows.has_same_lengths(self.n_threads, by_columns=True)


class CriterionSweep(NamedTuple):
    """Result of a sweep."""

    moves: int
    evaluations: int
    """Number of products of rows and composites."""
    value: float
    """Value of the criterion after the sweep."""
    late: bool
    """True if the deadline stopped the sweep."""


@dataclass
class TermPartition:
    """Labels, and the composites, weights and counts that follow from them.

    `by_term` has one row per feature and one column per cluster, so that a sparse row reads few rows of
    it. `Partition` has the transposed composites.
    """

    labels: Labels
    by_term: Floats
    weights: Floats
    counts: NDArray[np.int64]
    stale: bool = False
    """True if moves have changed the composites since they were summed, and added rounding errors."""

    @classmethod
    def from_labels(cls, labels: Labels, n_clusters: int, data: UnitRows) -> "TermPartition":
        """Return the partition with these labels, which it changes in place."""
        partition = cls(
            labels=labels,
            by_term=np.empty((data.rows.n_features, n_clusters)),
            weights=np.empty(n_clusters),
            counts=np.empty(n_clusters, dtype=np.int64),
        )
        partition.recompute(data)
        return partition

    def recompute(self, data: UnitRows) -> None:
        """Compute composites, weights and counts from the labels."""
        _core.sum_by_term(data.rows.core, data.weights, self._view(), data.n_threads)
        self.stale = False

    @property
    def n_clusters(self) -> int:
        """Number of clusters. None of them is empty."""
        return len(self.weights)

    @property
    def directions(self) -> Floats:
        """Composites scaled to unit length, one per row."""
        lengths = np.sqrt(np.einsum("ij,ij->j", self.by_term, self.by_term))
        # Rows that changed during the fit may have made sums infinite. The caller refuses the NaN.
        with np.errstate(invalid="ignore"):
            return np.ascontiguousarray((self.by_term / np.where(lengths > 0, lengths, 1.0)).T)

    def numbers(self, total: Floats | None = None) -> ClusterNumbers:
        """Return the numbers of the clusters. `total` is the sum of these rows by default."""
        return ClusterNumbers.of(self.by_term.T, self.weights, total)

    def value(self, criterion: str) -> float:
        """Return the value of a criterion."""
        return criterion_value(criterion, self.numbers())

    def sweep(
        self,
        criterion: str,
        data: UnitRows,
        rng: np.random.RandomState,
        *,
        deadline: float = math.inf,
        block_rows: int | None = None,
    ) -> CriterionSweep:
        """Visit all rows in random order, and move each to the cluster with the largest gain.

        `block_rows` is the number of rows that propose before the first move is decided; by default it
        depends on the number of rows. `deadline` is a value of `time.perf_counter()`.
        """
        n = data.rows.n_rows
        found = _core.criterion_sweep(
            data.rows.core,
            data.weights,
            self._view(),
            criterion=getattr(_core.Criterion, criterion),
            order=rng.permutation(n).astype(np.int64),
            block_rows=block_rows or proposing_rows(n),
            seconds_left=max(0.0, deadline - time.perf_counter()),
            n_threads=data.n_threads,
        )
        self.stale = self.stale or found.moves > 0
        if found.late:  # The core may have stopped before it knew the sums.
            value = self.value(criterion)
        else:
            value = value_of_sums(criterion, found.within, found.between, self.n_clusters)
        return CriterionSweep(found.moves, found.evaluations, value, found.late)

    def _view(self) -> _core.TermComposites:
        return _core.TermComposites(
            labels=self.labels, by_term=self.by_term, weights=self.weights, counts=self.counts
        )
