"""Phrases of a text: one to three words, without stop words at the ends."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from boostkmeans.documents._names.words import MAX_LENGTH, MAX_WORD_LENGTH, Segment, segments

# Maximum number of words of a phrase, and of characters in scripts without spaces.
MAX_WORDS = 3
MAX_UNSPACED = 8
# Words that scikit-learn's list lacks and that never help to name a topic.
_MORE_ENGLISH = (
    "according ago aren aren't away came can't come comes couldn couldn't did didn didn't does doesn "
    "doesn't doing don don't especially gets getting given gives going got gt hadn hadn't hasn hasn't "
    "haven haven't having he's i'll i'm i've including isn isn't it's just let let's like ll lt made "
    "make makes making near need often quite quot re really said say saying says shouldn shouldn't "
    "that's they're thing things unless use used uses using usually ve want wants wasn wasn't way we're "
    "weren weren't won't wouldn wouldn't you're"
)
ENGLISH = ENGLISH_STOP_WORDS | frozenset(_MORE_ENGLISH.split())
# Endings of plurals, and of their singulars. A plural is merged with its singular if that occurs, too.
_PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"), ("s", ""))
_NO_PLURAL_ENDINGS = ("ss", "us", "is")
_NO_PLURALS = frozenset({"news", "always", "perhaps", "means", "physics", "mathematics"})
_MIN_PLURAL_LENGTH = 4
_SIMPLE_WORD = re.compile(r"[^\W\d_]+")


class Phrases:
    """Finder of the phrases of texts."""

    def __init__(self, stop_words: Set[str], vocabulary: Set[str]) -> None:
        self._stop_words = stop_words
        self._vocabulary = vocabulary
        self._singulars: dict[str, str] = {}

    def of(self, text: str) -> Iterator[tuple[str, str, bool]]:
        """Yield the key of each phrase, its words as written, and whether their case is informative."""
        for segment in segments(text):
            yield from self._of_unspaced(segment) if segment.unspaced else self._of_words(segment)

    def _of_words(self, segment: Segment) -> Iterator[tuple[str, str, bool]]:
        words = segment.words
        keys = [self.singular(word.lower()) for word in words]
        ends = [self._may_end(word.lower()) for word in words]
        for first in range(len(words)):
            if not ends[first]:
                continue
            informative = not segment.is_headline and (first > 0 or not segment.starts_sentence)
            for last in range(first, min(first + MAX_WORDS, len(words))):
                if ends[last]:
                    part = slice(first, last + 1)
                    yield " ".join(keys[part]), " ".join(words[part]), informative

    def _of_unspaced(self, segment: Segment) -> Iterator[tuple[str, str, bool]]:
        words = segment.words
        for first in range(len(words)):
            for last in range(first + 1, min(first + MAX_UNSPACED, len(words))):
                phrase = "".join(words[first : last + 1])
                if phrase not in self._stop_words:
                    yield phrase, phrase, False

    def _may_end(self, word: str) -> bool:
        """Return True if a phrase may begin or end with the word."""
        return (
            1 < len(word) <= MAX_WORD_LENGTH
            and word not in self._stop_words
            and any(letter.isalpha() for letter in word)
        )

    def singular(self, word: str) -> str:
        """Return the singular of a plural if the singular occurs in the texts, else the word."""
        found = self._singulars.get(word)
        if found is None:
            found = self._singulars[word] = self._find_singular(word)
        return found

    def _find_singular(self, word: str) -> str:
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
