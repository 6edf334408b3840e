"""Criterion run: the optimisation of one of CLUTO's criteria, from its start to its outcome."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from boostkmeans._engine.criterion_history import SPLIT, SWEEP, CriterionRecord
from boostkmeans._engine.stopping import StopReason
from boostkmeans._runtime.progress import logger, stage_prefix
from boostkmeans._steps.criteria.criterion import improvement
from boostkmeans._steps.criteria.criterion_tree import CriterionTree
from boostkmeans._steps.criteria.term_partition import TermPartition, UnitRows
from boostkmeans._steps.partition import Labels

METHODS = ("k-way", "bisecting", "refined")

# After a sweep that moves at most this share of the rows, composites are summed again: the next sweep
# may be the last one, and it certifies the result only with fresh composites.
FEW_MOVES = 1 / 100


@dataclass(frozen=True)
class CriterionSettings:
    """Settings of all runs of a fit."""

    n_clusters: int
    criterion: str
    method: str
    """"k-way" for sweeps over all clusters, "bisecting" for a tree, "refined" for both."""
    split: str
    """Which cluster of a tree is split next: see `CriterionTree`."""
    max_iter: int
    """Maximum number of sweeps, over all clusters and in each split."""
    tol: float
    """Relative improvement below which sweeps end. 0 continues until no row moves."""
    began: float
    """Start of the fit, as a value of `time.perf_counter()`."""
    deadline: float = math.inf
    """Deadline, as a value of `time.perf_counter()`."""
    callback: Callable[[CriterionRecord], bool | None] | None = None
    """Function called after each sweep and split. The fit ends if it returns a true value."""


@dataclass
class CriterionRun:
    """One run. It has a partition as soon as there are all clusters."""

    data: UnitRows
    settings: CriterionSettings
    rng: np.random.RandomState
    history: list[CriterionRecord] = field(default_factory=list)
    partition: TermPartition | None = None
    reason: StopReason | None = None
    """Reason why the run ended. None while it is running."""

    def execute(self) -> None:
        """Perform the run."""
        settings = self.settings
        if settings.method == "k-way":
            labels = self.data.labels_around_seeds(settings.n_clusters, self.rng)
        else:
            labels = self._grow()
        self.partition = TermPartition.from_labels(labels, settings.n_clusters, self.data)
        if self.reason is None and settings.method == "bisecting":
            self.reason = StopReason.TREE
        if self.reason is None:
            self.reason = self._descend(self.partition, self.data, self._record_sweep)

    @property
    def value(self) -> float:
        """Value of the criterion."""
        assert self.partition is not None
        return self.partition.value(self.settings.criterion)

    def is_better_than(self, other: "CriterionRun") -> bool:
        """Return True if the criterion has a better value than in another run."""
        return improvement(self.settings.criterion, other.value, self.value) > 0

    def _grow(self) -> Labels:
        """Split clusters until there are enough. Return the labels.

        After the deadline or the end by a callback, rows are only assigned to the seeds of the splits.
        """
        settings = self.settings
        tree = CriterionTree(self.data, settings.criterion, settings.split, self._split)
        while len(tree.leaves) < settings.n_clusters:
            before = tree.work
            tree.grow()
            moves, evaluations = tree.work[0] - before[0], tree.work[1] - before[1]
            self._note(moves, evaluations, tree.value, SPLIT)
            logger.info(
                "%stree: %d of %d clusters, %s %.8g",
                stage_prefix(), len(tree.leaves), settings.n_clusters, settings.criterion, tree.value,
            )  # fmt: skip
        return tree.labels()

    def _split(self, data: UnitRows) -> tuple[TermPartition, int, int]:
        """Split rows into two clusters. Return them, and the numbers of moves and evaluations."""
        labels = data.labels_around_seeds(2, self.rng)
        evaluations, moves = 2 * data.rows.n_rows, 0
        partition = TermPartition.from_labels(labels, 2, data)

        def count(n_moves: int, n_evaluations: int, value: float) -> None:
            nonlocal moves, evaluations
            moves, evaluations = moves + n_moves, evaluations + n_evaluations

        if self.reason is None and data.rows.n_rows > 2:
            reason = self._descend(partition, data, count)
            if reason is StopReason.MAX_TIME:
                self.reason = reason
        return partition, moves, evaluations

    def _descend(
        self, partition: TermPartition, data: UnitRows, report: Callable[[int, int, float], None]
    ) -> StopReason:
        """Sweep until no row moves, or until another criterion ends the run."""
        settings = self.settings
        value = partition.value(settings.criterion)
        for _ in range(settings.max_iter):
            before = value
            found = partition.sweep(settings.criterion, data, self.rng, deadline=settings.deadline)
            value = found.value
            report(found.moves, found.evaluations, value)
            if found.late:
                return StopReason.MAX_TIME
            if found.moves == 0 and not partition.stale:
                return StopReason.CERTIFIED
            if found.moves <= FEW_MOVES * data.rows.n_rows:
                partition.recompute(data)
            if self.reason is StopReason.CALLBACK:
                return StopReason.CALLBACK
            if found.moves and improvement(settings.criterion, before, value) < settings.tol * abs(
                before
            ):
                return StopReason.TOL
        return StopReason.MAX_ITER

    def _record_sweep(self, moves: int, evaluations: int, value: float) -> None:
        self._note(moves, evaluations, value, SWEEP)
        number = sum(record.kind == SWEEP for record in self.history)
        logger.info(
            "%ssweep %d: %s %.8g, %d moves",
            stage_prefix(), number, self.settings.criterion, value, moves,
        )  # fmt: skip

    def _note(self, moves: int, evaluations: int, value: float, kind: str) -> None:
        """Add a record to the history, and pass it to the callback."""
        seconds = time.perf_counter() - self.settings.began
        self.history.append(CriterionRecord(seconds, moves, value, evaluations, kind))
        callback = self.settings.callback
        if callback is not None and callback(self.history[-1]) and self.reason is None:
            self.reason = StopReason.CALLBACK
