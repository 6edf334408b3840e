"""Plan: the resolution of "auto" for start, sample, candidates, repair and annealing, with reasons."""

import logging
import math
from dataclasses import dataclass, field, replace

import numpy as np

from boostkmeans._engine.few_clusters import has_few_clusters
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.seeding import MIN_SAMPLE, SAMPLED, seeding_sample
from boostkmeans._storage.state import SavedState, State

logger = logging.getLogger("boostkmeans")

QUALITIES = ("fast", "balanced", "best")

# Highest annealing temperature. See "Annealing" in docs/benchmarks.md.
TEMPERATURE = 0.12
# The temperature is at most this factor times the square of the explained share of the inertia. The
# factor was tuned on 20 newsgroups with 20 and 200 clusters. If a quarter is explained, the temperature
# is not reduced.
TEMPERATURE_PER_EXPLAINED_SQUARE = 2.0
# Number of annealed sweeps, by quality.
ANNEALED_SWEEPS = {"fast": 0, "balanced": 10, "best": 90}
# Lower end of the range of n_clusters in which "balanced" makes twice as many annealed sweeps. There,
# annealing gains more than trial swaps.
LONGER_FROM_CLUSTERS = 65
# Upper end of this range (exclusive).
LONGER_BELOW_CLUSTERS = 512
# Minimum product of clusters and features for the longer annealing. From there on, Lloyd's k-means takes
# several times as long.
LONGER_FROM_COST = 4096
# Number of annealed sweeps if the user sets a temperature and `quality` implies no annealing.
SWEEPS_IF_REQUESTED = 10
# Maximum share of `max_iter` for annealing. The fit needs the other sweeps to converge.
MAX_ANNEALED_SHARE = 0.9
# "auto" does not anneal if `max_iter` is below this.
MIN_SWEEPS_TO_ANNEAL = 20

# Maximum number of sweeps without annealing between the start and the first repair. They lower the
# inertia soon after the start, long before annealing ends.
EARLY_SWEEPS = 6
# Minimum number of clusters for early sweeps. Fits with fewer clusters lower the inertia soon anyway.
EARLY_FROM_CLUSTERS = 512
# Minimum number of features for early sweeps. With 2 features and 5,000 clusters, they raise the final
# inertia by 0.2 %.
EARLY_FROM_FEATURES = 16
# The early sweeps end after a sweep that gains less than this share of the inertia.
MIN_EARLY_GAIN = 1 / 500

# Maximum number of repair rounds, by quality.
REPAIR_ROUNDS = {"fast": 3, "balanced": 10, "best": 30}
# repair=True repeats until nothing improves. This bound is never reached in practice.
UNLIMITED_ROUNDS = 100
# Number of trial swaps, by quality.
TRIAL_SWAPS = {"fast": 0, "balanced": 2, "best": 64}
# Maximum number of clusters for trial swaps. Among more clusters, a single swap gains little.
MAX_CLUSTERS_FOR_TRIALS = LONGER_FROM_CLUSTERS - 1

# Number of candidates that "auto" uses.
AUTO_CANDIDATES = 128
# Minimum number of clusters for which "auto" uses candidates.
AUTO_FROM_CLUSTERS = 512
# Maximum number of clusters for which "auto" finishes with sweeps over all clusters.
AUTO_ALL_UP_TO = 2048

# "auto" starts from "sampled-k-means++" up to this number of clusters, where it is fastest.
MAX_CLUSTERS_FOR_SEEDS = 16
# The same limit without repair. The cost of seeding grows with k squared, whereas that of a tree hardly
# depends on k: see 'What "auto" stands for' in docs/benchmarks.md.
MAX_CLUSTERS_WITHOUT_REPAIR = 1024
# Maximum share of the rows that seeding may sample. Seeding costs about 24 sweeps over its sample, so
# with a larger sample another start is faster.
MAX_SEEDING_SHARE = 1 / 4

# Size of the sample with which a fit starts, by quality: the number of rows per cluster, and the maximum
# share of all rows.
SAMPLE_SIZES = {"fast": (64, 1 / 4), "balanced": (1024, 1 / 8)}
# The maximum share if there are few clusters. With a sample of 1,024 rows per cluster, MNIST with 10
# clusters takes half of the time: see "Few clusters" in docs/benchmarks.md.
MAX_SAMPLE_SHARE_FOR_FEW_CLUSTERS = 1 / 6


