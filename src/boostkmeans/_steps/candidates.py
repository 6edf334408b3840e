"""Sweeps over candidates (the paper's top-k0): rows look at the neighbours of their cluster alone."""

import sys
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._data.rows import Floats, Rows
from boostkmeans._steps.neighbours import Lists, neighbour_lists, points_to_compare
from boostkmeans._steps.partition import Labels, Partition
from boostkmeans._steps.sweep import SweepOptions, SweepSoFar, Swept, block_rows
from boostkmeans._storage.state import SavedState, State

# Lists are made anew after 1, 2 and 4 sweeps, and every so many from then on. The last of these sweeps
# goes by the runners-up. See docs/paper/top_k0.md.
LONGEST_USE = 4
# What "auto" stands for: so many candidates, from so many clusters on; and up to so many clusters,
# sweeps over all of them follow, which are then cheap enough for the little that candidates miss.
AUTO_CANDIDATES, AUTO_FROM_CLUSTERS, AUTO_ALL_UP_TO = 128, 512, 2048
# Few rows do not repay the gathering of many centres: below so many rows a cluster, so many candidates.
FEW_ROWS, AUTO_CANDIDATES_OF_FEW = 32, 32
# What says where the sweeps are, beside the arrays.
FLAGS = ("then_all", "looks_around", "everywhere", "_outdated", "_by_runner_up", "_last_resort")
NUMBERS = ("n_candidates", "clock", "_uses", "_longest_use", "_cold_uses")
MEASURES = ("least_gain", "_gain", "_rate", "_spent")
# What checkpoints of versions before 0.7 lack: a run that was begun by one goes on as it would there.
NEW = {"looks_around": False, "everywhere": False, "_cold_uses": 0, "least_gain": 0.0, "_gain": 0.0,
       "_rate": 0.0, "_spent": 0.0}  # fmt: skip
# What rows look at around clusters that a repair touched.
AROUND = 32
# Rows that look around: as many as take that share of the time of the sweeps before, and of the rows.
SHARE_OF_TIME, MOST_OF_ROWS = 1 / 20, 1 / 8


