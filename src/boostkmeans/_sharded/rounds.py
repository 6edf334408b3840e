"""Rounds: sweeps of all shards, and the decision which of their moves to keep.

The shards of a wave sweep at the same time, and do not see each other's moves. Together, the moves of
several shards may therefore raise the inertia, although those of each shard lower it. Then half of the
shards try again, and in the end a single shard, whose moves lower the inertia by themselves.
"""

import time
from dataclasses import dataclass

from boostkmeans._engine.repair_rounds import MANY_CLUSTERS, MIN_REPAIR_GAIN, MIN_SWAPPED_SHARE, SETTLED
from boostkmeans._engine.run import INERTIA_ROUNDING
from boostkmeans._engine.stopping import StoppingCriteria
from boostkmeans._engine.sweep_step import CERTIFY_AFTER_CANDIDATES_BELOW, CERTIFY_BELOW_MOVES
from boostkmeans._sharded.backend import Reference
from boostkmeans._sharded.run import ShardedPartition, ShardedRun
from boostkmeans._sharded.shard.repairing import choose_swaps, halve_sample, halve_shard, swap_shard
from boostkmeans._sharded.shard.sums import add_sums, sum_shard
from boostkmeans._sharded.shard.sweeping import SweepRequest, SweepSummary, sweep_shard
from boostkmeans._steps.repair import Swaps
from boostkmeans._steps.sweep import SweepResult

# Maximum number of rounds around the clusters that a repair changed. A round costs a pass over the
# network, so there are fewer than on one machine.
MAX_SETTLING_ROUNDS = 2
MAX_SEED = 2**31 - 1


@dataclass(frozen=True)
class Wave:
    """The result of the sweeps of one wave before it is accepted: figures of each of its shards."""

    number: int
    labels: dict[int, Reference]
    sums: dict[int, Reference]
    summaries: dict[int, SweepSummary]
    partition: ShardedPartition
    seed: int
    """Random number of the round, which decides which shards take turns."""

    @property
    def movers(self) -> list[int]:
        """Shards in which rows moved."""
        return [number for number, one in self.summaries.items() if one.moves]


def sweep_shards(
    run: ShardedRun, request: SweepRequest, groups: Reference | None, *, keep_all: bool = False
) -> SweepSummary:
    """Sweep all shards, wave by wave. Each wave sees the moves of the waves before it.

    Moves that raise the inertia together are not kept, unless `keep_all`. Return the numbers of moves,
    including those that were not kept, and of evaluations.
    """
    moves = evaluations = 0
    for number in range(len(run.rows.waves)):
        found = _sweep_wave(run, number, request, groups)
        if keep_all:
            run.move_to(found.partition)
        else:
            accept(run, found)
        moves += sum(one.moves for one in found.summaries.values())
        evaluations += sum(one.evaluations for one in found.summaries.values())
    return SweepSummary(moves, evaluations)


def _sweep_wave(run: ShardedRun, number: int, request: SweepRequest, groups: Reference | None) -> Wave:
    """Sweep the shards of a wave against the snapshot of the run, and add up their sums."""
    rows, before, bounds = run.rows, run.partition, run.bounds
    found = {
        i: rows.tasks.submit(
            sweep_shard,
            *rows.shards[i],
            before.labels[i],
            before.snapshot,
            groups,
            request,
            bounds[i],
            n_results=3,
        )
        for i in rows.waves[number]
    }
    labels, sums = {i: one[0] for i, one in found.items()}, {i: one[1] for i, one in found.items()}
    wanted = [one[2] for one in found.values()]
    partition, summaries = before.with_wave(rows, number, labels, sums, wanted)
    return Wave(number, labels, sums, dict(zip(found, summaries, strict=True)), partition, request.seed)


def accept(run: ShardedRun, found: Wave) -> None:
    """Move the run to the result of a wave, or of some of its shards if the inertia rose."""
    kept, before = found.movers, run.inertia
    if not kept:
        return
    partition, turns = found.partition, found.seed
    while partition.inertia >= before and len(kept) > 1:
        kept, turns = kept[turns % 2 :: 2], turns // 2
        partition = _partly(run, found, set(kept))
    if partition.inertia < before:
        run.move_to(partition)


def _partly(run: ShardedRun, found: Wave, kept: set[int]) -> ShardedPartition:
    """Return the partition in which only some shards of the wave have moved."""
    rows, before = run.rows, run.partition
    sums = {
        i: found.sums[i]
        if i in kept
        else rows.tasks.submit(sum_shard, *rows.shards[i], before.labels[i], run.n_clusters)
        for i in rows.waves[found.number]
    }
    labels = {i: found.labels[i] for i in kept}
    return before.with_wave(rows, found.number, labels, sums)[0]