@dataclass(frozen=True)
class RequestedSettings:
    """The parameters of the estimator that a plan resolves."""

    init: object
    repair: bool | int | str
    annealing: float | tuple[float, int] | str
    n_candidates: int | str | None
    quality: str
    moves: str
    max_iter: int
    dimensions: int | str | None = "auto"
    memory_left: float = math.inf
    """Bytes within the user's `max_memory` that are left for the projection of all rows."""


@dataclass(frozen=True)
class Annealing:
    """Annealing temperatures, which fall linearly to 0. See "Annealing" in docs/benchmarks.md."""

    temperature: float
    n_sweeps: int
    adapts: bool = False
    """True if the temperature is reduced when clusters explain little of the inertia."""

    def final_part(self) -> "Annealing":
        """Return the last sweeps, with their lower temperatures: two of five."""
        n_sweeps = max(1, 2 * self.n_sweeps // 5)
        return replace(self, temperature=self.temperature * n_sweeps / self.n_sweeps, n_sweeps=n_sweeps)

    def at(self, sweep: int, explained: float = 1.0) -> float:
        """Return the temperature of a sweep, counted from 0.

        `explained` is the share of the total inertia that the clusters explain. If it is small, as for
        documents, rows are about equally far from all centres. The full temperature would then move
        nearly all rows and destroy the partition.
        """
        highest = self.temperature
        if self.adapts:
            highest = min(highest, TEMPERATURE_PER_EXPLAINED_SQUARE * explained**2)
        return highest * (1 - sweep / self.n_sweeps)


@dataclass(frozen=True)
class Plan:
    """Settings of a run, and the reasons for automatic choices."""

    init: object = None
    """Name of the start, or the user's array; None in a restored run."""
    moves: str = "best"
    repair_rounds: int = 0
    trial_swaps: int = 0
    """Number of trial swaps: swaps that only improve the partition after further sweeps."""
    early_sweeps: int = 0
    """Maximum number of sweeps without annealing before the first repair."""
    annealing: Annealing | None = None
    n_candidates: int | None = None
    """Number of clusters that a row is compared with; None for all."""
    finish_with_full_sweeps: bool = False
    """True if sweeps over all clusters follow the sweeps over candidates."""
    probes: bool = False
    """True if some rows are compared with all clusters, to see whether candidates miss much."""
    dimensions: int | None = None
    """Number of components of the fit that preceded this run, whose bounds it uses; None for no such
    fit."""
    reasons: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "; ".join(self.reasons)

    def sweeps_only(self) -> "Plan":
        """Return a copy without annealing and repair, which need all rows in memory."""
        return replace(self, repair_rounds=0, trial_swaps=0, early_sweeps=0, annealing=None)

    def for_all_rows(
        self,
        n_sampled: int,
        n_sweeps: int,
        dimensions: int | None = None,
        *,
        in_memory: bool,
        repair: bool = False,
    ) -> "Plan":
        """Return the plan for all rows after a fit of a sample, which was annealed and repaired.

        `dimensions` is the number of components in which the fit of the sample began. With `repair`, all
        rows are repaired as well.
        """
        then = "then all rows" if in_memory else "then all rows, in blocks"
        first = "" if dimensions is None else f", first in {dimensions} dimensions"
        reasons = [f"sample of {n_sampled} rows{first} ({n_sweeps} sweeps): {self}", then]
        if repair:
            return replace(self, annealing=None, reasons=reasons)
        return replace(self.sweeps_only(), reasons=reasons)

    def for_all_dimensions(self, dimensions: int) -> "Plan":
        """Return the plan for all dimensions after a fit in the leading components.

        That fit was annealed. The last part of the annealing is repeated, because rows near the border
        of two clusters depend on the other dimensions. Repair is repeated for the same reason.
        """
        reasons = ["then all dimensions"]
        annealing = None if self.annealing is None else self.annealing.final_part()
        if annealing is not None:
            reasons.append(
                f"annealing: at most {annealing.temperature:g} over {annealing.n_sweeps} sweeps"
            )
        return replace(
            self,
            trial_swaps=0,
            early_sweeps=0,
            annealing=annealing,
            dimensions=dimensions,
            reasons=reasons,
        )

    def in_few_dimensions(self) -> "Plan":
        """Return the plan for a fit in the leading components. Full sweeps in all dimensions follow."""
        if self.n_candidates is None:
            return self
        return replace(self, finish_with_full_sweeps=False, probes=False)

    def state(self) -> State:
        """Return the plan as plain values for a checkpoint."""
        return {
            "moves": self.moves,
            "repair_rounds": self.repair_rounds,
            "attempts": self.trial_swaps,
            "early_sweeps": self.early_sweeps,
            "annealing": None if self.annealing is None else vars(self.annealing),
            "n_candidates": self.n_candidates,
            "then_all": self.finish_with_full_sweeps,
            "looks_around": self.probes,
            "dimensions": self.dimensions,
        }

    @classmethod
    def restore(cls, saved: SavedState | None, candidates: SavedState | None, moves: str) -> "Plan":
        """Restore the plan from the result of `state`.

        Version 0.7 stored the fields about candidates in the state of the candidates, and no plan for
        runs that had none.
        """
        if saved is None:
            return cls(moves=moves)
        source = saved if "then_all" in saved.values else candidates
        n_candidates, finish, probes = None, False, False
        if source is not None:
            if source.values.get("n_candidates") is not None:
                n_candidates = source.integer("n_candidates")
            finish = source.boolean("then_all")
            probes = "looks_around" in source.values and source.boolean("looks_around")
        annealing = saved.optional_child("annealing")
        return cls(
            moves=moves,
            repair_rounds=saved.integer("repair_rounds"),
            trial_swaps=saved.integer("attempts"),
            # Versions before 0.9 made no early sweeps.
            early_sweeps=saved.integer("early_sweeps") if "early_sweeps" in saved.values else 0,
            annealing=None
            if annealing is None
            else Annealing(
                annealing.non_negative("temperature"),
                annealing.integer("n_sweeps"),
                annealing.boolean("adapts"),
            ),
            n_candidates=n_candidates,
            finish_with_full_sweeps=finish,
            probes=probes,
            dimensions=None
            if saved.values.get("dimensions") is None
            else saved.integer("dimensions", 1),
        )


def make_plan(requested: RequestedSettings, problem: Problem, *, log: bool = True) -> Plan:
    """Resolve all settings that are "auto". Streamed rows allow neither annealing nor repair."""
    rows, k = problem.rows, problem.n_clusters
    reasons: list[str] = []
    rounds = _repair_rounds(requested, k, reasons)
    init = requested.init
    if isinstance(init, str) and init == "auto":
        init, reason = _start(rows.n_rows, k, repaired=rounds > 0)
        reasons.append(f"start: {init} ({reason})")
    annealing = _annealing(requested, rows.n_features, k, reasons)
    automatic = isinstance(requested.n_candidates, str)
    n_candidates, finish = _candidates(requested.n_candidates, k)
    if automatic and n_candidates is not None:
        reasons.append(f"candidates: {n_candidates} (of {k} clusters)")
    # An explicit number or moves="first" means plain top-k0. A partial pass over streamed rows costs as
    # much as a full one. The cost model does not cover sparse rows.
    probes = automatic and requested.moves == "best" and rows.in_memory and not rows.stays_sparse
    trials = TRIAL_SWAPS[requested.quality] if k <= MAX_CLUSTERS_FOR_TRIALS else 0
    plan = Plan(
        init, requested.moves, rounds, trials, _early_sweeps(requested, problem, rounds, annealing),
        annealing, n_candidates, finish, probes, reasons=reasons,
    )  # fmt: skip
    if reasons and log:
        logger.info("%s", plan)
    return plan if rows.in_memory else plan.sweeps_only()


def sample_size(requested: RequestedSettings, problem: Problem) -> int | None:
    """Return the size of the sample with which the fit starts; None to start with all rows."""
    if problem.rows.max_sample is not None:  # The rows do not fit into memory.
        return problem.rows.max_sample if isinstance(requested.init, str) else None
    asked = (requested.init, requested.repair, requested.annealing)
    if not all(isinstance(x, str) and x == "auto" for x in asked):
        return None  # The user decided how the fit starts.
    if problem.limits is not None or requested.quality not in SAMPLE_SIZES:
        return None
    per_cluster, max_share = SAMPLE_SIZES[requested.quality]
    if has_few_clusters(problem):
        max_share = max(max_share, MAX_SAMPLE_SHARE_FOR_FEW_CLUSTERS)
    size = per_cluster * problem.n_clusters
    return size if size <= max_share * problem.weights.n_positive else None


def is_large_sample(n_drawn: int, problem: Problem) -> bool:
    """Return True if a sample of few clusters is so large that a repair of all rows takes little time.

    It is then also necessary: the sample may end in a worse optimum than all rows.
    """
    max_share = SAMPLE_SIZES["balanced"][1]
    return has_few_clusters(problem) and n_drawn > max_share * problem.weights.n_positive


def _start(n_rows: int, n_clusters: int, *, repaired: bool) -> tuple[str, str]:
    """Return the start that "auto" stands for, and the reason."""
    if n_clusters <= MAX_CLUSTERS_FOR_SEEDS:
        return SAMPLED, "the fastest for few clusters"
    if repaired:
        return "bisecting", "the fastest; repair corrects its errors"
    if n_clusters > MAX_CLUSTERS_WITHOUT_REPAIR:
        return "bisecting", f"more than {MAX_CLUSTERS_WITHOUT_REPAIR} clusters"
    large = n_rows * MAX_SEEDING_SHARE > MIN_SAMPLE
    if large and seeding_sample(n_rows, n_clusters) > n_rows * MAX_SEEDING_SHARE:
        return "bisecting", "k-means++ would take longer than the sweeps"
    return SAMPLED, "without repair, a tree might end much higher"


def _candidates(requested: int | str | None, n_clusters: int) -> tuple[int | None, bool]:
    """Return the number of candidates (None for all), and True if sweeps over all clusters follow."""
    if requested == "auto":
        if n_clusters < AUTO_FROM_CLUSTERS:
            return None, True
        return AUTO_CANDIDATES, n_clusters <= AUTO_ALL_UP_TO
    if requested is None or n_clusters < 3:
        return None, True
    return min(int(requested), n_clusters - 1), False


def _repair_rounds(requested: RequestedSettings, n_clusters: int, reasons: list[str]) -> int:
    """Return the maximum number of repair rounds."""
    repair = requested.repair
    if n_clusters < 3:  # A swap needs two clusters to merge and a third one to split.
        return 0
    if isinstance(repair, bool | np.bool_):
        return UNLIMITED_ROUNDS if repair else 0
    if not isinstance(repair, str):
        return int(repair)
    if not isinstance(requested.init, str):
        reasons.append("no repair (clusters of a given start keep their numbers)")
        return 0
    rounds = REPAIR_ROUNDS[requested.quality]
    reasons.append(f"repair: up to {rounds} rounds (quality={requested.quality!r})")
    return rounds


def _early_sweeps(
    requested: RequestedSettings, problem: Problem, rounds: int, annealing: Annealing | None
) -> int:
    """Return the maximum number of sweeps without annealing before the first repair.

    With fewer clusters or few features, and for sparse rows, annealing starts at once.
    """
    automatic = isinstance(requested.annealing, str) and isinstance(requested.init, str)
    if annealing is None or rounds == 0 or not automatic or problem.limits is not None:
        return 0
    rows = problem.rows
    many = problem.n_clusters >= EARLY_FROM_CLUSTERS and rows.n_features >= EARLY_FROM_FEATURES
    return EARLY_SWEEPS if many and not rows.stays_sparse else 0


def _annealing(
    requested: RequestedSettings, n_features: int, n_clusters: int, reasons: list[str]
) -> Annealing | None:
    """Return the temperatures of the first sweeps, or None."""
    quality, asked = requested.quality, requested.annealing
    longest = max(1, int(MAX_ANNEALED_SHARE * requested.max_iter))
    n_sweeps = ANNEALED_SWEEPS[quality]
    longer = LONGER_FROM_CLUSTERS <= n_clusters < LONGER_BELOW_CLUSTERS
    if quality == "balanced" and longer and n_features * n_clusters >= LONGER_FROM_COST:
        n_sweeps *= 2
    n_sweeps = min(n_sweeps, longest)
    if n_clusters < 2:
        return None
    if isinstance(asked, tuple):
        return Annealing(float(asked[0]), int(asked[1])) if asked[0] > 0 else None
    if not isinstance(asked, str):
        n_sweeps = n_sweeps or min(SWEEPS_IF_REQUESTED, longest)
        return Annealing(float(asked), n_sweeps) if asked > 0 else None
    reason = None
    if not isinstance(requested.init, str):
        reason = "it would leave a given start"
    elif requested.moves == "first":
        reason = "moves='first' would wander"
    elif n_sweeps == 0:
        reason = f"quality={quality!r}"
    elif requested.max_iter < MIN_SWEEPS_TO_ANNEAL:
        reason = f"max_iter={requested.max_iter} allows too few sweeps"
    if reason is not None:
        reasons.append(f"no annealing ({reason})")
        return None
    reasons.append(f"annealing: at most {TEMPERATURE} over {n_sweeps} sweeps (quality={quality!r})")
    return Annealing(TEMPERATURE, n_sweeps, adapts=True)
