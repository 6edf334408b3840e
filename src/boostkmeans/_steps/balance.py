"""Balancing: bring a partition within limits on the sizes of clusters."""

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans._data.rows import ROWS_AT_ONCE
from boostkmeans._steps.nearest import distances_to_assigned, nearest
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.repair import Repair
from boostkmeans._steps.size_limits.limits import ROUNDING, Limits
from boostkmeans._steps.size_limits.packing import Packing
from boostkmeans._steps.sweep import SweepOptions, VisitPolicy, sweep

Ints = NDArray[np.int64]

# First step of the penalties, relative to the mean squared distance.
FIRST_STEP = 0.02
# Factor by which a step grows while the penalty moves in the same direction.
GROW = 1.3
# Factor by which a step shrinks when the penalty changes its direction.
SHRINK = 0.5
# Maximum number of sweeps with penalties.
MAX_SWEEPS = 30
# Penalties are good enough once all clusters are within this share of their limits.
CLOSE_ENOUGH = 0.01
# Maximum number of rounds of splits and merges.
MAX_ROUNDS = 10


@dataclass
class Balancing:
    """Bring a partition within limits by the moves that raise the inertia least."""

    partition: Partition
    problem: Problem
    policy: Callable[[Partition], VisitPolicy]
    """Returns the visit policy of the next sweep, with lists for the current centres."""
    rng: np.random.RandomState
    restructures: bool = True
    """True if clusters may also move to regions with many rows."""
    deadline: float = math.inf
    """Time after which optional work is skipped, as a value of `time.perf_counter()`."""

    def run(self) -> Partition:
        """Return a partition within the limits.

        There are two methods: keep the clusters in place, or first move some of them to regions with
        many rows. Neither is always better, so both are tried.
        """
        if self._within().all():
            return self.partition
        start = self.partition
        found = []
        # Splits need all rows in memory.
        both = self.restructures and self.problem.rows.in_memory
        for restructure in (False, True) if both else (False,):
            self.partition = start.copy()
            if restructure:
                self._restructure()
            self._adjust_penalties()
            self._move_by_force()
            found.append((self._recompute(), self.partition))
        return min(found, key=lambda pair: pair[0])[1]

    @property
    def _limits(self) -> Limits:
        assert self.problem.limits is not None
        return self.problem.limits

    def _recompute(self) -> float:
        problem = self.problem
        return self.partition.recompute(problem.rows, problem.row_weights, problem.n_threads)[0]

    def _move_by_force(self) -> None:
        """Make the moves that raise the inertia least, until all limits hold."""
        while not self._limits.at_most_max(self.partition.weights).all():
            if not any(self._shrink_oversized(n_fixed) for n_fixed in self._fixed):
                return self._bin_pack()
        while not self._limits.at_least_min(self.partition.weights).all():
            if not any(self._fill_undersized(n_fixed) for n_fixed in self._fixed):
                return self._bin_pack()
        return None

    @property
    def _fixed(self) -> tuple[int, ...]:
        """Numbers of leading rows that stay in place, in the order in which they are tried.

        A pinned row represents a whole cluster, so that it moves only if nothing else helps.
        """
        n_pinned = self.problem.n_pinned
        return (n_pinned, 0) if n_pinned else (0,)

    def _bin_pack(self) -> None:
        """Assign all rows again by weight alone: the heaviest first, each to the emptiest cluster.

        This is the fallback for very uneven weights. If it breaks a limit, an exact search follows,
        which ends soon for few rows only. Later sweeps improve the result.
        """
        everywhere = np.ones(self.partition.n_clusters, dtype=bool)
        members = self._members_of(everywhere)
        before = self.partition.labels[members]
        for n_fixed in self._fixed:
            self._fill_emptiest(self._members_of(everywhere, n_fixed))
            if self._within().all():
                return
        labels, certain = Packing(self._weights_of(members), self._limits, before).find()
        if labels is None:
            raise NoPartitionError(certain)
        self.partition.labels[members] = labels
        self._recompute()

    def _fill_emptiest(self, members: Ints) -> None:
        """Assign these rows again, the heaviest first, each to the emptiest cluster."""
        weights, labels = self._weights_of(members), self.partition.labels[members]
        total = self.partition.weights
        others = total - np.bincount(labels, weights=weights, minlength=len(total))
        loads = others - self._limits.targets(total.sum())
        emptiest = [(load, cluster) for cluster, load in enumerate(loads.tolist())]
        heapq.heapify(emptiest)
        for i in np.argsort(-weights, kind="stable"):
            load, cluster = emptiest[0]
            self.partition.labels[members[i]] = cluster
            heapq.heapreplace(emptiest, (load + weights[i], cluster))
        self._recompute()

    def _within(self) -> NDArray[np.bool_]:
        return self._limits.allow(self.partition.weights)

    def _restructure(self) -> None:
        """Split clusters that are far too large, and merge small ones in exchange."""
        for _ in range(MAX_ROUNDS):
            if self._within().all() or time.perf_counter() >= self.deadline:
                break
            repair = Repair.plan(self.problem, self.partition, int(self.rng.randint(2**31 - 1)))
            swaps = repair.improving_swaps(0.0)
            if swaps is None:
                break
            self.partition = repair.apply(swaps, self.problem)
            self._sweep(None)

    def _adjust_penalties(self) -> None:
        """Sweep with penalties that rise for clusters that are too large and fall for small ones.

        Rows that are nearly as close to another centre leave the large clusters, and the clusters that
        they enter lose other rows in turn. Afterwards, `_move_by_force` has to move only a few rows.
        """
        penalties = np.zeros(self.partition.n_clusters)
        inertia = self._recompute()
        steps = np.full(len(penalties), FIRST_STEP * inertia / self.partition.weights.sum())
        last = np.zeros(len(penalties))
        limits = self._limits
        for _ in range(MAX_SWEEPS):
            weights = self.partition.weights
            allowed = np.clip(weights, limits.min_weights, limits.max_weights)
            excess = np.divide(weights, allowed, out=np.ones_like(weights), where=allowed > 0) - 1
            if np.abs(excess).max() <= CLOSE_ENOUGH or time.perf_counter() >= self.deadline:
                break
            # The penalty of a cluster within its limits returns to 0.
            direction = np.where(excess == 0, -np.sign(penalties), np.sign(excess))
            steps = np.where(direction * last < 0, steps * SHRINK, steps * GROW)
            returns = (excess == 0) & (np.abs(penalties) < steps)
            penalties = np.where(returns, 0.0, penalties + direction * steps)
            last = direction
            self._sweep(penalties)

    def _sweep(self, penalties: Floats | None) -> None:
        # Only differences of penalties matter, and costs must not be negative.
        lifted = None if penalties is None else penalties - penalties.min()
        unlimited = replace(self.problem, limits=None)
        options = SweepOptions(penalties=lifted)
        sweep(
            unlimited, self.partition, policy=self.policy(self.partition), options=options, rng=self.rng
        )

    def _weights_of(self, members: Ints) -> Floats:
        weights = self.problem.row_weights
        return np.ones(len(members)) if weights is None else weights[members]

    def _shrink_oversized(self, n_fixed: int) -> bool:
        """Move rows of oversized clusters to the nearest cluster with room. Return True if any moved."""
        weights, most = self.partition.weights, self._limits.max_weights
        oversized = ~self._limits.at_most_max(weights)
        members = self._members_of(oversized, n_fixed)
        if len(members) == 0:
            return False
        lightest = self._weights_of(members).min()
        roomy = self._limits.at_most_max(weights + lightest)
        if not roomy.any():
            return False
        targets, losses = self._best_targets(members, roomy)
        # Each cluster loses its excess weight, or slightly more because of the last row.
        members, targets, losses = self._cheapest(
            members, targets, losses, self.partition.labels[members], weights - most, overshoot=True
        )
        room = np.where(oversized, 0.0, most - weights)
        return self._move(*self._cheapest(members, targets, losses, targets, room, overshoot=False)[:2])

    def _fill_undersized(self, n_fixed: int) -> bool:
        """Move the nearest rows of clusters above the minimum size into undersized clusters."""
        weights, least = self.partition.weights, self._limits.min_weights
        undersized = ~self._limits.at_least_min(weights)
        members = self._members_of(~undersized & (weights > least), n_fixed)
        if len(members) == 0:
            return False
        targets, losses = self._best_targets(members, undersized)
        members, targets, losses = self._cheapest(
            members, targets, losses, targets, least - weights, overshoot=True
        )
        own = self.partition.labels[members]
        members, targets, losses = self._cheapest(
            members, targets, losses, own, weights - least, overshoot=False
        )
        room = self._limits.max_weights - weights
        return self._move(*self._cheapest(members, targets, losses, targets, room, overshoot=False)[:2])

    def _members_of(self, chosen: NDArray[np.bool_], n_fixed: int = 0) -> Ints:
        """Return the rows of positive weight in the chosen clusters, without the first `n_fixed`."""
        weights, members = self.problem.row_weights, chosen[self.partition.labels]
        members[:n_fixed] = False
        return np.flatnonzero(members if weights is None else members & (weights > 0))

    def _best_targets(self, members: Ints, allowed: NDArray[np.bool_]) -> tuple[Labels, Floats]:
        """Return the nearest allowed cluster of each row, and the increase of its squared distance."""
        clusters = np.flatnonzero(allowed)
        centres = self.partition.centres
        choice = np.ascontiguousarray(centres[clusters])
        targets = np.empty(len(members), dtype=np.int32)
        losses = np.empty(len(members))
        n_threads = self.problem.n_threads
        for begin in range(0, len(members), ROWS_AT_ONCE):  # Each batch is copied.
            some = slice(begin, begin + ROWS_AT_ONCE)
            sample = self.problem.rows.sample(members[some])
            labels = self.partition.labels[members[some]]
            found, gaps = nearest(sample, choice, n_threads)
            targets[some] = clusters[found]
            losses[some] = gaps - distances_to_assigned(sample, centres, labels, n_threads)[0]
        return targets, losses

    def _cheapest(
        self,
        members: Ints,
        targets: Labels,
        losses: Floats,
        groups: Labels,
        amounts: Floats,
        *,
        overshoot: bool,
    ) -> tuple[Ints, Labels, Floats]:
        """Select, in each group, the rows with the lowest losses, up to an amount of weight.

        With `overshoot`, the last row may exceed the amount.
        """
        if not overshoot:  # A row that does not fit must not block the rows after it.
            fits = self._weights_of(members) <= amounts[groups] * (1 + ROUNDING)
            members, targets, losses, groups = members[fits], targets[fits], losses[fits], groups[fits]
        order = np.lexsort((losses, groups))
        weight = self._weights_of(members[order])
        before = np.cumsum(weight) - weight
        first = np.searchsorted(groups[order], groups[order], side="left")
        before -= before[first]
        amount = amounts[groups[order]]
        slack = ROUNDING * np.abs(amount)
        selected = before < amount - slack if overshoot else before + weight <= amount + slack
        chosen = order[selected]
        return members[chosen], targets[chosen], losses[chosen]

    def _move(self, members: Ints, targets: Labels) -> bool:
        if len(members) == 0:
            return False
        self.partition.labels[members] = targets
        self._recompute()
        return True


class NoPartitionError(ValueError):
    """No partition satisfies the limits, as far as is known."""

    def __init__(self, certain: bool) -> None:
        self.certain = certain
        known = "exists" if certain else "was found, though one may exist"
        super().__init__(
            f"No partition within min_size and max_size {known}: the weights of the rows are too "
            "uneven. Use wider limits."
        )
