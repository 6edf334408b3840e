"""What a fit leaves behind about itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """One sweep of a fit, as found in `history_` and as given to `callback`."""

    seconds: float
    """Since the fit began, at the end of the sweep."""
    moves: int
    """Rows that changed their cluster."""
    inertia: float
    """Sum of squared distances of the rows to their centres after the sweep."""
    evaluations: int
    """Distances that the sweep computed."""
    kind: str = "sweep"
    """"sweep"; "candidates" for one over neighbour lists; "certify" for one that decides in float64
    wherever float32 cannot; "tree" for the making of a tree."""
