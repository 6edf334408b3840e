"""Repair: merge two clusters and split a third, where that lowers the inertia.

Single moves cannot do this: a cluster in the wrong place is a local optimum. The cheapest merges are
combined with the best splits. Both have a closed form: merging clusters a and b costs W_a W_b / (W_a +
W_b) |C_a - C_b|^2, and a split lowers the inertia by the cost of merging its halves.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._runtime.instruction_set import instruction_set
from boostkmeans._runtime.object_size import SizedByFields
from boostkmeans._steps.neighbours import Lists, neighbour_lists, points_to_compare
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.size_limits.limits import Limits
from boostkmeans._steps.split_rules import MAX_PASSES, TOL

Ints = NDArray[np.int64]

# Merges are searched among this number of nearest clusters. The cheapest merge is rarely farther away.
MERGE_NEIGHBOURS = 16
# Composites of the halves are computed only up to this number of values.
MAX_HALVES_VALUES = 2**25
# Merge costs are computed only up to this number of compared values.
MAX_MERGE_VALUES = 2**27
# Gains must exceed costs by more than the rounding of sums in float64.
MIN_ADVANTAGE = 1e-9
# Number of the best splits and of the cheapest merges that trial swaps combine.
TRIAL_CHOICES = 6
# Minimum gain of the split in a trial swap, as a share of the cost of the merge.
MIN_TRIAL_SHARE = 1 / 3


@dataclass(frozen=True)
class Swaps(SizedByFields):
    """Pairs of a merge and a split. No cluster takes part in two of them."""

    merged: Ints
    """Clusters that receive all rows of `freed`."""
    freed: Ints
    """Clusters that are merged into `merged`, and then receive the second half of `split`."""
    split: Ints
    """Clusters that are split."""
    gain: float
    """Decrease of the inertia."""

    @classmethod
    def from_triples(cls, triples: list[tuple[int, int, int]], gain: float) -> "Swaps":
        """Build swaps from triples (merged, freed, split)."""
        merged, freed, split = np.array(triples, dtype=np.int64).reshape(-1, 3).T
        return cls(merged, freed, split, gain)

    def __len__(self) -> int:
        return len(self.split)

    @property
    def touched(self) -> Ints:
        """All clusters that take part in a swap."""
        return np.concatenate([self.merged, self.freed, self.split])

    def renamed(self, n_clusters: int) -> Labels:
        """Return the new cluster of each half, with the numbers of `Halves`."""
        k = n_clusters
        becomes = np.tile(np.arange(k, dtype=np.int32), 2)
        becomes[self.freed] = becomes[k + self.freed] = self.merged
        becomes[k + self.split] = self.freed
        return becomes


@dataclass(frozen=True)
class Halves:
    """Each cluster in two halves. The second half of cluster c has the number k + c."""

    labels: Labels
    weights: Floats
    counts: Ints
    gains: Floats
    """Decrease of the inertia if a cluster is replaced by its halves."""
    composites: Floats | None
    """Sums of the halves; None if they would be very large."""

    def joined(self, becomes: Labels, n_clusters: int, problem: Problem) -> Partition:
        """Return the partition in which half h is a part of cluster `becomes[h]`."""
        if self.composites is None:
            new, _ = Partition.from_labels(
                becomes[self.labels], n_clusters, problem.rows, problem.row_weights, problem.n_threads
            )
            return new
        halves = Partition(self.labels, self.composites, self.weights, self.counts)
        return halves.joined(becomes, n_clusters)

    def exchanged(self, clusters: NDArray[np.bool_]) -> "Halves":
        """Return the halves with first and second half exchanged in the masked clusters."""
        k = len(clusters)
        order = np.arange(2 * k, dtype=np.int32)
        first = np.flatnonzero(clusters)
        order[first], order[first + k] = first + k, first
        return Halves(
            labels=order[self.labels],
            weights=self.weights[order],
            counts=self.counts[order],
            gains=self.gains,
            composites=None if self.composites is None else self.composites[order],
        )


@dataclass(frozen=True)
class Repair:
    """The splits of all clusters and the merges of neighbours, from which swaps are chosen."""

    partition: Partition
    halves: Halves
    gains: Floats
    """Gain of the split of each cluster; -inf if it cannot be split."""
    merges: tuple[Ints, Ints, Floats]
    """Pairs of clusters and the cost of merging them, cheapest first."""
    limits: Limits | None = None
    """Limits on the sizes of clusters that differ between clusters; None otherwise."""

    @classmethod
    def plan(
        cls,
        problem: Problem,
        partition: Partition,
        seed: int,
        lists: Lists | None = None,
        *,
        only: NDArray[np.bool_] | None = None,
    ) -> "Repair":
        """Split every cluster, or only some of them, and compute the costs of merging neighbours.

        `lists` are neighbours from an earlier search; None to search for them.
        """
        halves = split_clusters(problem, partition, seed, only)
        return cls.of_halves(partition, halves, problem.n_threads, limits=problem.limits, lists=lists)

    @classmethod
    def of_halves(
        cls,
        partition: Partition,
        halves: Halves,
        n_threads: int,
        *,
        limits: Limits | None = None,
        lists: Lists | None = None,
    ) -> "Repair":
        """Compute the costs of merging neighbours, for clusters with these halves."""
        k = partition.n_clusters
        allowed = (halves.counts[:k] > 0) & (halves.counts[k:] > 0)
        differing = limits if limits is not None and limits.differ else None
        if limits is not None and differing is None:
            allowed &= limits.at_least_min(halves.weights[:k]) & limits.at_least_min(halves.weights[k:])
        gains = np.where(allowed, halves.gains, -np.inf)
        a, b, costs = neighbouring_merges(partition, n_threads, lists)
        if limits is not None:
            gains, costs = _apply_limits(limits, partition.weights, gains, a, b, costs)
        order = np.argsort(costs, kind="stable")
        return cls(partition, halves, gains, (a[order], b[order], costs[order]), differing)

    def _fits(self, merged: int, freed: int, split: int) -> bool:
        """Return True if limits that differ between clusters allow a swap.

        The second half of the split cluster takes the number of the freed cluster.
        """
        if self.limits is None:
            return True
        weights, halves = self.partition.weights, self.halves.weights
        return bool(
            self.limits.at_most_max(weights[merged] + weights[freed], merged)
            and self.limits.at_least_min(halves[split], split)
            and self.limits.allow(halves[len(weights) + split], freed)
        )

    def preserving(self, owned: Floats) -> "Repair":
        """Return a repair in which the part of a cluster that is worth more keeps the number.

        `owned` is the worth of each half. A split moves the half that is worth less, and so does a merge
        of two clusters.
        """
        k = self.partition.n_clusters
        halves = self.halves.exchanged(owned[k:] > owned[:k])
        a, b, costs = self.merges
        whole = owned[:k] + owned[k:]
        swap = whole[b] > whole[a]
        merges = np.where(swap, b, a), np.where(swap, a, b), costs
        return replace(self, halves=halves, merges=merges)

    def improving_swaps(self, min_gain: float) -> Swaps | None:
        """Pair the best splits with the cheapest merges of other clusters, as long as a pair is a gain.

        Return None if all pairs together gain no more than `min_gain`.
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
            while at < len(a) and (
                used[a[at]]
                or used[b[at]]
                or split in (a[at], b[at])
                or not self._fits(a[at], b[at], split)
            ):
                at += 1
            if at == len(a) or gains[split] * (1 - MIN_ADVANTAGE) <= costs[at]:
                if at == first:  # The splits that follow gain even less.
                    break
                continue
            chosen.append((int(a[at]), int(b[at]), int(split)))
            used[[a[at], b[at], split]] = True
            total += float(gains[split] - costs[at])
        return Swaps.from_triples(chosen, total) if chosen and total > min_gain else None

    def trial_swaps(self, max_swaps: int) -> list[Swaps]:
        """Return single swaps that cost more than they gain, in ascending order of the loss."""
        a, b, costs = self.merges
        splits = np.argsort(-self.gains, kind="stable")[:TRIAL_CHOICES]
        found = []
        for i in range(min(len(a), TRIAL_CHOICES)):
            for split in splits:
                gain = self.gains[split]
                apart = split not in (a[i], b[i]) and self._fits(a[i], b[i], split)
                if apart and gain >= costs[i] * MIN_TRIAL_SHARE:
                    found.append((float(costs[i] - gain), (int(a[i]), int(b[i]), int(split))))
        found.sort()
        return [Swaps.from_triples([swap], -loss) for loss, swap in found[:max_swaps]]

    def apply(self, swaps: Swaps, problem: Problem) -> Partition:
        """Return the partition after these swaps, which only relabel halves.

        If composites are very large, the new partition takes over the memory of the old one, which
        becomes stale.
        """
        k, halves = self.partition.n_clusters, self.halves
        becomes = swaps.renamed(k)
        if halves.composites is None:
            new = replace(self.partition, labels=becomes[halves.labels], stale=False)
            self.partition.stale = True
            new.recompute(problem.rows, problem.row_weights, problem.n_threads)
            return new
        new = halves.joined(becomes, k, problem)
        empty = new.counts == 0
        new.composites[empty] = self.partition.composites[empty]
        return new


