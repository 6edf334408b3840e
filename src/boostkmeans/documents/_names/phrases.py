"""Phrases of a text: one to three words, without stop words at the ends."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from boostkmeans.documents._names.words import MAX_LENGTH, MAX_WORD_LENGTH, Segment, segments

# Maximum number of words of a phrase, and of characters in scripts without spaces.
MAX_WORDS = 3
MAX_UNSPACED = 8
# Words that scikit-learn's list lacks and that never help to name a topic.
_MORE_ENGLISH = (
    "according ago aren't away came can't come comes couldn't did didn't does "
    "doesn't doing don't especially gets getting given gives going got gt hadn't hasn't "
    "haven't having he's i'll i'm i've including isn't it's just let let's like ll lt made "
    "make makes making near need often quite quot re really said say saying says shouldn't "
    "that's they're thing things unless use used uses using usually ve want wants wasn't way we're "
    "weren't wouldn't you're"
)
# Tokens of "doesn 't" and the like, whose apostrophe is set off by a space, are stop words as well.
ENGLISH: frozenset[str] = ENGLISH_STOP_WORDS.union(
    _MORE_ENGLISH.split(), (word.removesuffix("'t") for word in _MORE_ENGLISH.split())
)
# Endings of plurals, and of their singulars. A plural is merged with its singular if that occurs, too.
_PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"), ("s", ""))
_NO_PLURAL_ENDINGS = ("ss", "us", "is")
_NO_PLURALS = frozenset({"news", "always", "perhaps", "means", "physics", "mathematics"})
_MIN_PLURAL_LENGTH = 4
_POSSESSIVE = re.compile(r"['\u2019][sS]?$")
_SIMPLE_WORD = re.compile(r"[^\W\d_]+")


class Word(NamedTuple):
    """A word of a text."""

    key: str
    """Lower case, singular."""
    written: str
    """The word as written, without the ending of the possessive."""
    may_end: bool
    """True if a phrase may begin or end with the word."""


class Phrases:
    """Finder of the phrases of texts."""

    def __init__(self, stop_words: frozenset[str], vocabulary: set[str]) -> None:
        self._stop_words = stop_words
        self._vocabulary = vocabulary
        self._words: dict[str, Word] = {}

    def of(self, text: str) -> Iterator[tuple[str, str, bool]]:
        """Yield the key of each phrase, its words as written, and whether their case is informative."""
        for segment in segments(text):
            yield from self._of_unspaced(segment) if segment.unspaced else self._of_words(segment)

    def _of_words(self, segment: Segment) -> Iterator[tuple[str, str, bool]]:
        words = [self._words.get(word) or self._word(word) for word in segment.words]
        is_headline = segment.is_headline
        for first, word in enumerate(words):
            if not word.may_end:
                continue
            informative = not is_headline and (first > 0 or not segment.starts_sentence)
            key, written = word.key, word.written
            yield key, written, informative
            for other in words[first + 1 : first + MAX_WORDS]:
                key, written = f"{key} {other.key}", f"{written} {other.written}"
                if other.may_end:
                    yield key, written, informative

    def _of_unspaced(self, segment: Segment) -> Iterator[tuple[str, str, bool]]:
        words = segment.words
        for first in range(len(words)):
            for last in range(first + 1, min(first + MAX_UNSPACED, len(words))):
                phrase = "".join(words[first : last + 1])
                if phrase not in self._stop_words:
                    yield phrase, phrase, False

    def _word(self, written: str) -> Word:
        """Return a word, and remember it."""
        bare = _POSSESSIVE.sub("", written) or written
        lower = bare.lower()
        may_end = (
            1 < len(lower) <= MAX_WORD_LENGTH
            and self._stop_words.isdisjoint((lower, written.lower()))
            and any(letter.isalpha() for letter in lower)
        )
        found = self._words[written] = Word(self._singular(lower), bare, may_end)
        return found

    def _singular(self, word: str) -> str:
        """Return the singular of a plural if the singular occurs in the texts, else the word."""
        if (
            len(word) < _MIN_PLURAL_LENGTH or word in _NO_PLURALS or word.endswith(_NO_PLURAL_ENDINGS)
        ) and not word.endswith("sses"):
            return word
        for plural, singular in _PLURALS:
            stem = word.removesuffix(plural)
            if stem != word and stem + singular in self._vocabulary:
                return stem + singular
        return word


def vocabulary_of(texts: Iterable[str]) -> set[str]:
    """Return the words of texts in lower case."""
    found: set[str] = set()
    for text in texts:
        found.update(_SIMPLE_WORD.findall(text[:MAX_LENGTH].lower()))
    return found


def stop_word_set(stop_words: str | Sequence[str] | None) -> frozenset[str]:
    """Return the words of "english", of a list, or of None, in lower case."""
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        return ENGLISH
    return frozenset(word.lower() for word in stop_words)
