"""Annealing: sweeps that also take moves which cost a little, less and less so."""

from dataclasses import dataclass

# Fitted to 20 newsgroups into 20 and 200; data of which a quarter is explained keeps its temperature.
PER_SQUARE_EXPLAINED = 2.0


@dataclass(frozen=True)
class Annealing:
    """The temperature falls linearly to 0. See "Annealing" in docs/benchmarks.md for why."""

    temperature: float
    n_sweeps: int
    adapts: bool = False
    """Whether it is lower where the clusters explain little: see `at`."""

    def at(self, sweep: int, explained: float = 1.0) -> float:
        """Temperature of a sweep, counted from 0.

        `explained` is the share of the inertia of all rows that the clusters account for. Where it is
        small, as with documents, rows are about as far from all centres. A temperature that suits other
        data would have nearly all of them move, and undo what was found.
        """
        highest = self.temperature
        if self.adapts:
            highest = min(highest, PER_SQUARE_EXPLAINED * explained**2)
        return highest * (1 - sweep / self.n_sweeps)
