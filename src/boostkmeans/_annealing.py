"""Annealing: sweeps that also take moves which cost a little, less and less so."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Annealing:
    """The temperature falls linearly to 0. See "Annealing" in docs/benchmarks.md for why."""

    temperature: float
    n_sweeps: int

    def at(self, sweep: int) -> float:
        """Temperature of a sweep, counted from 0."""
        return self.temperature * (1 - sweep / self.n_sweeps)
