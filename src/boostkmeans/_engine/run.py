"""Run: the optimisation of one partition from its start to its outcome, with a record per sweep."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import Rows
from boostkmeans._engine.candidate_strategy import CandidateStrategy
from boostkmeans._engine.few_clusters import has_few_clusters
from boostkmeans._engine.plan import Plan
from boostkmeans._engine.scheduled_run import LastSweep, ScheduledRun
from boostkmeans._engine.stopping import Outcome, StopReason
from boostkmeans._steps.balance import Balancing
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.coincident import first_at_same_place
from boostkmeans._steps.nearest import nearest_labels
from boostkmeans._steps.partition import Labels, Partition, Snapshot
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.row_bounds import RowBounds
from boostkmeans._steps.seeding import fill_empty
from boostkmeans._steps.sweep import (
    FullPolicy,
    SweepOptions,
    SweepProgress,
    SweepResult,
    VisitPolicy,
)

logger = logging.getLogger("boostkmeans")

# Composites and inertia are recomputed from the labels after this number of moves per row.
RECOMPUTE_AFTER_MOVES = 1
# They are also recomputed if a sweep lowers the inertia by this share, because the new inertia is then a
# small difference of large sums.
RECOMPUTE_AFTER_FALL = 1 / 2
# Maximum relative difference of two float64 sums over all rows in different order.
INERTIA_ROUNDING = 1e-9
# Maximum rounding error of a value in the frame, where values are at most 1.
ROW_ROUNDING = 1e-15

# A run that sees only some dimensions measures the inertia in all of them when its own has fallen by
# this share. A measurement takes about as long as half a sweep.
MEASURE_AFTER_FALL = 1 / 40


MakeTree = Callable[[Partition, Floats], tuple[ClusterTree, int, str]]
"""Build a tree from the partition of its leaves and their inertias.

