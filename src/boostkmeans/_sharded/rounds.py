"""Rounds: sweeps of all shards at the same time, and the decision which of their moves to keep.

Shards do not see each other's moves. Together, the moves of several shards may therefore raise the
inertia, although those of each shard lower it. Then half of the shards try again, and in the end a
single shard, whose moves lower the inertia by themselves.
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
class Round:
    """The result of one round before it is accepted: labels, sums and figures of each shard."""

    labels: list[Reference]
    sums: list[Reference]
    summaries: list[SweepSummary]
    partition: ShardedPartition
    seed: int
    """Random number of the round, which decides which shards take turns."""

    @property
    def movers(self) -> list[int]:
        """Shards in which rows moved."""
        return [number for number, one in enumerate(self.summaries) if one.moves]


def sweep_shards(run: ShardedRun, request: SweepRequest, groups: Reference | None) -> Round:
    """Sweep all shards against the snapshot of the run, and add up their sums."""
    rows, before = run.rows, run.partition
    projected = run.bounds
    found = [
        rows.tasks.submit(
            sweep_shard, *shard, labels, before.snapshot, groups, request, bounds, n_results=3
        )
        for shard, labels, bounds in zip(rows.shards, before.labels, projected, strict=True)
    ]
    labels, sums = [one[0] for one in found], [one[1] for one in found]
    partition = ShardedPartition.from_sums(rows, labels, sums, before.snapshot)
    summaries = rows.tasks.get(*[one[2] for one in found])
    return Round(labels, sums, summaries, partition, request.seed)


def accept(run: ShardedRun, found: Round) -> int:
    """Move the run to the result of a round, or of some of its shards if the inertia rose.

    Return the number of moves that were kept.
    """
    movers, before = found.movers, run.inertia
    if not movers:
        return 0
    kept, partition, turns = movers, found.partition, found.seed
    while partition.inertia >= before and len(kept) > 1:
        kept, turns = kept[turns % 2 :: 2], turns // 2
        partition = _partly(run, found, set(kept))
    if partition.inertia >= before:
        return 0
    run.move_to(partition)
    return sum(found.summaries[number].moves for number in kept)


def _partly(run: ShardedRun, found: Round, kept: set[int]) -> ShardedPartition:
    """Return the partition in which only some shards have moved."""
    rows, before = run.rows, run.partition
    labels, sums = [], []
    for number, (block, view) in enumerate(rows.shards):
        if number in kept:
            labels.append(found.labels[number])
            sums.append(found.sums[number])
        else:
            own = before.labels[number]
            labels.append(own)
            sums.append(rows.tasks.submit(sum_shard, block, view, own, run.n_clusters))
    return ShardedPartition.from_sums(rows, labels, sums, before.snapshot)


def perform_round(
    run: ShardedRun, deadline: float, temperature: float = 0.0, *, probe: bool = False
) -> SweepResult:
    """Perform one sweep of all shards and record it. `probe` has no effect."""
    if time.perf_counter() >= deadline:
        return SweepResult(0, 0.0, 0, late=True)
    candidates, groups = run.candidates, None
    only_changed = False
    if candidates is not None:
        only_changed = not candidates.expired
        candidates.refresh(run.rows, run.partition.snapshot, run.n_clusters)
        groups = candidates.groups
    exact = temperature == 0 and candidates is None and _may_certify(run)
    request = SweepRequest(
        seed=int(run.rng.randint(MAX_SEED)),
        first=run.plan.moves == "first" and not exact,
        temperature=temperature,
        exact=exact,
        only_changed=only_changed,
    )
    before, found = run.inertia, sweep_shards(run, request, groups)
    moves = sum(one.moves for one in found.summaries)
    if temperature > 0:
        run.move_to(found.partition)
    else:
        accept(run, found)
    if candidates is not None:
        candidates.after_sweep()
    kind = "candidates" if candidates is not None else "certify" if exact else "sweep"
    evaluations = sum(one.evaluations for one in found.summaries)
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
        for _ in range(MAX_SETTLING_ROUNDS):
            request = SweepRequest(
                seed=int(run.rng.randint(MAX_SEED)),
                first=run.plan.moves == "first",
                only_changed=candidates is not None,
            )
            before = run.inertia
            found = sweep_shards(run, request, None if candidates is None else candidates.groups)
            accept(run, found)
            moves += sum(one.moves for one in found.summaries)
            evaluations += sum(one.evaluations for one in found.summaries)
            if before - run.inertia <= SETTLED * run.inertia:
                break
        run.record(moves, evaluations, "repair", swaps=len(swaps))
