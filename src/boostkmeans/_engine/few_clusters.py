"""Few clusters with many rows: row bounds, and fits that converge slowly.

With thousands of rows per cluster, borders between clusters move slowly, and each sweep gains little
for a long time. A fit of 1,000,000 normal rows with 16 clusters needs hundreds of sweeps, of which each
gains about one part in 100,000. See "Few clusters" in docs/benchmarks.md.
"""

from dataclasses import dataclass, field

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._steps.problem import Problem
from boostkmeans._storage.state import SavedState, State

# Maximum number of clusters for the rules of this module. With more clusters, repair and annealing gain
# more than longer convergence.
MAX_CLUSTERS = 64
# Minimum number of rows. Smaller fits take milliseconds, and their sweeps do not gain steadily.
MIN_ROWS = 50_000
# Minimum number of rows per cluster. It is above the size of the samples with which fits start (1,024
# rows per cluster), whose exact optimum is of no use.
MIN_ROWS_PER_CLUSTER = 2048

# Estimated remaining improvement, as a share of `tol`, at which a run ends. The estimate is too low at
# first, because the slowest changes dominate only later: the ratio of two gains rises from 0.4 to 0.9
# (normal 1,000,000 x 16) or from 0.1 to 0.5 (MNIST, 10 clusters).
WORTHWHILE = 1 / 10
# Number of consecutive sweeps after which the estimate must be low.
PATIENCE = 2
# Number of sweeps after an extrapolation that are not counted among them: their gains fall quickly at
# first.
DISTURBED_SWEEPS = 2
# Ratio of two gains that is assumed if the gains do not fall. The estimate is then 19 times the last
# gain.
MAX_RATIO = 0.95

# Centres are extrapolated if the ratio of two gains is above this. Otherwise sweeps converge quickly.
SLOW_RATIO = 3 / 4
# They are extrapolated only if the estimated remaining improvement is at least this share of `tol`. An
# extrapolation takes as long as several sweeps with row bounds.
WORTH_EXTRAPOLATING = 1 / 2
# Number of sweeps between two extrapolations. Gains of sweeps after an extrapolation are irregular.
SWEEPS_BETWEEN = 4
# After each failure, this number doubles up to a maximum.
MAX_SWEEPS_BETWEEN = 32
# Number of sweeps whose movement is extrapolated.
LAG = 2
# The first extrapolation continues the movement of LAG sweeps by this factor. The factor doubles after
# each success and is halved after each failure.
FIRST_FACTOR = 2.0


def has_few_clusters(problem: Problem) -> bool:
    """Return True if the rules of this module apply to a problem."""
    n, k = problem.rows.n_rows, problem.n_clusters
    few = 2 <= k <= MAX_CLUSTERS and n >= max(MIN_ROWS, MIN_ROWS_PER_CLUSTER * k)
    plain = problem.limits is None and problem.n_pinned == 0
    return few and plain and problem.rows.in_memory and not problem.rows.stays_sparse


@dataclass
class Convergence:
    """Gains of the last two sweeps of a descent, and the estimate of the remaining improvement."""

    last: float = 0.0
    """Gain of the last sweep; 0 if there was none."""
    before: float = 0.0
    """Gain of the sweep before."""
    n_low: int = 0
    """Number of consecutive sweeps after which the estimate was low; negative after an extrapolation."""

    def add(self, gain: float, worthwhile: float) -> None:
        """Account for a sweep. `worthwhile` is the improvement for which the run continues."""
        self.last, self.before = gain, self.last
        low = self.n_low < 0 or self.remaining < worthwhile
        self.n_low = self.n_low + 1 if low else 0

    def disturb(self) -> None:
        """Account for an extrapolation. The gains of the next sweeps do not show the convergence."""
        self.last = self.before = 0.0
        self.n_low = -DISTURBED_SWEEPS

    @property
    def ratio(self) -> float:
        """Ratio of the last two gains, at most MAX_RATIO."""
        return min(self.last / self.before, MAX_RATIO) if self.before > 0 else MAX_RATIO

    @property
    def remaining(self) -> float:
        """Estimated improvement by all further sweeps, the sum of a geometric series."""
        return self.last * self.ratio / (1 - self.ratio)

    def state(self) -> State:
        """Return the gains as plain values for a checkpoint."""
        return {"last": self.last, "before": self.before, "n_low": self.n_low}

    @classmethod
    def restore(cls, saved: SavedState | None) -> "Convergence":
        """Restore the gains from the result of `state`. Version 0.8 stored none."""
        if saved is None:
            return cls()
        return cls(
            saved.number("last"), saved.number("before"), saved.integer("n_low", -DISTURBED_SWEEPS)
        )


@dataclass
class Extrapolation:
    """Recent centres of a slow descent, and the factor by which their movement is extrapolated.

    The factor adapts to the success of earlier extrapolations. Anderson acceleration was tried as well.
    Two of three extrapolations failed, and the others gained little, possibly because the rows of a
    sweep are visited in random order.
    """

    trail: list[Floats] = field(default_factory=list)
    """Centres after each of the last sweeps, at most LAG + 1."""
    n_sweeps: int = 0
    """Number of sweeps since the last extrapolation."""
    interval: int = SWEEPS_BETWEEN
    """Number of sweeps before the next extrapolation."""
    factor: float = FIRST_FACTOR

    def add(self, centres: Floats) -> None:
        """Add the centres after a sweep."""
        self.trail = [*self.trail[-LAG:], centres]
        self.n_sweeps += 1

    @property
    def is_due(self) -> bool:
        """True if enough sweeps were made since the last extrapolation."""
        return self.n_sweeps >= self.interval and len(self.trail) > LAG

    def centres(self) -> Floats:
        """Return the extrapolated centres."""
        return np.ascontiguousarray(self.trail[-1] + self.factor * (self.trail[-1] - self.trail[0]))

    def account(self, *, accepted: bool) -> None:
        """Adapt the factor and the interval. After a success, the trail starts at the new centres."""
        self.n_sweeps = 0
        if accepted:
            self.trail, self.interval = [], SWEEPS_BETWEEN
            self.factor *= 2
        else:
            self.interval = min(2 * self.interval, MAX_SWEEPS_BETWEEN)
            self.factor /= 2

    def state(self) -> State:
        """Return the extrapolation as plain values for a checkpoint."""
        trail = np.stack(self.trail) if self.trail else None
        return {
            "trail": trail,
            "n_sweeps": self.n_sweeps,
            "interval": self.interval,
            "factor": self.factor,
        }

    @classmethod
    def restore(cls, saved: SavedState | None, n_clusters: int, n_features: int) -> "Extrapolation":
        """Restore the extrapolation from the result of `state`. Version 0.8 stored none."""
        if saved is None:
            return cls()
        trail: list[Floats] = []
        if saved.values.get("trail") is not None:
            trail = list(saved.array("trail", np.float64, (None, n_clusters, n_features)))
        return cls(
            trail[-LAG - 1 :],
            saved.integer("n_sweeps"),
            saved.integer("interval", SWEEPS_BETWEEN, MAX_SWEEPS_BETWEEN),
            saved.non_negative("factor"),
        )
