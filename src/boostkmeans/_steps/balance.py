"""How a start is brought within limits on the sizes of clusters."""

import heapq
import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.rows import ROWS_AT_ONCE, Floats, Rows
from boostkmeans._steps.candidates import Candidates
from boostkmeans._steps.limits import ROUNDING, Limits
from boostkmeans._steps.partition import Labels, Partition, nearest, own_distances
from boostkmeans._steps.repair import Repair
from boostkmeans._steps.sweep import SweepOptions, sweep_all

Ints = NDArray[np.int64]

# Prices begin to change by this share of the mean squared distance, in steps that grow as long as they
# go one way and shrink where they turn. They are good enough once no cluster is farther off its limits.
FIRST_STEP, GROW, SHRINK = 0.02, 1.3, 0.5
MOST_SWEEPS, CLOSE_ENOUGH = 30, 0.01
# Rounds of splits and merges before that.
MOST_ROUNDS = 10


@dataclass
class Balancing:
    """Brings a partition within limits: rows that lose least by it go elsewhere."""

    partition: Partition
    rows: Rows
    row_weights: Floats | None
    limits: Limits
    candidates: Candidates | None
    rng: np.random.RandomState
    n_threads: int
    deadline: float = math.inf
    """After which no more is done than must be, as time.perf_counter() has it."""

    def run(self) -> Partition:
        """A partition with all sizes within the limits, and consistent.

        Two ways lead there: with the clusters where they are, or with some of them moved to where the
        most rows are. Neither is always the better one.
        """
        if self._within().all():
            return self.partition
        start = self.partition
        found = []
        for restructured in (False, True):
            self.partition = start.copy()
            if restructured:
                self._restructure()
            self._find_prices()
            self._move_by_force()
            inertia, _ = self.partition.recompute(self.rows, self.row_weights, self.n_threads)
            found.append((inertia, self.partition))
        return min(found, key=lambda pair: pair[0])[1]

    def _move_by_force(self) -> None:
        """Rows that lose least by it go elsewhere, until all limits hold."""
        while not self.limits.not_too_much(self.partition.weights).all():
            if not self._relieve():
                return self._pack()
        while not self.limits.enough(self.partition.weights).all():
            if not self._supply():
                return self._pack()
        return None

    def _pack(self) -> None:
        """Begins anew, by weight alone: the heaviest row first, into the lightest cluster.

        For weights so uneven that nothing else fits. Sweeps make the best of it.
        """
        members = self._members_of(np.ones(self.partition.n_clusters, dtype=bool))
        weights = self._weights_of(members)
        lightest = [(0.0, cluster) for cluster in range(self.partition.n_clusters)]
        for i in np.argsort(-weights, kind="stable"):
            load, cluster = lightest[0]
            self.partition.labels[members[i]] = cluster
            heapq.heapreplace(lightest, (load + weights[i], cluster))
        self.partition.recompute(self.rows, self.row_weights, self.n_threads)
        if not self._within().all():
            raise ValueError(
                "No partition within min_size and max_size was found: the weights of the rows are too "
                "uneven. Use wider limits."
            )

    def _within(self) -> NDArray[np.bool_]:
        weights = self.partition.weights
        return self.limits.not_too_much(weights) & self.limits.enough(weights)

    def _restructure(self) -> None:
        """Clusters that are far too large are split, and paid for by merges of small ones."""
        for _ in range(MOST_ROUNDS):
            if self._within().all() or time.perf_counter() >= self.deadline:
                break
            seed = int(self.rng.randint(2**31 - 1))
            repair = Repair(
                self.rows, self.row_weights, self.partition, self.limits, seed, self.n_threads
            )
            swaps = repair.gaining(0.0)
            if swaps is None:
                break
            self.partition = repair.swapped(swaps)
            self._sweep(None)

    def _find_prices(self) -> None:
        """Sweeps in which clusters that are too large become dearer, and those too small cheaper.

        So rows leave a large one that are nearly as well off elsewhere, and where these go others make
        room in turn: what is left to be moved by force is little.
        """
        prices = np.zeros(self.partition.n_clusters)
        inertia, _ = self.partition.recompute(self.rows, self.row_weights, self.n_threads)
        steps = np.full(len(prices), FIRST_STEP * inertia / self.partition.weights.sum())
        last = np.zeros(len(prices))
        for _ in range(MOST_SWEEPS):
            weights = self.partition.weights
            excess = weights / np.clip(weights, self.limits.least, self.limits.most) - 1
            if np.abs(excess).max() <= CLOSE_ENOUGH or time.perf_counter() >= self.deadline:
                break
            # Within the limits, a price is on its way back.
            direction = np.where(excess == 0, -np.sign(prices), np.sign(excess))
            steps = np.where(direction * last < 0, steps * SHRINK, steps * GROW)
            prices = np.where((excess == 0) & (np.abs(prices) < steps), 0.0, prices + direction * steps)
            last = direction
            self._sweep(prices)

    def _sweep(self, prices: Floats | None) -> None:
        # Only differences count, and costs are not to be negative.
        lifted = None if prices is None else prices - prices.min()
        how = SweepOptions(self.n_threads, prices=lifted)
        if self.candidates is None:
            sweep_all(self.rows, self.row_weights, self.partition, self.rng, how)
        else:
            self.candidates.forget()  # of what was not worth a visit at other prices
            self.candidates.sweep(self.rows, self.row_weights, self.partition, self.rng, how)

    def _weights_of(self, rows: Ints) -> Floats:
        return np.ones(len(rows)) if self.row_weights is None else self.row_weights[rows]

    def _relieve(self) -> bool:
        """Some rows of clusters that are too large go to the nearest that has room; whether any did."""
        weights, most = self.partition.weights, self.limits.most
        crowded = ~self.limits.not_too_much(weights)
        members = self._members_of(crowded)
        lightest = self._weights_of(members).min()
        roomy = self.limits.not_too_much(weights + lightest)
        if not roomy.any():
            return False
        targets, regrets = self._options(members, roomy)
        # No more than each has to give away; a row that is too much may be the last of them.
        members, targets, regrets = self._best_of(
            members, targets, regrets, self.partition.labels[members], weights - most, reach=True
        )
        room = np.where(crowded, 0.0, most - weights)
        return self._move(*self._best_of(members, targets, regrets, targets, room, reach=False)[:2])

    def _supply(self) -> bool:
        """Clusters that are too small get the nearest rows of those that can spare them."""
        weights, least = self.partition.weights, self.limits.least
        poor = ~self.limits.enough(weights)
        members = self._members_of(~poor & (weights > least))
        if len(members) == 0:
            return False
        targets, regrets = self._options(members, poor)
        members, targets, regrets = self._best_of(
            members, targets, regrets, targets, least - weights, reach=True
        )
        own = self.partition.labels[members]
        members, targets, regrets = self._best_of(
            members, targets, regrets, own, weights - least, reach=False
        )
        room = self.limits.most - weights
        return self._move(*self._best_of(members, targets, regrets, targets, room, reach=False)[:2])

    def _members_of(self, chosen: NDArray[np.bool_]) -> Ints:
        within = chosen[self.partition.labels]
        return np.flatnonzero(within if self.row_weights is None else within & (self.row_weights > 0))

    def _options(self, members: Ints, allowed: NDArray[np.bool_]) -> tuple[Labels, Floats]:
        """The nearest cluster that is allowed, and what that costs more than to stay."""
        clusters = np.flatnonzero(allowed)
        centres = self.partition.centres
        choice = np.ascontiguousarray(centres[clusters])
        targets = np.empty(len(members), dtype=np.int32)
        regrets = np.empty(len(members))
        for begin in range(0, len(members), ROWS_AT_ONCE):  # which are copied
            some = slice(begin, begin + ROWS_AT_ONCE)
            sample, labels = self.rows.sample(members[some]), self.partition.labels[members[some]]
            found, gaps = nearest(sample, choice, self.n_threads)
            targets[some] = clusters[found]
            regrets[some] = gaps - own_distances(sample, centres, labels, self.n_threads)[0]
        return targets, regrets

    def _best_of(
        self,
        members: Ints,
        targets: Labels,
        regrets: Floats,
        groups: Labels,
        amounts: Floats,
        *,
        reach: bool,
    ) -> tuple[Ints, Labels, Floats]:
        """In each group those with the least regret, up to an amount of weight.

        With `reach`, the last of them may go beyond it.
        """
        if not reach:  # one that does not fit is not in the way of those behind it
            fits = self._weights_of(members) <= amounts[groups] * (1 + ROUNDING)
            members, targets, regrets, groups = members[fits], targets[fits], regrets[fits], groups[fits]
        order = np.lexsort((regrets, groups))
        weight = self._weights_of(members[order])
        before = np.cumsum(weight) - weight
        first = np.searchsorted(groups[order], groups[order], side="left")
        before -= before[first]
        amount = amounts[groups[order]]
        slack = ROUNDING * np.abs(amount)
        good = before < amount - slack if reach else before + weight <= amount + slack
        chosen = order[good]
        return members[chosen], targets[chosen], regrets[chosen]

    def _move(self, members: Ints, targets: Labels) -> bool:
        if len(members) == 0:
            return False
        self.partition.labels[members] = targets
        self.partition.recompute(self.rows, self.row_weights, self.n_threads)
        return True
