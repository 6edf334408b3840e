"""Candidate strategy: the choice of the clusters that rows are compared with in each sweep."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from boostkmeans._data.rows import RowSet
from boostkmeans._engine.plan import Plan
from boostkmeans._steps.candidates import CandidatePolicy, NeighbourLists, adapt_to_swaps
from boostkmeans._steps.neighbours import Lists, is_exact
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.repair import Swaps
from boostkmeans._steps.sweep import SweepResult
from boostkmeans._storage.state import SavedState, State

# Minimum number of clusters for which searches for neighbours and repairs use earlier lists. With 2,100
# clusters, fresh lists lead to an inertia that is 0.2 to 0.4 % lower, and they take little time.
REUSE_FROM_CLUSTERS = 8192
# Lists are rebuilt after 1, 2 and 4 sweeps, and then after every 4 sweeps. The last sweep over a list
# uses the runners-up. See docs/paper/top_k0.md.
MAX_USES = 4
# Maximum cost of a probe, as a share of the cost of the sweeps over the current lists.
MAX_PROBE_COST = 1 / 20
# Maximum share of the rows that a probe visits.
MAX_PROBED_SHARE = 1 / 8
# Defaults of fields that are missing in checkpoints of versions before 0.7.
MISSING_BEFORE_0_7 = {
    "everywhere": False, "_cold_uses": 0, "least_gain": 0.0, "_gain": 0.0, "_rate": 0.0, "_spent": 0.0,
}  # fmt: skip


class Scope(Enum):
    """The clusters that rows are compared with in a sweep."""

    NEIGHBOURS = "neighbours of the own cluster"
    RUNNERS_UP = "neighbours of the best other cluster"
    ALL = "all clusters"


@dataclass
class CandidateStrategy:
    """Choose the scope of the next sweep from the gains and costs of the sweeps so far.

    In most sweeps, rows are compared with the neighbours of their own cluster. Some sweeps compare them
    with the neighbours of the best other cluster found so far, the *runner-up*. This helps rows at the
    border of a cluster, for which the list of their own cluster is too short.

    If all centres are about equally far from each other, as for many embeddings, neighbours are poor
    candidates. Before lists are rebuilt, a *probe* therefore compares some rows with all clusters. If it
    gains more for its cost than the sweeps over the lists did, the next sweep compares all rows with all
    clusters, unless that costs more than all previous sweeps.
    """

    n_candidates: int
    probes: bool = False
    min_gain: float = 0.0
    """Relative gain below which sweeps over candidates are about to end: the `tol` of the fit."""
    scope: Scope = Scope.NEIGHBOURS
    """Scope of the next sweep."""
    lists: NeighbourLists | None = None
    """Lists for the next sweep, or earlier ones from which the next lists are built."""
    n_built: int = 0
    """Number of lists built so far, and the seed of the next search."""
    expired: bool = True
    """True if the lists must be rebuilt before the next sweep."""
    runners_up: Labels | None = None
    tried_runners_up: bool = False
    """True if fresh lists gained little and the next sweep therefore uses the runners-up."""
    max_uses: int = 0
    """Number of sweeps for which the current lists are used."""
    uses: int = 0
    """Number of sweeps over the current lists."""
    plain_uses: int = 0
    """Number of these sweeps without annealing."""
    gain: float = 0.0
    """Gain of the sweeps without annealing over the current lists."""
    rate: float = 0.0
    """Gain per cost of the sweeps over the lists, at the last probe."""
    cost: float = 0.0
    """Cost of all sweeps so far, per row, in units of one cluster of a full sweep."""

    def refresh(self, problem: Problem, partition: Partition, *, first: bool) -> None:
        """Rebuild expired lists, and allocate the runners-up, before a sweep over candidates."""
        if self.expired or self.lists is None:
            n_blocks, n_threads = problem.rows.n_blocks, problem.n_threads
            reuse = self.lists is not None and partition.n_clusters >= REUSE_FROM_CLUSTERS
            self.lists = NeighbourLists.build(
                partition,
                self.n_candidates,
                n_blocks,
                n_threads,
                previous=self.lists.lists if reuse and self.lists is not None else None,
                seed=self.n_built if reuse else 0,
            )
            self.n_built += 1
            self.max_uses = min(max(1, 2 * self.max_uses), MAX_USES)
            self.uses = self.plain_uses = 0
            self.gain = 0.0
            self.tried_runners_up = self.expired = False
        if self.runners_up is None and not first:  # moves="first" never computes the best cluster.
            self.runners_up = np.zeros(problem.rows.n_rows, dtype=np.int32)

    def policy(self) -> CandidatePolicy:
        """Return the visit policy of the next sweep over candidates."""
        assert self.lists is not None, "refresh comes first"
        return CandidatePolicy(self.lists, self.runners_up, self.scope is Scope.RUNNERS_UP)

    def after_sweep(
        self, result: SweepResult, rows: RowSet, n_clusters: int, temperature: float
    ) -> None:
        """Account for a sweep over candidates, and choose the next scope."""
        self.uses += 1
        self.cost += candidate_cost(self.n_candidates, rows, n_clusters)
        if temperature == 0:
            self.plain_uses += 1
            self.gain += result.gain
        self.expired = self.uses >= self.max_uses
        last_use = self.uses == MAX_USES - 1 and not self.expired and self.runners_up is not None
        self.scope = Scope.RUNNERS_UP if last_use else Scope.NEIGHBOURS

    def probe_share(self, rows: RowSet, n_clusters: int) -> float:
        """Return the share of the rows to probe: 0 unless lists expired or runners-up were tried."""
        if not self.probes or not (self.expired or self.tried_runners_up):
            return 0.0
        cost = self.uses * candidate_cost(self.n_candidates, rows, n_clusters)
        return min(MAX_PROBE_COST * cost / n_clusters, MAX_PROBED_SHARE)

    def after_probe(
        self, result: SweepResult, rows: RowSet, partition: Partition, inertia: float
    ) -> None:
        """Compare the gain of a probe with that of the sweeps over the lists."""
        cost = rows.n_rows * candidate_cost(self.n_candidates, rows, partition.n_clusters)
        self.rate = max(self.gain / self.plain_uses, self.min_gain * inertia) / cost
        pays = result.gain > self.rate * result.evaluations
        if pays and partition.n_clusters <= self.cost:
            self.scope = Scope.ALL
        self.expired = True  # The stamps of the lists do not include the moves of the probe.

    def after_full_sweep(self, result: SweepResult, n_clusters: int) -> None:
        """Account for a sweep over all clusters. If it was worth its cost, another one follows."""
        self.invalidate()
        self.cost += n_clusters
        if result.gain > self.rate * result.evaluations:
            self.scope = Scope.ALL

    def invalidate(self) -> None:
        """Rebuild the lists before the next sweep, because clusters have changed."""
        self.expired = True
        self.scope = Scope.NEIGHBOURS
        self.tried_runners_up = False

    def known_lists(self, n_clusters: int) -> Lists | None:
        """Return lists for a repair; None if a search for neighbours takes little time."""
        if self.lists is None or n_clusters < REUSE_FROM_CLUSTERS:
            return None
        if is_exact(n_clusters, self.n_candidates):
            return None
        return self.lists.lists

    def swap(self, swaps: Swaps) -> None:
        """Adapt the lists to swapped clusters."""
        if self.lists is not None:
            adapt_to_swaps(self.lists.lists, swaps.freed, swaps.split)

    def mark_unvisited(self) -> None:
        """Make the next sweep visit all clusters."""
        if not self.expired and self.lists is not None:
            self.lists.mark_unvisited()

    def next_strategy(self) -> bool:
        """Choose another kind of sweep after one that gained little. Return False if none is left.

        The next sweep compares rows with all clusters if the last probe was worth its cost. Otherwise it
        uses rebuilt lists, or the runners-up if the lists were used only once.
        """
        if self.scope is Scope.ALL:
            return True
        if self.tried_runners_up:
            return False
        if self.uses > 1:
            self.expired = True
            self.scope = Scope.NEIGHBOURS
            return True
        self.expired = False
        self.tried_runners_up = self.runners_up is not None
        self.scope = Scope.RUNNERS_UP if self.tried_runners_up else Scope.NEIGHBOURS
        return self.tried_runners_up

    def without_lists(self) -> "CandidateStrategy":
        """Return a copy of the strategy without its lists, for use after the last sweep."""
        return CandidateStrategy(self.n_candidates, self.probes, self.min_gain)

    def state(self) -> State:
        """Return the strategy as plain values for a checkpoint, with the field names of version 0.7."""
        lists = self.lists
        return {
            "n_candidates": self.n_candidates,
            "looks_around": self.probes,
            "least_gain": self.min_gain,
            "everywhere": self.scope is Scope.ALL,
            "_by_runner_up": self.scope is Scope.RUNNERS_UP,
            "_outdated": self.expired,
            "_last_resort": self.tried_runners_up,
            "n_built": self.n_built,
            "_longest_use": self.max_uses,
            "_uses": self.uses,
            "_cold_uses": self.plain_uses,
            "_gain": self.gain,
            "_rate": self.rate,
            "_spent": self.cost,
            "clock": 0 if self.lists is None else self.lists.clock,
            "runners_up": self.runners_up,
            **({} if lists is None else lists.state()),
        }

    @classmethod
    def restore(
        cls, saved: SavedState, problem: Problem, plan: Plan, n_clusters: int
    ) -> "CandidateStrategy":
        """Restore the strategy from the result of `state`."""
        saved = replace(saved, values={**MISSING_BEFORE_0_7, **saved.values})
        found = cls(saved.integer("n_candidates"), plan.probes, saved.number("least_gain"))
        if saved.boolean("everywhere"):
            found.scope = Scope.ALL
        elif saved.boolean("_by_runner_up"):
            found.scope = Scope.RUNNERS_UP
        found.expired = saved.boolean("_outdated")
        found.tried_runners_up = saved.boolean("_last_resort")
        found.max_uses = saved.integer("_longest_use")
        found.uses = saved.integer("_uses")
        found.plain_uses = saved.integer("_cold_uses")
        found.gain, found.rate = saved.number("_gain"), saved.number("_rate")
        found.cost = saved.number("_spent")
        rows, clock = problem.rows, saved.integer("clock")
        if saved.values.get("runners_up") is not None:
            shape = (rows.n_rows,)
            found.runners_up = saved.array("runners_up", np.int32, shape, 0, n_clusters - 1)
        # Versions before 0.9 stored no expired lists.
        found.n_built = saved.integer("n_built") if "n_built" in saved.values else 0
        if "lists" in saved.values:
            found.lists = NeighbourLists.restore(saved, n_clusters, rows.n_blocks, clock)
        return found


def candidate_cost(n_candidates: int, rows: RowSet, n_clusters: int) -> float:
    """Return the cost of a row in a sweep over candidates, in units of one cluster of a full sweep.

    The formula fits measurements within a factor of about two. Besides the comparisons, it includes the
    time to sort the rows, to build the lists and to gather the centres. This overhead dominates for few
    features or few rows per cluster. Costs are estimated rather than timed, so that the result does not
    depend on the load of the machine.
    """
    features = max(rows.n_features, 8)
    row = 1.25 * n_candidates + 5000 / features
    cluster = 3e5 / features + n_candidates * (70 + 3000 / features)
    return float(row + cluster * n_clusters / rows.n_rows)