def split_clusters(
    problem: Problem, partition: Partition, seed: int, only: NDArray[np.bool_] | None = None
) -> Halves:
    """Split each cluster, or those in the mask `only`, by 2-way boost k-means."""
    k, labels, row_weights = partition.n_clusters, partition.labels, problem.row_weights
    rows = problem.rows_in_memory
    if row_weights is None:
        members, starts = _core.members(labels, k, problem.n_threads)
    else:
        weighted = np.flatnonzero(row_weights > 0)
        order, starts = _core.members(labels[weighted], k, problem.n_threads)
        members = weighted[order]
    begins, ends = starts[:-1], starts[1:]
    divisible = ends - begins >= 2
    large = np.flatnonzero(divisible if only is None else divisible & only)
    light = 2 * k * rows.n_features > MAX_HALVES_VALUES
    middles, weights, inertias, _ = _core.split(
        rows.core,
        row_weights,
        members,
        np.ascontiguousarray(begins[large]),
        np.ascontiguousarray(ends[large]),
        _core.SplitOptions(
            n_sections=2,
            init="k-means++",
            max_passes=MAX_PASSES,
            tol=TOL,
            seed=seed,
            with_inertias=light,
        ),
        problem.n_threads,
    )
    middle = ends.copy()  # A cluster of equal rows has no second half.
    found = middles.reshape(-1, 2)[:, 0]
    middle[large[found >= 0]] = found[found >= 0]
    cluster = np.repeat(np.arange(k, dtype=np.int32), ends - begins)
    second = np.arange(len(members)) >= middle[cluster]
    new_labels = labels.copy()
    new_labels[members[second]] = k + cluster[second]
    if light:
        return _light_halves(
            problem, partition, new_labels, large, weights.reshape(-1, 2), inertias.reshape(-1, 2)
        )
    halves, _ = Partition.from_labels(new_labels, 2 * k, rows, row_weights, problem.n_threads)
    one = np.arange(k)
    gains = merge_costs(halves.composites, halves.weights, one, one + k, problem.n_threads)
    return Halves(new_labels, halves.weights, halves.counts, gains, halves.composites)


