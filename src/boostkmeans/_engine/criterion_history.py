"""History of a fit that optimises one of CLUTO's criteria."""

from dataclasses import asdict, dataclass

from boostkmeans._storage.fields import Fields, encode_number
from boostkmeans._storage.state import State

# Kinds of records.
SPLIT, SWEEP = "split", "sweep"


@dataclass(frozen=True, slots=True)
class CriterionRecord:
    """One sweep or split of `CriterionKMeans`, as found in `history_` and as passed to `callback`."""

    seconds: float
    """Time since the start of the fit, at the end of the sweep or split."""
    moves: int
    """Number of moves of rows between clusters."""
    objective: float
    """Value of the criterion after it, for all clusters at that time."""
    evaluations: int
    """Number of comparisons of a row with a cluster."""
    kind: str = SWEEP
    """"sweep" over all clusters, or "split" of a cluster of a tree."""

    def state(self) -> State:
        """Return the record as plain values that JSON can hold."""
        values = asdict(self)
        return {name: encode_number(v) if isinstance(v, float) else v for name, v in values.items()}

    @classmethod
    def restored(cls, saved: Fields) -> "CriterionRecord":
        """Restore the record from the result of `state`."""
        return cls(
            seconds=saved.number("seconds"),
            moves=saved.integer("moves"),
            objective=saved.number("objective"),
            evaluations=saved.integer("evaluations"),
            kind=saved.string("kind"),
        )
