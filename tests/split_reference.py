"""The oracle of splits: the paper's Algorithm 2 and Lloyd's iterations in plain NumPy, row by row.

The random numbers are those of the core (SplitMix64), so that both visit rows in the same order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """Return the output function of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def random_at(seed: int, n: int) -> int:
    """Return the n-th number of the stream with this seed."""
    return mix((seed + (n + 1) * GOLDEN) & MASK)


class Random:
    """Generator of the stream with a given seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.n = 0

    def bits(self) -> int:
        """Return the next 64 random bits."""
        self.n += 1
        return random_at(self.seed, self.n - 1)

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53


def seed_of_set(seed: int, begin: int, end: int) -> int:
    """Return the seed of the split of members[begin:end]."""
    return random_at(random_at(seed, begin), end)


def visit_order(seed: int, number: int, count: int) -> list[int]:
    """Return the order in which pass `number` of a split visits `count` rows."""
    seed_of_pass = random_at(mix(seed), number)
    return sorted(range(count), key=lambda i: (random_at(seed_of_pass, i), i))


def start(X: Floats, w: Floats, n_sections: int, init: str, random: Random) -> Ints:
    """Return the first sections of a split."""
    n = len(X)
    if init == "random-partition":
        sections = np.arange(n) % n_sections
        for i in range(n - 1, 0, -1):
            j = random.bits() % (i + 1)
            sections[i], sections[j] = sections[j], sections[i]
        return sections
    sections = np.zeros(n, dtype=np.int64)
    closest = np.full(n, np.inf)
    drawn: list[int] = []
    for s in range(n_sections):
        row = draw(closest, w, drawn, init, random)
        squared = ((X - X[row]) ** 2).sum(axis=1)
        nearer = (squared < closest) & ~np.isin(np.arange(n), drawn)
        nearer[row] = True
        sections[nearer] = s
        closest = np.where(nearer, squared, closest)
        drawn.append(row)
    return sections


def draw(closest: Floats, w: Floats, drawn: list[int], init: str, random: Random) -> int:
    """Draw a row that was not drawn before, uniformly or as k-means++ does."""
    if init == "k-means++":
        potential = w * (closest if drawn else 1.0)
        potential[drawn] = 0.0
        if potential.sum() > 0:
            left = random.uniform() * potential.sum()
            return int(np.flatnonzero(np.cumsum(potential) > left)[0])
    while (row := random.bits() % len(w)) in drawn:
        pass
    return row


@dataclass
class Sections:
    """Result of a split."""

    sections: Ints
    n_passes: int


def boost_split(
    X: Floats, w: Floats | None, n_sections: int, init: str, seed: int, max_passes: int | None = None
) -> Sections:
    """Split rows by boost k-means: one row at a time, in random order, until a pass moves nothing."""
    w = np.ones(len(X)) if w is None else w
    sections = start(X, w, n_sections, init, Random(seed))
    D = np.array([w[sections == s] @ X[sections == s] for s in range(n_sections)])
    W = np.bincount(sections, weights=w, minlength=n_sections)
    counts = np.bincount(sections, minlength=n_sections)
    n_passes = 0
    while max_passes is None or n_passes < max_passes:
        moves = 0
        for i in visit_order(seed, n_passes, len(X)):
            u = sections[i]
            if counts[u] == 1:
                continue
            distances = ((X[i] - D / W[:, None]) ** 2).sum(axis=1)
            leave = W[u] / (W[u] - w[i]) * distances[u]
            enter = W / (W + w[i]) * distances
            enter[u] = np.inf
            v = int(enter.argmin())
            if not leave - enter[v] > 1e-12 * (leave + enter[v]):
                continue
            D[u] -= w[i] * X[i]
            D[v] += w[i] * X[i]
            W[u] -= w[i]
            W[v] += w[i]
            counts[u] -= 1
            counts[v] += 1
            sections[i] = v
            moves += 1
        n_passes += 1
        if moves == 0:
            break
    return Sections(sections, n_passes)


def lloyd_split(
    X: Floats, w: Floats | None, n_sections: int, init: str, seed: int, max_passes: int | None = None
) -> Sections:
    """Split rows by Lloyd's iterations until no row changes its section."""
    w = np.ones(len(X)) if w is None else w
    sections = start(X, w, n_sections, init, Random(seed))
    n_passes = 0
    while max_passes is None or n_passes < max_passes:
        distances = ((X[:, None, :] - _centres(X, w, sections, n_sections)[None]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        at = np.arange(len(X))
        own = distances[at, sections]
        moved = np.where(distances[at, nearest] < own * (1 - 1e-12), nearest, sections)
        n_passes += 1
        if (moved == sections).all():
            break
        sections = moved
        for s in np.setdiff1d(np.arange(n_sections), sections):
            # The row that is farthest from its centre, but not the only one of its section, moves.
            gaps = ((X - _centres(X, w, sections, n_sections)[sections]) ** 2).sum(axis=1)
            crowded = np.bincount(sections, minlength=n_sections)[sections] > 1
            sections[int(np.where(crowded, gaps, -1.0).argmax())] = s
    return Sections(sections, n_passes)


def _centres(X: Floats, w: Floats, sections: Ints, n_sections: int) -> Floats:
    D, W = np.zeros((n_sections, X.shape[1])), np.bincount(sections, weights=w, minlength=n_sections)
    np.add.at(D, sections, w[:, None] * X)
    return np.asarray(D / np.where(W > 0, W, 1.0)[:, None])


def split_members(found: Any, members: Ints, begin: int, n_sections: int) -> Ints:
    """Return the section of each member after a call of `_core.split` for a single set."""
    ends = found[:n_sections]
    sections = np.searchsorted(ends, np.arange(begin, ends[-1]), side="right")
    return np.asarray(sections)
