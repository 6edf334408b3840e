"""History: the records of the sweeps, which users find in `history_`."""

import math
from dataclasses import MISSING, dataclass, fields
from typing import Any

from boostkmeans._storage.fields import Fields, encode_number
from boostkmeans._storage.state import State

# Kind of the record of a start. It is not a sweep, and `n_iter_` does not count it.
START = "start"
# Phase of a sweep with a positive temperature.
ANNEALING = "annealing"
# Methods of `Fields` that read a field of each type.
READERS: dict[Any, str] = {float: "number", int: "integer", str: "string"}


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """One sweep of a fit, as found in `history_` and as passed to `callback`."""

    seconds: float
    """Time since the start of the fit, at the end of the sweep."""
    moves: int
    """Number of rows that changed their cluster."""
    inertia: float
    """Inertia of the best partition so far, which the fit would return if it ended here. It is lower
    than that of the current partition only if annealing has raised the inertia. While a fit runs in
    few dimensions, this is the last measurement in all dimensions, which may be a little too high."""
    evaluations: int
    """Number of distances that the sweep computed, including lower bounds in a few dimensions."""
    kind: str = "sweep"
    """Kind of the sweep: "sweep" (over all clusters), "candidates" (over neighbour lists), "certify"
    (decided in float64 wherever float32 is not accurate enough), "tree" (construction of a tree),
    "repair" (swaps of clusters and the sweeps around them), or "extrapolation" (assignment of all rows
    to centres that continue the movement of the last sweeps). A record of kind "start" is not a sweep.
    It shows the inertia of a start that took long, namely a tree or the fit of a sample. Baselines use
    "lloyd", "batch" and "online"."""
    temperature: float = 0.0
    """Annealing temperature. If positive, moves that raise the inertia a little were accepted, too."""
    swaps: int = 0
    """Number of swaps in a repair. Each merges two clusters and splits a third one."""
    note: str = ""
    """Settings that were chosen automatically, with reasons; empty for most sweeps."""
    current_inertia: float = math.nan
    """Inertia of the current partition. Annealing and repairs may raise it above `inertia`. By default,
    both are equal; records of version 0.10 and earlier have this default."""

    def __post_init__(self) -> None:
        if math.isnan(self.current_inertia):
            object.__setattr__(self, "current_inertia", self.inertia)

    def __setstate__(self, state: list[Any]) -> None:
        """Restore a pickled record, with the defaults of fields that its version did not have."""
        names = [field.name for field in fields(self)]
        self.__init__(**dict(zip(names, state, strict=False)))  # type: ignore[misc]

    def __getstate__(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]

    @property
    def phase(self) -> str:
        """Phase of the fit: "annealing" if the temperature is positive, otherwise `kind`."""
        return ANNEALING if self.temperature else self.kind

    def state(self) -> State:
        """Return the record as plain values that JSON can hold."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: encode_number(v) if isinstance(v, float) else v for name, v in values.items()}

    @classmethod
    def restored(cls, saved: Fields) -> "SweepRecord":
        """Restore the record from the result of `state`. Missing fields get their defaults."""
        return cls(
            **{
                field.name: getattr(saved, READERS[field.type])(field.name)
                for field in fields(cls)
                if field.name in saved.values or field.default is MISSING
            }
        )