Return the tree, the number of rows that it splits, and a note for the history.
"""


def inertia_of(problem: Problem, partition: Partition) -> float:
    """Return the inertia of the rows of a problem with the labels of a partition, in user units."""
    _, inertia = Partition.from_labels(
        partition.labels,
        partition.n_clusters,
        problem.rows,
        problem.row_weights,
        problem.n_threads,
    )
    return problem.rows.frame.inertia(inertia) * problem.weights.unit


@dataclass(kw_only=True)
class Run(ScheduledRun):
    """A partition and the state of its optimisation.

    Use `start` to create a run, or `restore_run` to restore it from a checkpoint. Native functions
    always leave the partition in a consistent state.
    """

    problem: Problem
    partition: Partition
    candidates: CandidateStrategy | None = None
    """Choice of the clusters that rows are compared with; None for all clusters."""
    tree: ClusterTree | None = None
    """The tree from which the run of a bisecting estimator starts."""
    best: Snapshot | None = None
    """The best partition so far, while annealing or a trial swap may raise the inertia."""
    progress: SweepProgress | None = None
    """The current sweep over streamed rows."""
    exchanged: bool = False
    """With size limits: True if the last sweep exchanged rows. Sweeps with and without exchanges
    alternate."""
    original: Problem | None = None
    """The problem in all dimensions, if this run sees only some of them. Records then report the inertia
    in all dimensions."""
    measured: float = math.inf
    """Inertia of this run when that in all dimensions was last measured."""
    inertias: Floats | None = None
    """Inertia of each cluster in the frame, if it is known for the current labels."""
    moves_since_recompute: float = 0
    recomputed: bool = False
    """True if sums and inertia are exactly those of the labels as long as no row moves."""
    total_squares: float = 0.0
    """Sum of inertia and objective, which is the same for all partitions."""
    bounds: RowBounds | None = None
    """Row bounds; None if the next sweep has to visit all rows. Moves do not depend on them, so
    checkpoints do not contain them."""
    _centres: Floats | None = None
    """The centres, once `take_centres` has computed them."""

    @classmethod
    def start(
        cls,
        problem: Problem,
        plan: Plan,
        labels: Labels,
        rng: np.random.RandomState,
        *,
        began: float,
        tol: float = 0.0,
        deadline: float = np.inf,
        positions: Floats | None = None,
        make_tree: MakeTree | None = None,
        outcome: Outcome | None = None,
        on_course: bool = True,
        original: Problem | None = None,
    ) -> "Run":
        """Return a run at its start, with empty clusters filled and sizes within the limits.

        `positions` are the positions of empty clusters; if given, these clusters stay empty. `make_tree`
        builds the tree of a bisecting run. A tree without refinement is the `outcome`.
        """
        data = problem.rows, problem.row_weights, problem.n_threads
        inertias = None if make_tree is None else np.zeros(problem.n_clusters)
        partition, inertia = Partition.from_labels(
            labels, problem.n_clusters, *data, positions=positions, inertias=inertias
        )
        if positions is None and fill_empty(partition, problem):
            inertia, _ = partition.recompute(*data, inertias=inertias)
        candidates = None
        if plan.n_candidates is not None:
            candidates = CandidateStrategy(plan.n_candidates, plan.probes, tol)
        run = cls(
            problem=problem, plan=plan, partition=partition, inertia=inertia, rng=rng, began=began,
            candidates=candidates, note=str(plan), outcome=outcome, on_course=on_course,
            original=original, inertias=inertias,
        )  # fmt: skip
        if problem.limits is not None:
            numbers = problem.limits.numbering(partition.weights)
            if numbers is not None:
                run.partition = partition = partition.renumbered(numbers)
            logger.info("moving rows until all clusters are within the size limits")
            run.partition = Balancing(
                partition, problem, run._balancing_policy, rng, deadline=deadline
            ).run()
            run.on_course = run.on_course and time.perf_counter() < deadline
            run._invalidate_lists()
            run.recompute()
        run.total_squares = run.inertia + run.partition.objective
        if make_tree is not None and inertias is not None:
            run.tree, n_rows, note = make_tree(partition, inertias)
            run.record(n_rows, 0, "tree", note=note)
        return run

    @classmethod
    def of_partition(
        cls,
        problem: Problem,
        plan: Plan,
        partition: Partition,
        rng: np.random.RandomState,
        *,
        began: float,
        inertias: Floats | None = None,
    ) -> "Run":
        """Return a run that starts from a partition, which may have empty clusters.

        `inertias` are those of the clusters, if they are known.
        """
        run = cls(
            problem=problem, plan=plan, partition=partition, inertia=0.0, rng=rng, began=began,
            note=str(plan),
        )  # fmt: skip
        if inertias is None:
            run.recompute()
        else:
            run.inertia, run.inertias = float(inertias.sum()), inertias
            run.total_squares = run.inertia + partition.objective
        return run

    def _balancing_policy(self, partition: Partition) -> VisitPolicy:
        """Return a policy for balancing. Penalties change, so every sweep needs fresh lists."""
        if self.candidates is None:
            return FullPolicy()
        self.candidates.invalidate()
        self.candidates.refresh(self.problem, partition, first=False)
        return self.candidates.policy()

    @property
    def n_rows(self) -> int:
        """See `ScheduledRun`."""
        return self.problem.rows.n_rows

    @property
    def n_features(self) -> int:
        """See `ScheduledRun`."""
        return self.problem.rows.n_features

    @property
    def n_clusters(self) -> int:
        """See `ScheduledRun`."""
        return self.partition.n_clusters

    @property
    def has_limits(self) -> bool:
        """See `ScheduledRun`."""
        return self.problem.limits is not None

    @property
    def sees_all_dimensions(self) -> bool:
        """See `ScheduledRun`."""
        return self.original is None

    @property
    def converges_slowly(self) -> bool:
        """See `ScheduledRun`."""
        few = has_few_clusters(self.problem) and self.candidates is None
        return few and self.plan.moves == "best"

    @property
    def uses_candidates(self) -> bool:
        """See `ScheduledRun`."""
        return self.candidates is not None

    def next_candidates(self) -> bool:
        """See `ScheduledRun`."""
        return self.candidates is not None and self.candidates.next_strategy()

    def drop_candidates(self) -> None:
        """See `ScheduledRun`."""
        self.candidates = None

    @property
    def centres(self) -> Floats:
        """See `ScheduledRun`."""
        return self.partition.centres

    @property
    def inertia_in_user_units(self) -> float:
        """Inertia in the user's unit of measurement, with the user's weights."""
        return self.problem.rows.frame.inertia(self.inertia) * self.problem.weights.unit

    def _inertia_to_report(self) -> float:
        """Return the inertia in all dimensions, in user units.

        If the run sees only some dimensions, it is measured after a considerable change. Otherwise the
        last measurement is returned.
        """
        original = self.original
        if original is None:
            return self.inertia_in_user_units
        if self.history and self.inertia > (1 - MEASURE_AFTER_FALL) * self.measured:
            return self.history[-1].inertia
        self.measured = self.inertia
        return inertia_of(original, self.partition)

    @property
    def explained_share(self) -> float:
        """Share of the total inertia of all rows that the clusters explain."""
        total = self.total_squares - self.partition.objective_of_one_cluster
        return max(0.0, 1 - self.inertia / total) if total > 0 else 1.0

    def options(self, deadline: float, temperature: float = 0.0) -> SweepOptions:
        """Return the options that all sweeps of this run share."""
        return SweepOptions(
            first=self.plan.moves == "first",
            temperature=temperature,
            exchange=self.exchanged,
            deadline=deadline,
        )

    def extrapolate(self, centres: Floats) -> bool:
        """Assign all rows to the nearest of some centres. Return False if the inertia does not fall.

        The partition is then the same as before.
        """
        problem, own = self.problem, self.partition
        data = problem.rows, problem.row_weights, problem.n_threads
        labels = nearest_labels(problem.rows, centres, problem.n_threads)
        found, inertia = Partition.from_labels(labels, own.n_clusters, *data)
        if (found.counts == 0).any() or inertia * (1 + INERTIA_ROUNDING) >= self.inertia:
            return False
        if self.bounds is not None:
            self.bounds.forget(own.labels, labels)
        moves = int(np.count_nonzero(own.labels != labels))
        self.partition, self.inertia, self.inertias = found, inertia, None
        self.moves_since_recompute = 0
        self.record(moves, problem.rows.n_rows * own.n_clusters, "extrapolation")
        return True

    def account(self, result: SweepResult) -> None:
        """Update the inertia. Recompute it if the difference would be too inaccurate."""
        self.moves_since_recompute += result.moves
        if result.moves or result.gain:
            self.inertias = None
        steep = result.gain > RECOMPUTE_AFTER_FALL * self.inertia
        self.inertia = max(0.0, self.inertia - result.gain)
        n_rows = self.problem.rows.n_rows
        if steep or self.moves_since_recompute > RECOMPUTE_AFTER_MOVES * n_rows:
            self.recompute()

    def recompute(self) -> None:
        """Recompute sums and inertia from the labels."""
        problem, inertias = self.problem, np.zeros(self.n_clusters)
        self.inertia, drift = self.partition.recompute(
            problem.rows, problem.row_weights, problem.n_threads, inertias=inertias
        )
        self.inertias = inertias
        if self.n_sweeps or self.tree is not None:  # There is no drift before the first sweep.
            self.drift = max(self.drift, drift)
        self.total_squares = self.inertia + self.partition.objective
        self.moves_since_recompute = 0

    def confirms_certificate(self) -> bool:
        """Return True if the last sweep proves a local optimum.

        This requires that it found no move in float64 and started from recomputed composites. If the
        composites are not recent, recompute them, so that the next sweep can prove the optimum.
        """
        if self.last != LastSweep("certify", 0):
            return False
        fresh = self.moves_since_recompute == 0
        if not fresh:
            self.recompute()
        return fresh

    def keep_if_best(self) -> None:
        """Take a snapshot if the partition is the best so far."""
        if self.best is None or self.inertia < self.best.inertia:
            self.best = Snapshot.copy_of(self.partition, self.inertia)

    def return_to_best(self) -> bool:
        """Restore the snapshot if it is better than the partition. Return True if it was restored."""
        best, self.best = self.best, None
        if best is None or best.inertia * (1 + INERTIA_ROUNDING) >= self.inertia:
            return False
        self.inertia = best.inertia
        self.bounds = self.inertias = None
        if best.partition is not None:
            self.partition = best.partition
            self.moves_since_recompute += 1  # It may not have been recomputed.
        else:
            self.partition.stale = True
            self.partition.labels = best.labels
            self.recompute()
        self._invalidate_lists()
        return True

    def release_coincident(self) -> bool:
        """Merge clusters with the same centre, and move rows that gain by it into the freed clusters."""
        problem, own = self.problem, self.partition
        first = first_at_same_place(own)
        free = np.flatnonzero(first != np.arange(len(first)))
        if len(free) == 0 or problem.n_pinned or problem.limits is not None:
            return False
        # Build a new partition, so that an interrupt finds the old one intact.
        positions = np.zeros_like(own.composites)
        weights = own.weights[first[free]]
        positions[free] = own.composites[first[free]] / np.where(weights > 0, weights, 1.0)[:, None]
        data = problem.rows, problem.row_weights, problem.n_threads
        merged, _ = Partition.from_labels(first[own.labels], len(first), *data, positions=positions)
        moved = fill_empty(merged, problem, strict=True)
        if moved:
            merged.recompute(*data)
        self.partition = merged
        self.bounds = None
        self.recompute()
        self._invalidate_lists()
        return moved

    def is_inertia_of(self, labels: Labels) -> bool:
        """Return True if labels have the inertia of this run, up to rounding.

        For the labels of the run itself, this is False if the rows have changed in the meantime.
        """
        problem = self.problem
        rows = problem.rows
        if isinstance(rows, Rows) and not rows.has_same_lengths(problem.n_threads):
            return False
        _, inertia = Partition.from_labels(
            labels, self.partition.n_clusters, problem.rows, problem.row_weights, problem.n_threads
        )
        slack = ROW_ROUNDING**2 * problem.rows.n_features * float(self.partition.weights.sum())
        return abs(inertia - self.inertia) <= INERTIA_ROUNDING * self.inertia + slack

    def take_centres(self) -> Floats:
        """Return the centres of the finished run, in the frame.

        The first call turns the composites into centres in place, because both together may not fit
        into memory. The composites must not be used afterwards.
        """
        if self._centres is None:
            partition = self.partition
            partition.composites /= np.where(partition.weights > 0, partition.weights, 1.0)[:, None]
            partition.stale = True
            self._centres = partition.composites
        return self._centres

    def _invalidate_lists(self) -> None:
        if self.candidates is not None:
            self.candidates.invalidate()

    def finish(self, outcome: Outcome) -> None:
        """End the run after its last sweep."""
        self.outcome = outcome
        self.bounds = None
        if not self.recomputed or self.moves_since_recompute > 0:
            self.recompute()
        if self.candidates is not None:
            self.candidates = self.candidates.without_lists()

    def interrupt(self) -> None:
        """End the run at once after Ctrl-C, without another pass over the rows if possible."""
        self.outcome = Outcome(StopReason.INTERRUPTED, complete=False)
        self.progress = None
        if self.partition.stale:
            self.recompute()
        # Sweeps keep composites and labels consistent.
        self.inertia = max(0.0, self.total_squares - self.partition.objective)
        self.return_to_best()