@dataclass
class Candidates:
    """Neighbour lists of a partition, and what is known from earlier sweeps over them.

    In most sweeps, rows look at the neighbours of their own cluster. Now and then they look at those of
    the best other cluster that they found so far, the *runner-up*: this leads out of lists that are too
    short for a row at the border of its cluster.

    Where all centres are about as far from each other, as those of many embeddings are, neighbours say
    little. So some rows *look around*, at all clusters, each time before lists are made anew. If that
    gains more for its cost than the sweeps over the lists did, all rows look everywhere in the next,
    unless that would cost more than all sweeps before.
    """

    n_candidates: int
    n_threads: int
    then_all: bool = False
    """Whether sweeps over all clusters follow even if there is a tolerance."""
    looks_around: bool = False
    """Whether sweeps over all clusters may come in between."""
    least_gain: float = 0.0
    """Relative: a sweep over candidates that gains less is one of the last."""
    everywhere: bool = False
    """Whether the next sweep is over all clusters."""
    lists: Lists = field(init=False)
    changed: NDArray[np.int64] = field(init=False)
    visited: NDArray[np.int64] = field(init=False)
    """For each part of the rows, and each cluster."""
    runners_up: Labels | None = None
    clock: int = 0
    _uses: int = 0
    """Sweeps over these lists."""
    _longest_use: int = 0
    _outdated: bool = True
    """Whether the next sweep begins with new lists."""
    _by_runner_up: bool = False
    """Whether the next sweep goes by the runners-up."""
    _last_resort: bool = False
    """Whether new lists gained little, and the runners-up of these are what is left to try."""
    _cold_uses: int = 0
    """Those of them that were not annealed."""
    _gain: float = 0.0
    """Of these."""
    _rate: float = 0.0
    """The gain for a cost, when some rows looked around last."""
    _spent: float = 0.0
    """What all sweeps so far have cost, for a row."""

    def sweep(
        self,
        rows: Rows,
        row_weights: Floats | None,
        partition: Partition,
        rng: np.random.RandomState,
        how: SweepOptions,
        so_far: SweepSoFar | None = None,
    ) -> Swept:
        """One sweep."""
        if time.perf_counter() >= how.deadline:
            return Swept(0, 0.0, 0, late=True)
        if self._outdated:
            self._refresh(partition, rows.n_parts)
            self._outdated = False
        so_far = so_far or SweepSoFar()
        if self.runners_up is None and not how.first:  # of which no best one is known
            self.runners_up = np.zeros(rows.n_rows, dtype=np.int32)
        for part in so_far.parts(rows, rng):
            moves, gain, evaluations, late, self.clock = _core.sweep_candidates(
                part.rows.core,
                None if row_weights is None else row_weights[part.where],
                *partition.of_part(part).arrays,
                self.lists,
                self.changed,
                self.visited[part.number],
                self.clock,
                rng.permutation(partition.n_clusters).astype(np.int32),
                block_rows(rows.n_rows),
                None if self.runners_up is None else self.runners_up[part.where],
                self._by_runner_up,
                how.first,
                int(rng.randint(2**31 - 1)),
                max(0.0, how.deadline - time.perf_counter()),
                how.n_threads,
                how.temperature,
                how.limits.least,
                how.limits.most,
                how.exchange,
                how.prices,
            )
            so_far.add(Swept(moves, gain, evaluations, late))
        self._uses += 1
        self._spent += cost_of_candidates(self.n_candidates, rows, partition.n_clusters)
        if how.temperature == 0:
            self._cold_uses += 1
            self._gain += so_far.swept.gain
        self._outdated = self._uses >= self._longest_use
        last_of_many = self._uses == LONGEST_USE - 1
        self._by_runner_up = last_of_many and not self._outdated and self.runners_up is not None
        return so_far.swept

    def share_to_look_around(self, rows: Rows, n_clusters: int) -> float:
        """Of the rows, now: 0 unless lists are used up, or the last resort was tried."""
        if not self.looks_around or not (self._outdated or self._last_resort):
            return 0.0
        cost = self._uses * cost_of_candidates(self.n_candidates, rows, n_clusters)
        return min(SHARE_OF_TIME * cost / n_clusters, MOST_OF_ROWS)

    def looked_around(self, seen: Swept, rows: Rows, partition: Partition, inertia: float) -> None:
        """Compares what some rows gained by all clusters with what the sweeps over these lists did."""
        cost = rows.n_rows * cost_of_candidates(self.n_candidates, rows, partition.n_clusters)
        self._rate = max(self._gain / self._cold_uses, self.least_gain * inertia) / cost
        pays = seen.gain > self._rate * seen.evaluations
        self.everywhere = pays and partition.n_clusters <= self._spent
        # The lists know nothing of these moves. (A sweep by runners-up goes without knowing.)
        self._outdated = True

    def looked_everywhere(self, swept: Swept, n_clusters: int) -> None:
        """The same for a sweep over all clusters: there is another one, or candidates have new lists."""
        self.forget()
        self._spent += n_clusters
        self.everywhere = swept.gain > self._rate * swept.evaluations

    @classmethod
    def around(cls, partition: Partition, touched: NDArray[np.int64], n_threads: int) -> "Candidates":
        """For sweeps over these clusters and their neighbours alone, and over what changes then."""
        candidates = cls(min(AROUND, partition.n_clusters - 1), n_threads)
        candidates._refresh(partition, n_parts=1)
        candidates._outdated, candidates._longest_use = False, sys.maxsize
        candidates.visited[:] = 0
        candidates.changed[touched] = 0
        candidates.clock = 1
        return candidates

    def state(self) -> State:
        """All of it; lists that are not used any more are left out."""
        names = [*FLAGS, *NUMBERS, *MEASURES, "runners_up"]
        names += [] if self._outdated else ["lists", "changed", "visited"]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def restored(cls, saved: SavedState, rows: Rows, n_clusters: int, n_threads: int) -> "Candidates":
        """What `state` gave."""
        k = n_clusters
        saved.values.update({name: value for name, value in NEW.items() if name not in saved.values})
        found = cls(0, n_threads)
        for name in FLAGS:
            setattr(found, name, saved.boolean(name))
        for name in NUMBERS:
            setattr(found, name, saved.integer(name))
        for name in MEASURES:
            setattr(found, name, saved.number(name))
        if saved.values.get("runners_up") is not None:
            found.runners_up = saved.array("runners_up", np.int32, (rows.n_rows,), 0, k - 1)
        if not found._outdated:
            found.lists = saved.array("lists", np.int32, (k, None), -1, k - 1)
            found.changed = saved.array("changed", np.int64, (k,), -1, found.clock)
            found.visited = saved.array("visited", np.int64, (rows.n_parts, k), -1, found.clock)
        return found

    def without_lists(self) -> "Candidates":
        """What is left of it when all sweeps are made."""
        return Candidates(
            self.n_candidates, self.n_threads, self.then_all, self.looks_around, self.least_gain
        )

    def revisit(self) -> None:
        """The next sweep passes no cluster over."""
        if not self._outdated:
            self.visited[:] = -1

    def forget(self) -> None:
        """For when clusters are no longer what they were: the next sweep is over new lists."""
        self._outdated = True
        self._by_runner_up = self._last_resort = self.everywhere = False

    def try_something_else(self) -> bool:
        """For when a sweep gained little: prepares another kind of sweep; False if all were tried.

        The next one is over all clusters if some rows gained by that, else over new lists, or if these
        are new, by the runners-up.
        """
        if self.everywhere:
            return True
        if self._last_resort:
            return False
        if self._uses > 1:
            self._outdated = True
            self._by_runner_up = False
            return True
        self._outdated = False
        self._by_runner_up = self._last_resort = self.runners_up is not None
        return self._last_resort

    def _refresh(self, partition: Partition, n_parts: int) -> None:
        """Lists for the centres as they are."""
        self.lists = neighbour_lists(points_to_compare(partition), self.n_candidates, self.n_threads)
        self.changed = np.full(partition.n_clusters, -1, dtype=np.int64)
        self.visited = np.full((n_parts, partition.n_clusters), -1, dtype=np.int64)
        self.clock = 0
        self._uses = self._cold_uses = 0
        self._gain = 0.0
        self._longest_use = min(max(1, 2 * self._longest_use), LONGEST_USE)
        self._last_resort = False


