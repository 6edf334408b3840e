"""Names of clusters and of inner nodes of a tree, from their weighted phrases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from boostkmeans.documents._names.choice import Floats, Ints, Weighted, choose
from boostkmeans.documents._names.weights import Background, weigh

# Numbers of phrases of a name. A phrase after the second one must have this share of the first weight.
MIN_PHRASES, MAX_PHRASES = 2, 3
MIN_RELATIVE_WEIGHT = 0.25
# Names end before a phrase that would make them longer.
MAX_LENGTH = 48
# Factor for the weight of a phrase that the name of a neighbour already contains.
USED_BY_NEIGHBOUR = 0.4
# Number of phrases from which a name is chosen if the best ones make a name that is already taken.
N_ALTERNATIVES = 6


@dataclass
class NameMaker:
    """Maker of names. No two names are equal, and siblings share no phrase if they have others."""

    background: Background
    keys: Sequence[str]
    spelling: Callable[[int, int], str]
    """Function of a row and a phrase that returns the usual spelling."""
    taken: set[str] = field(default_factory=set)
    used: dict[int, set[str]] = field(default_factory=dict)
    """Keys of the phrases in the name of each row."""

    def descriptive(self, row: int, limit: int) -> list[Weighted]:
        """Return the phrases that are more frequent in the cluster than in all texts."""
        phrases, shares = self.background.row(row)
        weights = _or_shares(weigh(shares, self.background.overall(phrases)), shares)
        return choose(phrases, shares, weights, self.keys.__getitem__, limit)

    def distinct(self, row: int, others: Sequence[int], limit: int) -> list[Weighted]:
        """Return the phrases that are more frequent in the cluster than in some other clusters."""
        phrases, shares = self.background.row(row)
        weights = weigh(shares, self.background.mean(phrases, others))
        return choose(phrases, shares, weights, self.keys.__getitem__, limit)

    def name(self, row: int, neighbours: Sequence[int], siblings: Sequence[int] = ()) -> str | None:
        """Return a name that is not taken yet, or None if the cluster has no phrases."""
        phrases, shares = self.background.row(row)
        weights = self._weights(phrases, shares, [*neighbours, *siblings])
        near = set().union(*(self.used.get(other, set()) for other in neighbours))
        factors = [
            USED_BY_NEIGHBOUR if self.keys[phrase] in near else 1.0 for phrase in phrases.tolist()
        ]
        avoid = set().union(*(self.used.get(other, set()) for other in siblings))
        key = self.keys.__getitem__
        found = choose(phrases, shares, weights * factors, key, N_ALTERNATIVES, avoid)
        if not found:
            found = choose(phrases, shares, weights, key, N_ALTERNATIVES)
        if not found:
            return None
        name, chosen = self._free_name(row, found)
        self.taken.add(name.casefold())
        self.used[row] = {self.keys[one.phrase] for one in chosen}
        return name

    def _weights(self, phrases: Ints, shares: Floats, others: Sequence[int]) -> Floats:
        overall = weigh(shares, self.background.overall(phrases))
        near = weigh(shares, self.background.mean(phrases, others)) if len(others) else overall
        # A good name both describes a cluster and tells it from its neighbours.
        both = np.sqrt(overall * near)
        return next((one for one in (both, overall, near) if one.any()), shares)

    def _free_name(self, row: int, found: list[Weighted]) -> tuple[str, list[Weighted]]:
        least = MIN_RELATIVE_WEIGHT * found[0].weight
        good = [one for i, one in enumerate(found) if i < MIN_PHRASES or one.weight >= least]
        first = good[:MAX_PHRASES]
        name = self._join(row, first)
        if name.casefold() not in self.taken:
            return name, first
        for n in (MAX_PHRASES, MIN_PHRASES, 1):
            for some in combinations(found, n):
                name = self._join(row, some)
                if name.casefold() not in self.taken:
                    return name, list(some)
        return number_name(self._join(row, first), self.taken), first

    def _join(self, row: int, some: Sequence[Weighted]) -> str:
        name = self.spelling(row, some[0].phrase)
        for one in some[1:]:
            longer = f"{name}, {self.spelling(row, one.phrase)}"
            if len(longer) <= MAX_LENGTH:
                name = longer
        return name


def number_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken, and take it."""
    free, number = name, 2
    while free.casefold() in taken:
        free, number = f"{name} ({number})", number + 1
    taken.add(free.casefold())
    return free


def _or_shares(weights: Floats, shares: Floats) -> Floats:
    """Return the weights, or the shares if no phrase has a weight."""
    return weights if weights.any() else shares
