"""Stopping: the criteria that end a run, and the outcome of a run."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from boostkmeans._engine.history import SweepRecord


class StopReason(StrEnum):
    """Reason why a run ended. Users find it in `stop_reason_`."""

    CERTIFIED = "certified"
    """No single move improves the partition. This is proved in float64."""
    TOL = "tol"
    MAX_ITER = "max_iter"
    MAX_TIME = "max_time"
    CALLBACK = "callback"
    INTERRUPTED = "interrupted"
    """Ctrl-C stopped the run."""
    TREE = "tree"
    """A tree was built and not refined."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    reason: StopReason
    complete: bool = True
    """False if the deadline, a callback or Ctrl-C ended the run. It can be resumed from a checkpoint."""


@dataclass(frozen=True)
class StoppingCriteria:
    """Criteria that end a run."""

    tol: float
    """Relative gain of a sweep below which the run ends. 0 continues until an optimum is certified."""
    max_iter: int
    """Maximum number of sweeps and repair rounds."""
    deadline: float = math.inf
    """Deadline, as a value of `time.perf_counter()`."""
    callback: Callable[[SweepRecord], bool | None] | None = None
    """Function called after each sweep. The run ends if it returns a true value."""
