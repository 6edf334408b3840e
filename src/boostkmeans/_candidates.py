"""Sweeps over candidates (the paper's top-k0): rows look at the neighbours of their cluster alone."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans import _core
from boostkmeans._neighbours import Lists, neighbour_lists
from boostkmeans._partition import Partition
from boostkmeans._rows import Floats, Rows

# Lists are made anew after 1, 2, 4, ... sweeps, and every so many from then on. See "Candidates" in
# docs/benchmarks.md.
LONGEST_USE = 8
# What "auto" stands for: so many candidates, from so many clusters on; and up to so many clusters,
# sweeps over all of them follow, which are then cheap enough for the little that candidates miss.
AUTO_CANDIDATES, AUTO_FROM_CLUSTERS, AUTO_ALL_UP_TO = 128, 512, 2048


@dataclass
class Candidates:
    """Neighbour lists of a partition, and when which cluster changed and was visited."""

    n_candidates: int
    n_threads: int
    then_all: bool = False
    """Whether sweeps over all clusters follow even if there is a tolerance."""
    lists: Lists = field(init=False)
    changed: NDArray[np.int64] = field(init=False)
    visited: NDArray[np.int64] = field(init=False)
    clock: int = 0
    uses: int = 0
    """Sweeps over these lists."""
    outdated: bool = True
    """Whether the next sweep begins with new lists."""
    _longest_use: int = 0

    @property
    def fresh(self) -> bool:
        """Whether the last sweep began with new lists."""
        return self.uses == 1

    def refresh(self, partition: Partition) -> None:
        """Lists for the centres as they are."""
        self.lists = neighbour_lists(partition.centres, self.n_candidates, self.n_threads)
        self.changed = np.full(partition.n_clusters, -1, dtype=np.int64)
        self.visited = np.full(partition.n_clusters, -1, dtype=np.int64)
        self.clock = 0
        self.uses = 0
        self._longest_use = min(max(1, 2 * self._longest_use), LONGEST_USE)

    def sweep(
        self,
        rows: Rows,
        row_weights: Floats | None,
        partition: Partition,
        rng: np.random.RandomState,
        *,
        block_rows: int,
        first: bool,
        seconds_left: float,
    ) -> tuple[int, float, int, bool]:
        """One sweep; returns (moves, gain, evaluations, whether time ran out)."""
        if self.outdated:
            self.refresh(partition)
        moves, gain, evaluations, late, self.clock = _core.sweep_candidates(
            rows.core,
            row_weights,
            partition.labels,
            partition.composites,
            partition.weights,
            partition.counts,
            self.lists,
            self.changed,
            self.visited,
            self.clock,
            rng.permutation(partition.n_clusters).astype(np.int32),
            block_rows,
            first,
            int(rng.randint(2**31 - 1)),
            seconds_left,
            self.n_threads,
        )
        self.uses += 1
        self.outdated = self.uses >= self._longest_use
        return moves, gain, evaluations, late


def candidates_for(n_candidates: int | str | None, n_clusters: int, n_threads: int) -> Candidates | None:
    """What the parameter stands for; None if rows look at all clusters from the beginning."""
    if n_candidates == "auto":
        if n_clusters < AUTO_FROM_CLUSTERS:
            return None
        return Candidates(AUTO_CANDIDATES, n_threads, then_all=n_clusters <= AUTO_ALL_UP_TO)
    if n_candidates is None or n_clusters < 3:
        return None
    return Candidates(min(int(n_candidates), n_clusters - 1), n_threads)
