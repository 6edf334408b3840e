"""The rows that a quantizer is trained on: all of a file, or a sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostkmeans._data import memory
from boostkmeans._data.rows import describe
from boostkmeans._steps.problem import stratified_indices
from boostkmeans.cli.commands.pq.files import as_source
from boostkmeans.cli.errors import say
from boostkmeans.io import Vectors


@dataclass(frozen=True)
class TrainingRows:
    """How many rows of a file to train on."""

    sample: int | None
    """At most so many; None for all that fit into memory."""
    seed: int
    n_subspaces: int
    n_centroids: int
    rotated: bool

    def of(self, vectors: Vectors) -> Any:
        """All rows, or some that are drawn evenly: one from each of as many stretches of the file."""
        n_rows, room = len(vectors), self._room(vectors)
        wanted = n_rows if self.sample is None else min(n_rows, self.sample)
        if wanted > room and (self.sample is not None or room < self.n_centroids):
            raise MemoryError(
                f"{wanted:,} rows of {vectors.shape[1]:,} features take more than "
                f"{memory.format_bytes(self._limit(vectors))} to train on: there is room for {room:,}. Take "
                "fewer rows by --sample, or raise --max-memory."
            )
        if wanted > room:
            wanted = room
            say(f"{vectors.name} does not fit into memory: training on a sample of {room:,} rows")
        return vectors if wanted == n_rows else self._drawn(vectors, wanted)

    def _drawn(self, vectors: Vectors, n_drawn: int) -> Any:
        drawn = stratified_indices(len(vectors), n_drawn, np.random.RandomState(self.seed))
        rows = vectors[drawn]
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():  # its number in the file, not that in the sample
            bad = int(drawn[finite.argmin()])
            describe(vectors.read(bad, bad + 1), None, 1, bad)
        return as_source(rows, vectors)

    def _room(self, vectors: Vectors) -> int:
        """Rows that fit: by the sizes and the limit alone, so that a training can be repeated."""
        d, float32 = vectors.shape[1], np.dtype(np.float32).itemsize
        # The rows as they are, and what is made of them: parts for subspaces, all at the same time at
        # worst, and rotated rows.
        each = d * (vectors.dtype.itemsize + float32 * (2 if self.rotated else 1))
        each += self.n_subspaces * memory.PER_ROW
        return max(0, self._limit(vectors) - memory.PROCESS) // each

    def _limit(self, vectors: Vectors) -> int:
        return memory.default_memory_limit() if vectors.max_memory is None else vectors.max_memory