def perform_round(
    run: ShardedRun, deadline: float, temperature: float = 0.0, *, probe: bool = False
) -> SweepResult:
    """Perform one sweep of all shards and record it. `probe` has no effect."""
    if time.perf_counter() >= deadline:
        return SweepResult(0, 0.0, 0, late=True)
    candidates, groups = run.candidates, None
    changed_within = None
    if candidates is not None:
        if not candidates.expired:
            changed_within = len(run.rows.waves)
        candidates.refresh(run.rows, run.partition.snapshot, run.n_clusters)
        groups = candidates.groups
    exact = temperature == 0 and candidates is None and _may_certify(run)
    request = SweepRequest(
        seed=int(run.rng.randint(MAX_SEED)),
        first=run.plan.moves == "first" and not exact,
        temperature=temperature,
        exact=exact,
        changed_within=changed_within,
    )
    before = run.inertia
    moves, evaluations = sweep_shards(run, request, groups, keep_all=temperature > 0)
    if candidates is not None:
        candidates.after_sweep()
    kind = "candidates" if candidates is not None else "certify" if exact else "sweep"
    run.record(moves, evaluations, kind, temperature=temperature)
    return SweepResult(moves, before - run.inertia, evaluations, late=False)


def _may_certify(run: ShardedRun) -> bool:
    """Return True if a round should decide in float64, because it may be the last one."""
    if run.last is None:
        return False
    if run.plan.moves == "first":
        return run.last.moves == 0
    few = CERTIFY_AFTER_CANDIDATES_BELOW if run.last.kind == "candidates" else CERTIFY_BELOW_MOVES
    return run.last.moves <= few * run.n_rows


@dataclass
class ShardedRepairs:
    """The repair rounds of a sharded run that are left."""

    run: ShardedRun
    criteria: StoppingCriteria
    rounds_left: int
    trials_left: int = 0
    changed: bool = False
    last_swaps: int = 0
    last_seconds: float = 0.0

    @property
    def few_swaps(self) -> bool:
        """See `RepairSteps`."""
        k = self.run.n_clusters
        return k >= MANY_CLUSTERS and self.last_swaps < MIN_SWAPPED_SHARE * k

    def perform(self, *, try_swaps: bool) -> bool:
        """See `RepairSteps`. Swaps that raise the inertia at first are not tried."""
        run, began = self.run, time.perf_counter()
        if began + self.last_seconds >= self.criteria.deadline:
            run.on_course = False
            return False
        self.rounds_left -= 1
        swaps = self._swap()
        self.last_swaps = 0 if swaps is None else len(swaps)
        if swaps is not None:
            self._settle(swaps)
        self.last_seconds = time.perf_counter() - began
        self.changed = self.changed or swaps is not None
        return swaps is not None

    def end(self) -> bool:
        """See `RepairSteps`."""
        changed, self.changed = self.changed, False
        if changed and self.run.candidates is not None:
            self.run.candidates.expired = True
        return changed

    def _swap(self) -> Swaps | None:
        """Merge and split clusters where this lowers the inertia. Return None if nothing does."""
        run, before = self.run, self.run.partition
        rows, tasks = run.rows, run.rows.tasks
        seed = int(run.rng.randint(MAX_SEED))
        n_candidates = run.plan.n_candidates
        halves = tasks.submit(
            halve_sample, run.sample, before.snapshot, n_candidates, seed, tasks.n_threads
        )
        shards = list(zip(rows.shards, before.labels, strict=True))
        halved = [tasks.submit(halve_shard, *shard, labels, halves) for shard, labels in shards]
        min_gain = max(MIN_REPAIR_GAIN * self.criteria.tol, INERTIA_ROUNDING) * run.inertia
        total = tasks.reduce(add_sums, halved)
        chosen = tasks.submit(choose_swaps, before.snapshot, total, min_gain, tasks.n_threads)
        swaps: Swaps | None = tasks.get(chosen)[0]
        if swaps is None:
            return None
        found = [
            tasks.submit(swap_shard, *shard, labels, halves, swaps, n_results=2)
            for shard, labels in shards
        ]
        partition = ShardedPartition.from_sums(
            rows, [one[0] for one in found], [one[1] for one in found], before.snapshot
        )
        if partition.inertia >= run.inertia:  # Only rounding errors could cause this.
            return None
        run.move_to(partition)
        return swaps

    def _settle(self, swaps: Swaps) -> None:
        """Sweep around the swapped clusters, and record the repair."""
        run = self.run
        moves = evaluations = 0
        candidates = run.candidates
        if candidates is not None:
            candidates.expired = True
            candidates.refresh(run.rows, run.partition.snapshot, run.n_clusters)
        # Without candidates, a round compares with all clusters, which takes as long as in a descent.
        for _ in range(1 if candidates is None else MAX_SETTLING_ROUNDS):
            request = SweepRequest(
                seed=int(run.rng.randint(MAX_SEED)),
                first=run.plan.moves == "first",
                changed_within=None if candidates is None else len(run.rows.waves),
            )
            before = run.inertia
            found = sweep_shards(run, request, None if candidates is None else candidates.groups)
            moves += found.moves
            evaluations += found.evaluations
            if before - run.inertia <= SETTLED * run.inertia:
                break
        run.record(moves, evaluations, "repair", swaps=len(swaps))
