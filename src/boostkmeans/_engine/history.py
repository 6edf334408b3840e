"""What a fit leaves behind about itself."""

from dataclasses import MISSING, dataclass, fields
from typing import Any

from boostkmeans._storage.fields import Fields, encode_number
from boostkmeans._storage.state import State

# How fields of each type are read.
KINDS_OF_FIELDS: dict[Any, str] = {float: "number", int: "integer", str: "string"}


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """One sweep of a fit, as found in `history_` and as given to `callback`."""

    seconds: float
    """Since the fit began, at the end of the sweep."""
    moves: int
    """Rows that changed their cluster."""
    inertia: float
    """Sum of squared distances of the rows to their centres, of the best partition so far: what a fit
    that ends here returns. Below the one after this sweep only where annealing went up."""
    evaluations: int
    """Distances that the sweep computed."""
    kind: str = "sweep"
    """"sweep"; "candidates" for one over neighbour lists; "certify" for one that decides in float64
    wherever float32 cannot; "tree" for the making of a tree; "repair" for swaps of clusters, with the
    sweeps over what they touched. Baselines have "lloyd", "batch" and "online"."""
    temperature: float = 0.0
    """Of annealing: above 0, moves that cost a little were taken too."""
    swaps: int = 0
    """Of a repair: how often two clusters were merged and a third one split."""
    note: str = ""
    """What was chosen, and why, where something was to be chosen."""

    def state(self) -> State:
        """As plain values, which JSON can hold."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: encode_number(v) if isinstance(v, float) else v for name, v in values.items()}

    @classmethod
    def restored(cls, saved: Fields) -> "SweepRecord":
        """What `state` gave. A field that later versions added has its default."""
        return cls(
            **{
                field.name: getattr(saved, KINDS_OF_FIELDS[field.type])(field.name)
                for field in fields(cls)
                if field.name in saved.values or field.default is MISSING
            }
        )
