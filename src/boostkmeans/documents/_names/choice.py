"""Choice of the phrases that describe a cluster: complete, and without a repeated word."""

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A word is replaced by a longer phrase that occurs in more than this share of the texts with the word.
MIN_COVERAGE = 0.5
# Two words with a common beginning of this length, and of this share of the longer word, are related:
# "China" and "Chinese", "economy" and "economic".
MIN_STEM = 4
STEM_SHARE = 0.55
# Number of phrases that are considered as replacements.
MAX_CONSIDERED = 400


class Weighted(NamedTuple):
    """A phrase and its weight."""

    phrase: int
    weight: float


def choose(
    phrases: Ints,
    shares: Floats,
    weights: Floats,
    key: Callable[[int], str],
    limit: int,
    avoid: Collection[str] = (),
) -> list[Weighted]:
    """Return the phrases with the largest weights. No two of them share a word.

    A word that mostly occurs within a longer phrase is replaced by it: "York" by "New York".
    Phrases whose key is in `avoid` are left out.
    """
    order = np.argsort(-weights, kind="stable")[:MAX_CONSIDERED]
    considered = [(i, key(int(phrases[i]))) for i in order.tolist() if weights[i] > 0]
    chosen: list[Weighted] = []
    used: set[str] = set()
    for i, own in considered:
        if len(chosen) >= limit:
            break
        if _repeats(own, used):
            continue
        # The longest phrase first; the last one is the word itself.
        for j, longer in [*_longer(i, own, considered, shares), (i, own)]:
            if longer not in avoid and not _repeats(longer, used):
                used |= words_of(longer)
                chosen.append(Weighted(int(phrases[j]), float(weights[i])))
                break
    return chosen


def words_of(key: str) -> set[str]:
    """Return the words of a phrase. In scripts without spaces, these are its characters."""
    return set(key) if _is_unspaced(key) else set(key.split())


def _is_unspaced(key: str) -> bool:
    return not key.isascii() and any(
        letter >= "\u2e80" or "\u0e00" <= letter <= "\u0eff" for letter in key
    )


def _repeats(key: str, used: set[str]) -> bool:
    """Return True if a word of the phrase is, or is derived from, a word that is already used."""
    words = words_of(key)
    return not used.isdisjoint(words) or any(_related(word, other) for word in words for other in used)


def _related(word: str, other: str) -> bool:
    """Return True if two words share so many first letters that they mean almost the same."""
    if word[:MIN_STEM] != other[:MIN_STEM]:
        return False
    n = max(MIN_STEM, math.ceil(STEM_SHARE * max(len(word), len(other))))
    return len(word) >= n and word[:n] == other[:n]


def _longer(
    i: int, own: str, considered: list[tuple[int, str]], shares: Floats
) -> list[tuple[int, str]]:
    """Return the phrases that contain this one and are almost as frequent, longest first."""
    least, length = MIN_COVERAGE * shares[i], len(own)
    found = [
        (j, longer)
        for j, longer in considered
        if len(longer) > length and shares[j] > least and _contains(longer, own)
    ]
    return sorted(found, key=lambda one: -len(one[1]))


def _contains(longer: str, own: str) -> bool:
    return own in longer if _is_unspaced(longer) else f" {own} " in f" {longer} "