def _light_halves(
    problem: Problem,
    partition: Partition,
    labels: Labels,
    large: Ints,
    weights: Floats,
    inertias: Floats,
) -> Halves:
    """Build halves without their composites, from the inertias that the splits measured."""
    k = partition.n_clusters
    whole = np.empty(k)
    partition.recompute(problem.rows, problem.row_weights, problem.n_threads, inertias=whole)
    gains, all_weights = np.zeros(k), np.zeros(2 * k)
    gains[large] = np.maximum(whole[large] - inertias.sum(axis=1), 0.0)
    all_weights[:k] = partition.weights
    all_weights[large], all_weights[large + k] = weights.T
    members = labels if problem.row_weights is None else labels[problem.row_weights > 0]
    return Halves(labels, all_weights, np.bincount(members, minlength=2 * k), gains, None)


def neighbouring_merges(
    partition: Partition, n_threads: int, lists: Lists | None = None
) -> tuple[Ints, Ints, Floats]:
    """Return distinct pairs of neighbouring clusters, and the cost of merging each pair."""
    a, b = _neighbouring_pairs(partition, n_threads, lists)
    return a, b, merge_costs(partition.composites, partition.weights, a, b, n_threads)


def _neighbouring_pairs(partition: Partition, n_threads: int, lists: Lists | None) -> tuple[Ints, Ints]:
    """Return distinct pairs of neighbouring clusters; if there are many, those estimated as cheapest."""
    k, d = partition.composites.shape
    n_neighbours = min(MERGE_NEIGHBOURS, k - 1)
    if lists is None:
        lists = neighbour_lists(points_to_compare(partition), n_neighbours, n_threads)
    lists = lists[:, :n_neighbours]
    owner = np.repeat(np.arange(k), lists.shape[1])
    other = lists.ravel().astype(np.int64)
    proper = (other >= 0) & (other != owner)
    owner, other = owner[proper], other[proper]
    # NumPy's `unique` hashes integers, which takes ten times as long for millions of pairs.
    pairs = np.sort(np.minimum(owner, other) * k + np.maximum(owner, other))
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
    a, b = pairs // k, pairs % k
    if len(a) * d > MAX_MERGE_VALUES:
        points = points_to_compare(partition)
        estimates = merge_costs(points, np.ones(k), a, b, n_threads, partition.weights)
        chosen = np.argsort(estimates, kind="stable")[: max(k, MAX_MERGE_VALUES // d)]
        a, b = a[chosen], b[chosen]
    return a, b


def _apply_limits(
    limits: Limits, weights: Floats, gains: Floats, a: Ints, b: Ints, costs: Floats
) -> tuple[Floats, Floats]:
    """Return gains and costs that include the cost of restoring broken limits.

    Each unit of excess or missing weight is charged the squared distance to the nearest neighbouring
    cluster. A merge that exceeds the maximum size has an infinite cost.
    """
    together = weights[a] + weights[b]
    # The cost of a merge is the squared distance of the centres times this factor.
    factors = np.divide(weights[a] * weights[b], together, out=np.ones(len(a)), where=together > 0)
    distances = np.divide(costs, factors, out=np.zeros(len(a)), where=factors > 0)
    nearest = np.full(len(gains), np.inf)
    np.minimum.at(nearest, a, distances)
    np.minimum.at(nearest, b, distances)
    nearest[np.isinf(nearest)] = 0.0
    excess = np.maximum(weights - limits.max_weights, 0.0) * nearest
    lack = np.maximum(limits.min_weights - weights, 0.0) * nearest
    cheaper = np.maximum(costs - lack[a] - lack[b], 0.0)
    fits = limits.at_most_max(together, a) | limits.at_most_max(together, b)
    return gains + excess, np.where(fits, cheaper, np.inf)


def merge_costs(
    composites: Floats, weights: Floats, a: Ints, b: Ints, n_threads: int, sizes: Floats | None = None
) -> Floats:
    """Return the increase of the inertia for merging each pair of clusters.

    `sizes` are the weights of the clusters if `composites` are centres with weights of 1.
    """
    sizes = weights if sizes is None else sizes
    together = sizes[a] + sizes[b]
    shares = np.divide(sizes[a] * sizes[b], together, out=np.zeros(len(a)), where=together > 0)
    gaps = np.empty(len(a))
    _core.pair_distances(composites, weights, a, b, gaps, isa=instruction_set(), n_threads=n_threads)
    return np.asarray(gaps * shares)
