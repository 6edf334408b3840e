"""Repair rounds: swaps of clusters within a run, each followed by sweeps around them."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from boostkmeans._engine.candidate_strategy import MAX_USES
from boostkmeans._engine.run import INERTIA_ROUNDING, Run
from boostkmeans._engine.stopping import StoppingCriteria
from boostkmeans._steps.candidates import CandidatePolicy, NeighbourLists
from boostkmeans._steps.neighbours import Lists
from boostkmeans._steps.partition import Snapshot
from boostkmeans._steps.repair import Repair, Swaps
from boostkmeans._steps.sweep import FullPolicy, SweepResult, VisitPolicy, sweep

# Maximum number of sweeps around the clusters that a repair changed.
MAX_SETTLING_SWEEPS = 5
# The sweeps after a repair end when one gains less than this share of the inertia.
SETTLED = 1e-4
# Up to this number of clusters, the sweeps after a repair compare sparse rows with all clusters.
# Gathering the terms of few centres would cost more.
MAX_SPARSE_CLUSTERS_TO_SETTLE = 1024
# Minimum gain of swaps, as a share of `tol`. The sweeps that follow gain several times as much.
MIN_REPAIR_GAIN = 1 / 10
# With many clusters, a repair ends after a round that swaps fewer than this share of them. A round
# splits all clusters, so it costs as much as several sweeps.
MIN_SWAPPED_SHARE = 1 / 100
# Minimum number of clusters for this rule.
MANY_CLUSTERS = 512
# Maximum number of trial swaps in one round.
TRIALS_PER_ROUND = 8


@dataclass
class RepairRounds:
    """The repair rounds of a run that are left, and the current repair."""

    run: Run
    criteria: StoppingCriteria
    rounds_left: int
    trials_left: int
    """Number of trial swaps left."""
    changed: bool = False
    """True if the current repair has changed the partition."""
    last_swaps: int = 0
    """Number of swaps of the last round."""
    last_seconds: float = 0.0
    """Duration of the last round."""

    @property
    def few_swaps(self) -> bool:
        """True if another round would cost more than it gains, judging by the last one."""
        k = self.run.partition.n_clusters
        return k >= MANY_CLUSTERS and self.last_swaps < MIN_SWAPPED_SHARE * k

    def perform(self, *, try_swaps: bool) -> bool:
        """Perform a round. Return True if it lowered the inertia.

        With `try_swaps`, a round without improving swaps tries some that raise the inertia at first.
        """
        run, criteria = self.run, self.criteria
        began = time.perf_counter()
        if began + self.last_seconds >= criteria.deadline:  # A partial round is useless.
            run.on_course = False
            return False
        self.rounds_left -= 1
        seed = int(run.rng.randint(2**31 - 1))
        repair = self._plan_repair(seed)
        min_gain = max(MIN_REPAIR_GAIN * criteria.tol, INERTIA_ROUNDING) * run.inertia
        swaps = repair.improving_swaps(min_gain)
        self.last_swaps = 0 if swaps is None else len(swaps)
        if swaps is not None:
            self._swap(repair, swaps)
            gained = True
        else:
            gained = try_swaps and self._try_swaps(repair, min_gain)
        self.last_seconds = time.perf_counter() - began
        self.changed = self.changed or gained
        return gained

    def end(self) -> bool:
        """End the current repair. Return True if it changed the partition."""
        changed, self.changed = self.changed, False
        if changed and self.run.candidates is not None:
            self.run.candidates.invalidate()
        return changed

    def _plan_repair(self, seed: int) -> Repair:
        """Split all clusters on trial, and compute the costs of merges."""
        run = self.run
        return Repair.plan(run.problem, run.partition, seed, self._known_lists())

    def _known_lists(self) -> Lists | None:
        """Return neighbour lists that a repair can use; None if it has to search for neighbours."""
        candidates = self.run.candidates
        return None if candidates is None else candidates.known_lists(self.run.partition.n_clusters)

    def _try_swaps(self, repair: Repair, min_gain: float) -> bool:
        """Try swaps that raise the inertia at first. Keep the first swap whose sweeps make it a gain."""
        run = self.run
        before, partition = run.inertia, run.partition
        for swaps in repair.trial_swaps(min(self.trials_left, TRIALS_PER_ROUND)):
            self.trials_left -= 1
            # Swaps do not change the labels of the old partition. They change its sums only if these are
            # very large.
            intact = None if repair.halves.composites is None else partition
            run.best = Snapshot(before, partition.labels, intact)
            self._swap(repair, swaps, record_below=before - min_gain)
            if run.inertia < before - min_gain:
                run.best = None
                return True
            run.return_to_best()
            if time.perf_counter() >= self.criteria.deadline:
                run.on_course = False
                break
        return False

    def _swap(self, repair: Repair, swaps: Swaps, record_below: float = math.inf) -> None:
        """Swap clusters and sweep around them. Record the swaps if the inertia falls below a bound."""
        run = self.run
        run.partition, run.bounds = repair.apply(swaps, run.problem), None
        run.account(SweepResult(0, swaps.gain, 0, late=False))
        moves = evaluations = 0
        for policy in self._policies_around(swaps):
            options = run.options(self.criteria.deadline)
            result = sweep(run.problem, run.partition, policy=policy, options=options, rng=run.rng)
            moves, evaluations = moves + result.moves, evaluations + result.evaluations
            run.account(result)
            run.on_course = run.on_course and not result.late
            if result.late or result.gain <= SETTLED * run.inertia:
                break
        if run.inertia < record_below:
            run.record(moves, evaluations, "repair", swaps=len(swaps))

    def _policies_around(self, swaps: Swaps) -> list[VisitPolicy]:
        """Return the policies of the sweeps around swapped clusters."""
        run, problem = self.run, self.run.problem
        if problem.rows.stays_sparse and run.partition.n_clusters <= MAX_SPARSE_CLUSTERS_TO_SETTLE:
            return [FullPolicy()] * MAX_SETTLING_SWEEPS
        known = self._known_lists()
        if known is not None and run.candidates is not None:
            run.candidates.swap(swaps)
            known = self._known_lists()
        lists = NeighbourLists.around(run.partition, swaps.touched, problem.n_threads, known)
        return list(settling_policies(lists, problem.rows.n_rows, run.plan.moves))


def settling_policies(lists: NeighbourLists, n_rows: int, moves: str) -> Iterator[CandidatePolicy]:
    """Yield the policies of the sweeps around swapped clusters: the fourth uses the runners-up."""
    if moves == "first":  # It never computes the runners-up.
        yield from [CandidatePolicy(lists)] * MAX_SETTLING_SWEEPS
        return
    runners_up = np.zeros(n_rows, dtype=np.int32)
    for number in range(MAX_SETTLING_SWEEPS):
        yield CandidatePolicy(lists, runners_up, by_runner_up=number == MAX_USES - 1)
