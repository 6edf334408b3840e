"""Update: the steps that optimise a partition only where rows were added or removed."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._engine.plan import AUTO_FROM_CLUSTERS, Plan
from boostkmeans._engine.repair_rounds import RepairRounds
from boostkmeans._engine.run import Run
from boostkmeans._engine.stopping import Outcome, StoppingCriteria, StopReason
from boostkmeans._engine.updates.ledger import ClusterLedger, Mask
from boostkmeans._engine.updates.restructuring import Restructuring
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError
from boostkmeans._steps.balance import Balancing, NoPartitionError
from boostkmeans._steps.candidates import CandidatePolicy, NeighbourLists
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.repair import Repair, Swaps
from boostkmeans._steps.sweep import FullPolicy, VisitPolicy, sweep

# Maximum number of repair rounds before the sweeps, and after them. More rounds gain little: see
# "Updates" in docs/benchmarks.md.
MAX_REPAIR_ROUNDS = 1
# Sweeps stop when one gains less than `tol` times this number. They begin near an optimum, so that the
# first one has most of the gain. Those that follow would move many rows for little: see "Updates" in
# docs/benchmarks.md.
TOLERANCE_FACTOR = 100
# Maximum length of the lists of candidates, if the plan compares rows with all clusters.
MAX_CANDIDATES = AUTO_FROM_CLUSTERS
# A swap merges two clusters and splits a third one.
MIN_CLUSTERS_TO_SWAP = 3
# With fewer clusters, rows are compared with all clusters, because all are neighbours.
MIN_CLUSTERS_FOR_LISTS = 3


@dataclass(frozen=True)
class Placement:
    """Rows of an updated problem in clusters of the model, before anything is optimised."""

    problem: Problem
    """The remaining old rows, or the weighted centres that represent them, followed by the new rows."""
    labels: Labels
    n_old: int
    """Number of leading rows that the model contained."""
    centres: Floats
    """Centres of the model in the frame: the positions of clusters without rows."""
    touched: Mask
    """Clusters that gained or lost rows."""


@dataclass
class TrackedRepairs(RepairRounds):
    """Repair rounds of touched clusters that record their swaps."""

    restructuring: Restructuring | None = None

    def _plan_repair(self, seed: int) -> Repair:
        state = self._state
        state.partition = self.run.partition
        return state.plan(seed)

    def _swap(self, repair: Repair, swaps: Swaps, record_below: float = math.inf) -> None:
        super()._swap(repair, swaps, record_below)
        state = self._state
        state.ledger.merge(swaps.merged, swaps.freed)
        state.ledger.split(swaps.split, swaps.freed)
        state.touched[swaps.touched] = True

    @property
    def _state(self) -> Restructuring:
        assert self.restructuring is not None
        return self.restructuring


@dataclass
class Update:
    """Optimisation of a partition around touched clusters. `perform` returns the finished run."""

    placement: Placement
    plan: Plan
    criteria: StoppingCriteria
    rng: np.random.RandomState
    began: float
    """Start time, as a value of `time.perf_counter()`."""
    ledger: ClusterLedger
    repairs_pay: bool = True
    """False after repair rounds that swapped no clusters."""

    @classmethod
    def of(
        cls,
        placement: Placement,
        plan: Plan,
        criteria: StoppingCriteria,
        rng: np.random.RandomState,
        began: float,
    ) -> "Update":
        """Return an update that has changed nothing yet."""
        ledger = ClusterLedger.begin(len(placement.centres))
        return cls(placement, plan, criteria, rng, began, ledger)

    def perform(self, n_clusters: int) -> Run:
        """Change the number of clusters, restore the limits, sweep and repair."""
        state = self._within_limits(n_clusters)
        run = Run.of_partition(
            state.problem, self.plan, state.partition, self.rng,
            began=self.began, inertias=state.inertias,
        )  # fmt: skip
        run.record_start()
        reason = self._report(run)
        # New regions are split off first: otherwise sweeps would move whole clusters into them. Sweeps
        # leave room for further swaps only where swaps were worthwhile before.
        for step in (self._repair, self._settle, self._repair):
            if reason in (None, StopReason.TOL) and (step == self._settle or self.repairs_pay):
                reason = step(run, state)
        assert reason is not None
        run.finish(Outcome(reason))
        n_old = self.placement.n_old
        self.ledger.desert(self.placement.labels[:n_old], run.partition.labels[:n_old])
        return run

    def _within_limits(self, n_clusters: int) -> Restructuring:
        """Return the partition of the placed rows within the limits on sizes.

        Pinned rows cannot be divided. If they do not fit into `n_clusters` clusters of at least the
        minimum size, there are fewer clusters.
        """
        state = self._restructured(n_clusters)
        try:
            self._balance(state)
        except NoPartitionError as error:
            problem = state.problem
            if problem.n_pinned == 0 or problem.limits is None:
                raise
            state = self._restructured(n_clusters)
            if problem.limits.differ or not state.merge_undersized():
                raise _needs_old_rows() from error
            try:
                self._balance(state)
            except NoPartitionError:
                raise _needs_old_rows() from error
        return state

    def _restructured(self, n_clusters: int) -> Restructuring:
        """Return the partition of the placed rows with the right number of clusters."""
        placed, problem = self.placement, self.placement.problem
        k = len(placed.centres)
        self.ledger = ClusterLedger.begin(k)
        inertias = np.zeros(k)
        partition, _ = Partition.from_labels(
            placed.labels.copy(),  # Sweeps change the labels of a partition.
            k,
            problem.rows,
            problem.row_weights,
            problem.n_threads,
            positions=placed.centres,
            inertias=inertias,
        )
        state = Restructuring(
            problem.with_count(k),
            partition,
            self.ledger,
            placed.touched.copy(),
            placed.n_old,
            self.rng,
            (partition, inertias),
        )
        state.set_count(n_clusters)
        return state

    def _balance(self, state: Restructuring) -> None:
        """Move rows until all clusters are within their limits."""
        if state.problem.limits is None:
            return
        before = state.partition.labels.copy()
        policy = self._balancing_policy(state)
        deadline = self.criteria.deadline
        balancing = Balancing(
            state.partition, state.problem, policy, self.rng, restructures=False, deadline=deadline
        )
        state.partition = balancing.run()
        moved = before != state.partition.labels
        state.touched[before[moved]] = state.touched[state.partition.labels[moved]] = True

    def _balancing_policy(self, state: Restructuring) -> Callable[[Partition], VisitPolicy]:
        """Return a function that returns the policy of the next sweep with penalties.

        Penalties change the decisions of all rows near a cluster beyond its limits.
        """
        limits = state.problem.limits
        assert limits is not None

        def policy(partition: Partition) -> VisitPolicy:
            weights = partition.weights
            state.touched |= ~limits.allow(weights)
            return self._policy(partition, state)

        return policy

    def _policy(self, partition: Partition, state: Restructuring) -> VisitPolicy:
        """Return a policy that visits touched clusters and what changes around them."""
        if partition.n_clusters < MIN_CLUSTERS_FOR_LISTS:
            return FullPolicy()
        return CandidatePolicy(self._lists(partition, state))

    def _lists(self, partition: Partition, state: Restructuring) -> NeighbourLists:
        n_candidates = self.plan.n_candidates or partition.n_clusters
        return NeighbourLists.around(
            partition,
            state.touched,
            state.problem.n_threads,
            n_candidates=min(n_candidates, MAX_CANDIDATES),
        )

    def _settle(self, run: Run, state: Restructuring) -> StopReason:
        """Sweep around touched clusters until a sweep gains little. Return the reason to stop."""
        policy = self._policy(run.partition, state)
        lists = policy.lists if isinstance(policy, CandidatePolicy) else None
        quiet, tolerance = 0, TOLERANCE_FACTOR * self.criteria.tol
        while run.n_sweeps < self.criteria.max_iter:
            run.exchanged = run.has_limits and not run.exchanged
            if run.has_limits and lists is not None:
                # Sweeps with and without exchanges find different moves.
                lists.visited[:] = 0
            options = run.options(self.criteria.deadline)
            result = sweep(run.problem, run.partition, policy=policy, options=options, rng=self.rng)
            before = run.inertia
            run.account(result)
            run.record(result.moves, result.evaluations, "candidates")
            if lists is not None:
                state.touched |= lists.changed >= 0
            stopped = StopReason.MAX_TIME if result.late else self._report(run)
            if stopped is not None:
                return stopped
            quiet = quiet + 1 if result.gain <= tolerance * before else 0
            # With limits, sweeps alternate between moves and exchanges, and both must gain little.
            if result.moves == 0 or quiet >= (2 if run.has_limits else 1):
                return StopReason.TOL
        return StopReason.MAX_ITER

    def _repair(self, run: Run, state: Restructuring) -> StopReason:
        """Swap clusters where this lowers the inertia. Return the reason to stop."""
        rounds = min(self.plan.repair_rounds, MAX_REPAIR_ROUNDS)
        if run.n_clusters < MIN_CLUSTERS_TO_SWAP:
            return StopReason.TOL
        repairs = TrackedRepairs(run, self.criteria, rounds, 0, restructuring=state)
        while repairs.rounds_left > 0 and run.n_sweeps < self.criteria.max_iter:
            if not repairs.perform(try_swaps=False):
                break
            stopped = self._report(run)
            if stopped is not None:
                return stopped
            if repairs.few_swaps:
                break
        self.repairs_pay = repairs.changed
        return StopReason.TOL if run.on_course else StopReason.MAX_TIME

    def _report(self, run: Run) -> StopReason | None:
        """Pass the last record to the callback. Return the reason to stop, if there is one."""
        callback = self.criteria.callback
        if callback is not None and callback(run.history[-1]):
            return StopReason.CALLBACK
        return StopReason.MAX_TIME if time.perf_counter() >= self.criteria.deadline else None


def _needs_old_rows() -> ParameterConflictError:
    return ParameterConflictError(
        Message(
            "No partition within {min_size} and {max_size} was found, because the old rows of each "
            "cluster stay together. Pass them ({rows}), or use wider limits.",
            min_size=Parameter("min_size"),
            max_size=Parameter("max_size"),
            rows=Parameter("X"),
        )
    )
