"""What "auto" stands for: the start, the candidates, repair and annealing for a quality."""

from dataclasses import dataclass, field, replace

import numpy as np

from boostkmeans._engine.annealing import Annealing
from boostkmeans._steps.candidates import candidates_for
from boostkmeans._steps.seeding import automatic_start
from boostkmeans._storage.state import SavedState, State

QUALITIES = ("fast", "balanced", "best")

# How long each is, by quality. See "Annealing" in docs/benchmarks.md.
TEMPERATURE = 0.12
ANNEALED_SWEEPS = {"fast": 0, "balanced": 10, "best": 90}
# Twice as long for so many clusters, where a row costs that much (clusters times features): there is
# something to gain there, and Lloyd's k-means takes several times as long. Fewer have attempts instead.
LONGER_FROM_CLUSTERS, LONGER_BELOW_CLUSTERS, LONGER_FROM_COST = 65, 512, 4096
REPAIR_ROUNDS = {"fast": 3, "balanced": 10, "best": 30}
# Swaps that are tried one by one, up to so many clusters: among more, one of them is worth little.
ATTEMPTS = {"fast": 0, "balanced": 2, "best": 64}
MOST_CLUSTERS_TO_TRY = LONGER_FROM_CLUSTERS - 1
# Annealed sweeps if the user names a temperature where quality stands for none; at most that share of
# `max_iter`, as it takes some more to settle; and none by itself where `max_iter` is below that.
SWEEPS_IF_ASKED, LARGEST_SHARE, FEWEST_SWEEPS = 10, 0.9, 20
# Rounds of repair=True: until nothing is left to gain.
ALL_ROUNDS = 100


@dataclass(frozen=True)
class Wishes:
    """What the user asked for."""

    init: object
    repair: bool | int | str
    annealing: float | tuple[float, int] | str
    n_candidates: int | str | None
    quality: str
    moves: str
    max_iter: int


@dataclass
class Plan:
    """What is going to be done, and the reasons."""

    init: object
    """The name of a start, or what the user gave."""
    repair_rounds: int
    attempts: int
    """Swaps that are tried once nothing gains at once."""
    annealing: Annealing | None
    n_candidates: int | None
    then_all: bool
    reasons: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "; ".join(self.reasons)

    def after_sample(self, n_rows: int, n_sweeps: int, *, in_parts: bool) -> "Plan":
        """For all rows: annealing and repair were for the sample."""
        then = "then all rows, in parts" if in_parts else "then all rows"
        reasons = [f"a sample of {n_rows} rows ({n_sweeps} sweeps): {self}", then]
        return replace(self.without_repair(), reasons=reasons)

    def without_repair(self) -> "Plan":
        """For rows that are read in parts: neither that nor annealing."""
        return replace(self, repair_rounds=0, attempts=0, annealing=None)

    def state(self) -> State:
        """What matters once a run has begun."""
        annealing = self.annealing
        return {
            "repair_rounds": self.repair_rounds,
            "attempts": self.attempts,
            "annealing": None if annealing is None else vars(annealing),
        }

    @classmethod
    def restored(cls, saved: SavedState) -> "Plan":
        """What `state` gave."""
        annealing = saved.optional_child("annealing")
        return cls(
            init=None,
            repair_rounds=saved.integer("repair_rounds"),
            attempts=saved.integer("attempts"),
            annealing=None
            if annealing is None
            else Annealing(
                annealing.non_negative("temperature"),
                annealing.integer("n_sweeps"),
                annealing.boolean("adapts"),
            ),
            n_candidates=None,
            then_all=False,
        )


def plan_for(wishes: Wishes, n_rows: int, n_features: int, n_clusters: int) -> Plan:
    """Settles everything that is left open."""
    given = not isinstance(wishes.init, str)
    reasons: list[str] = []
    rounds = _repair_rounds(wishes, given, n_clusters, reasons)
    init = wishes.init
    if isinstance(init, str) and init == "auto":
        init, why = automatic_start(n_rows, n_clusters, repaired=rounds > 0)
        reasons.append(f"start: {init} ({why})")
    annealing = _annealing(wishes, given, n_features, n_clusters, reasons)
    number, then_all = candidates_for(wishes.n_candidates, n_clusters, n_rows)
    if wishes.n_candidates == "auto" and number is not None:
        reasons.append(f"candidates: {number} (of {n_clusters} clusters)")
    attempts = ATTEMPTS[wishes.quality] if n_clusters <= MOST_CLUSTERS_TO_TRY else 0
    return Plan(init, rounds, attempts, annealing, number, then_all, reasons)


def _repair_rounds(wishes: Wishes, given: bool, n_clusters: int, reasons: list[str]) -> int:
    repair = wishes.repair
    if n_clusters < 3:  # there are no two to merge beside one to split
        return 0
    if isinstance(repair, bool | np.bool_):
        return ALL_ROUNDS if repair else 0
    if not isinstance(repair, str):
        return int(repair)
    if given:
        reasons.append("no repair (clusters of a given start keep their numbers)")
        return 0
    rounds = REPAIR_ROUNDS[wishes.quality]
    reasons.append(f"repair: up to {rounds} rounds (quality={wishes.quality!r})")
    return rounds


def _annealed_sweeps(quality: str, n_features: int, n_clusters: int) -> int:
    length = ANNEALED_SWEEPS[quality]
    some = LONGER_FROM_CLUSTERS <= n_clusters < LONGER_BELOW_CLUSTERS
    costly = n_features * n_clusters >= LONGER_FROM_COST
    return 2 * length if quality == "balanced" and some and costly else length


def _annealing(
    wishes: Wishes, given: bool, n_features: int, n_clusters: int, reasons: list[str]
) -> Annealing | None:
    asked = wishes.annealing
    most = max(1, int(LARGEST_SHARE * wishes.max_iter))
    length = min(_annealed_sweeps(wishes.quality, n_features, n_clusters), most)
    if n_clusters < 2:
        return None
    if isinstance(asked, tuple):
        return Annealing(float(asked[0]), int(asked[1])) if asked[0] > 0 else None
    if not isinstance(asked, str):
        length = length or min(SWEEPS_IF_ASKED, most)
        return Annealing(float(asked), length) if asked > 0 else None
    if given:
        reasons.append("no annealing (a given start is not to be left)")
        return None
    if wishes.moves == "first":
        reasons.append("no annealing (moves='first' would wander)")
        return None
    if length == 0:
        reasons.append(f"no annealing (quality={wishes.quality!r})")
        return None
    if wishes.max_iter < FEWEST_SWEEPS:
        reasons.append(f"no annealing (max_iter={wishes.max_iter} is too few sweeps)")
        return None
    reasons.append(f"annealing: at most {TEMPERATURE} over {length} sweeps (quality={wishes.quality!r})")
    return Annealing(TEMPERATURE, length, adapts=True)