def cost_of_candidates(n_candidates: int, rows: Rows, n_clusters: int) -> float:
    """Of a row in a sweep over candidates, by that of one cluster in a sweep over all of them.

    A law that fits what was measured, within a factor of two or so: beside its candidates, a row costs
    some time to be sorted, and so does each cluster, for its list and for the centres that are gathered
    by it. That weighs the more, the fewer features and the fewer rows in a cluster there are.
    """
    features = max(rows.n_features, 8)
    row = 1.25 * n_candidates + 5000 / features
    cluster = 3e5 / features + n_candidates * (70 + 3000 / features)
    return float(row + cluster * n_clusters / rows.n_rows)


def candidates_for(
    n_candidates: int | str | None, n_clusters: int, n_rows: int
) -> tuple[int | None, bool]:
    """What the parameter stands for: how many, or None for all clusters; and whether all follow."""
    if n_candidates == "auto":
        if n_clusters < AUTO_FROM_CLUSTERS:
            return None, True
        few = n_rows < FEW_ROWS * n_clusters
        number = AUTO_CANDIDATES_OF_FEW if few else AUTO_CANDIDATES
        return number, n_clusters <= AUTO_ALL_UP_TO
    if n_candidates is None or n_clusters < 3:
        return None, True
    return min(int(n_candidates), n_clusters - 1), False
