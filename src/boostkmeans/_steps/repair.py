"""Repair: two clusters become one, and a third one becomes two, where that lowers the inertia.

Single moves cannot do this: a cluster in the wrong place is a local optimum. Here the cheapest merges
pay for the best splits. Both have a closed form: to merge clusters a and b costs
W_a W_b / (W_a + W_b) |C_a - C_b|^2, and a split gains what it would cost to merge its parts.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans import _core
from boostkmeans._data.rows import Floats, Rows
from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans._steps.limits import Limits
from boostkmeans._steps.neighbours import neighbour_lists, points_to_compare
from boostkmeans._steps.partition import Partition
from boostkmeans._steps.tree_builder import MAX_PASSES, TOL

Ints = NDArray[np.int64]

# Merges are sought among so many nearest clusters of each: the cheapest is rarely farther.
MERGE_NEIGHBOURS = 16
# Values in composites of the halves, and in pairs of centres that are compared: at most so many.
MOST_HALVES_VALUES, MOST_MERGE_VALUES = 2**25, 2**27
# Gains and costs are sums in float64; what they differ by must be more than their rounding.
LEAST_ADVANTAGE = 1e-9
# Swaps that do not gain at once are sought among so many splits and merges, and if the split gains at
# least that share of what the merge costs.
ATTEMPTED, LEAST_SHARE = 6, 1 / 3


@dataclass(frozen=True)
class Swaps:
    """Pairs of a merge and a split, no cluster in two of them."""

    kept: Ints
    """Takes all rows of `freed`, ..."""
    freed: Ints
    """... which then takes the second part of `split`."""
    split: Ints
    gain: float
    """By how much the inertia falls."""

    @classmethod
    def of(cls, triples: list[tuple[int, int, int]], gain: float) -> "Swaps":
        """From (kept, freed, split) of each swap."""
        kept, freed, split = np.array(triples, dtype=np.int64).reshape(-1, 3).T
        return cls(kept, freed, split, gain)

    def __len__(self) -> int:
        return len(self.split)

    @property
    def touched(self) -> Ints:
        """All clusters that take part."""
        return np.concatenate([self.kept, self.freed, self.split])


@dataclass(frozen=True)
class Halves:
    """Every cluster in two: the second half of cluster c is cluster k + c."""

    labels: NDArray[np.int32]
    weights: Floats
    counts: Ints
    gains: Floats
    """By how much the inertia falls if a cluster becomes its halves."""
    composites: Floats | None
    """None where they would be very large."""


@dataclass
class Repair:
    """Splits of all clusters, merges of neighbours, and the pairs of both that are worth something."""

    rows: Rows
    row_weights: Floats | None
    partition: Partition
    limits: Limits
    seed: int
    n_threads: int
    halves: "Halves" = field(init=False)
    gains: Floats = field(init=False)
    """Of the split of each cluster; -inf where there is none."""
    _points: Floats = field(init=False)
    """What neighbours are sought by."""
    merges: tuple[Ints, Ints, Floats] = field(init=False)
    """Pairs of clusters and what it costs to merge them, cheapest first."""

    def __post_init__(self) -> None:
        self.halves = self._halves()
        gains = self._split_gains()
        a, b = self._neighbours()
        a, b = self._cheapest(a, b)
        costs = merge_costs(self.partition.composites, self.partition.weights, a, b, self.n_threads)
        if self.limits:
            gains, costs = self._count_limits(gains, a, b, costs)
        order = np.argsort(costs, kind="stable")
        self.gains, self.merges = gains, (a[order], b[order], costs[order])

    def gaining(self, least_gain: float) -> Swaps | None:
        """The best splits, each with the cheapest merge of other clusters, as long as that gains.

        None, if all of them gain no more than `least_gain`.
        """
        (a, b, costs), gains = self.merges, self.gains
        used = np.zeros(len(gains), dtype=bool)
        chosen: list[tuple[int, int, int]] = []
        total, first = 0.0, 0
        for split in np.argsort(-gains, kind="stable"):
            if used[split]:
                continue
            while first < len(a) and (used[a[first]] or used[b[first]]):
                first += 1
            at = first
            while at < len(a) and (used[a[at]] or used[b[at]] or split in (a[at], b[at])):
                at += 1
            if at == len(a) or gains[split] * (1 - LEAST_ADVANTAGE) <= costs[at]:
                if at == first:  # nor will any that follow gain enough
                    break
                continue
            chosen.append((int(a[at]), int(b[at]), int(split)))
            used[[a[at], b[at], split]] = True
            total += float(gains[split] - costs[at])
        return Swaps.of(chosen, total) if chosen and total > least_gain else None

    def attempts(self, most: int) -> list[Swaps]:
        """Single swaps that cost more than they gain, those first that cost least."""
        a, b, costs = (column[:ATTEMPTED] for column in self.merges)
        splits = np.argsort(-self.gains, kind="stable")[:ATTEMPTED]
        found = [
            (float(costs[i] - self.gains[split]), (int(a[i]), int(b[i]), int(split)))
            for i in range(len(a))
            for split in splits
            if split not in (a[i], b[i]) and self.gains[split] >= costs[i] * LEAST_SHARE
        ]
        return [Swaps.of([swap], -loss) for loss, swap in sorted(found)[:most]]

    def swapped(self, swaps: Swaps) -> Partition:
        """The partition after these swaps, all at once: halves find their new clusters.

        Where composites are very large, it takes over the memory of the one that it follows.
        """
        k, halves = self.partition.n_clusters, self.halves
        becomes = np.tile(np.arange(k, dtype=np.int32), 2)
        becomes[swaps.freed] = becomes[k + swaps.freed] = swaps.kept
        becomes[k + swaps.split] = swaps.freed
        if halves.composites is None:
            new = replace(self.partition, labels=becomes[halves.labels], stale=False)
            self.partition.stale = True
            new.recompute(self.rows, self.row_weights, self.n_threads)
            return new
        new = Partition.of(becomes[halves.labels], k, self.rows.n_features)
        weighty = np.flatnonzero(halves.weights > 0)  # the composite of an empty one is no sum
        joins = csr_array((np.ones(len(weighty)), (becomes[weighty], weighty)), shape=(k, 2 * k))
        new.composites[:] = joins @ halves.composites
        np.add.at(new.weights, becomes, halves.weights)
        np.add.at(new.counts, becomes, halves.counts)
        empty = new.counts == 0
        new.composites[empty] = self.partition.composites[empty]
        return new

    def _halves(self) -> "Halves":
        """By 2-way boost k-means of each cluster."""
        k, labels = self.partition.n_clusters, self.partition.labels
        if self.row_weights is None:
            members, starts = _core.members(labels, k)
        else:
            weighty = np.flatnonzero(self.row_weights > 0)
            order, starts = _core.members(labels[weighty], k)
            members = weighty[order]
        begins, ends = starts[:-1], starts[1:]
        large = np.flatnonzero(ends - begins >= 2)
        light = 2 * k * self.rows.n_features > MOST_HALVES_VALUES
        middles, weights, inertias = _core.split(
            self.rows.core,
            self.row_weights,
            members,
            np.ascontiguousarray(begins[large]),
            np.ascontiguousarray(ends[large]),
            _core.SplitOptions(
                n_sections=2,
                init="k-means++",
                max_passes=MAX_PASSES,
                tol=TOL,
                seed=self.seed,
                with_inertias=light,
            ),
            self.n_threads,
        )
        middle = ends.copy()  # there is no second half where all rows are equal
        found = middles.reshape(-1, 2)[:, 0]
        middle[large[found >= 0]] = found[found >= 0]
        cluster = np.repeat(np.arange(k, dtype=np.int32), ends - begins)
        second = np.arange(len(members)) >= middle[cluster]
        new_labels = labels.copy()
        new_labels[members[second]] = k + cluster[second]
        if light:
            return self._light_halves(new_labels, large, weights.reshape(-1, 2), inertias.reshape(-1, 2))
        halves = Partition.of(new_labels, 2 * k, self.rows.n_features)
        halves.recompute(self.rows, self.row_weights, self.n_threads)
        one = np.arange(k)
        gains = merge_costs(halves.composites, halves.weights, one, one + k, self.n_threads)
        return Halves(new_labels, halves.weights, halves.counts, gains, halves.composites)

    def _light_halves(
        self, labels: NDArray[np.int32], large: Ints, weights: Floats, inertias: Floats
    ) -> "Halves":
        """Without the composites of the halves: from what the splits measured."""
        k = self.partition.n_clusters
        whole = np.empty(k)
        self.partition.recompute(self.rows, self.row_weights, self.n_threads, inertias=whole)
        gains, all_weights = np.zeros(k), np.zeros(2 * k)
        gains[large] = np.maximum(whole[large] - inertias.sum(axis=1), 0.0)
        all_weights[large], all_weights[large + k] = weights.T
        members = labels if self.row_weights is None else labels[self.row_weights > 0]
        return Halves(labels, all_weights, np.bincount(members, minlength=2 * k), gains, None)

    def _split_gains(self) -> Floats:
        """What a split gains; -inf where there is none, or its parts are too small."""
        k, halves = self.partition.n_clusters, self.halves
        allowed = (halves.counts[:k] > 0) & (halves.counts[k:] > 0)
        allowed &= self.limits.enough(halves.weights[:k]) & self.limits.enough(halves.weights[k:])
        return np.where(allowed, halves.gains, -np.inf)

    def _cheapest(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """Where it takes long to tell what merges cost, those that look cheapest."""
        k, d = self.partition.composites.shape
        if len(a) * d <= MOST_MERGE_VALUES:
            return a, b
        looks = merge_costs(self._points, np.ones(k), a, b, self.n_threads, self.partition.weights)
        chosen = np.argsort(looks, kind="stable")[: max(k, MOST_MERGE_VALUES // d)]
        return a[chosen], b[chosen]

    def _neighbours(self) -> tuple[Ints, Ints]:
        """Pairs of neighbours, each once."""
        k = self.partition.n_clusters
        self._points = points_to_compare(self.partition)
        lists = neighbour_lists(self._points, min(MERGE_NEIGHBOURS, k - 1), self.n_threads)
        owner = np.repeat(np.arange(k), lists.shape[1])
        other = lists.ravel().astype(np.int64)
        owner, other = owner[other >= 0], other[other >= 0]
        pairs = np.unique(np.minimum(owner, other) * k + np.maximum(owner, other))
        return pairs // k, pairs % k

    def _count_limits(self, gains: Floats, a: Ints, b: Ints, costs: Floats) -> tuple[Floats, Floats]:
        """Gains and costs with what it costs to keep limits that are not kept yet.

        What a cluster has too much goes to its neighbour, and what it lacks comes from there: each unit
        costs about the squared distance between the two. Merges that make too much are out of question.
        """
        weights = self.partition.weights
        together = weights[a] + weights[b]
        # To merge two costs their squared distance times this.
        factors = np.divide(weights[a] * weights[b], together, out=np.ones(len(a)), where=together > 0)
        between = np.divide(costs, factors, out=np.zeros(len(a)), where=factors > 0)
        apart = np.full(len(gains), np.inf)
        np.minimum.at(apart, a, between)
        np.minimum.at(apart, b, between)
        apart[np.isinf(apart)] = 0.0
        excess = np.maximum(weights - self.limits.most, 0.0) * apart
        lack = np.maximum(self.limits.least - weights, 0.0) * apart
        cheaper = np.maximum(costs - lack[a] - lack[b], 0.0)
        return gains + excess, np.where(self.limits.not_too_much(together), cheaper, np.inf)


def merge_costs(
    composites: Floats, weights: Floats, a: Ints, b: Ints, n_threads: int, sizes: Floats | None = None
) -> Floats:
    """By how much the inertia rises if clusters are merged, pair by pair.

    `sizes` are the weights of the clusters, where the composites are centres already, with weights of 1.
    """
    sizes = weights if sizes is None else sizes
    together = sizes[a] + sizes[b]
    shares = np.divide(sizes[a] * sizes[b], together, out=np.zeros(len(a)), where=together > 0)
    gaps = np.empty(len(a))
    _core.pair_distances(composites, weights, a, b, gaps, instruction_set(), n_threads)
    return np.asarray(gaps * shares)
