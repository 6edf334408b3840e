"""Stopping: the criteria that end a run, and the outcome of a run."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from boostkmeans._engine.history import SweepRecord


class StopReason(StrEnum):
    """Why a run ended, as users find it in `stop_reason_`."""

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
    """False if the clock, a callback or Ctrl-C ended the run. A checkpoint resumes such a run."""


@dataclass(frozen=True)
class StoppingCriteria:
    """When a run ends."""

    tol: float
    """Relative gain of a sweep below which the run ends; 0 to continue until certified."""
    max_iter: int
    """Maximum number of sweeps and repair rounds."""
    deadline: float = math.inf
    """Time to stop, on the clock of `time.perf_counter`."""
    callback: Callable[[SweepRecord], bool | None] | None = None
    """Called after each sweep. A true value ends the run."""
