"""Words of a text, in segments that no phrase crosses."""

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# Longer texts are cut, so that one long document neither dominates a cluster nor takes long to read.
MAX_LENGTH = 3000
# Longer words are identifiers, encoded data or the like.
MAX_WORD_LENGTH = 30

# Characters of scripts without spaces between words. Each one counts as a word.
_UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Chinese, Japanese
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
)
# Vowel signs and tone marks, which belong to the character before them. `\w` does not contain them.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0acd\u0b01-\u0b4d\u0b82-\u0bcd\u0c00-\u0c4d"
    "\u0c81-\u0ccd\u0d00-\u0d4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd"
    "\u102b-\u103e\u17b4-\u17d3\u200c\u200d"
)
_LETTER = rf"(?:[^\W_{_UNSPACED}][{_MARKS}]*)"
_WORD = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}][{_MARKS}]*)"
    r"|(?P<initials>(?:[^\W\d_]\.){2,})"  # U.S.
    rf"|{_LETTER}+(?:[-'\u2019&]{_LETTER}+)*"
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+")
# References to characters that lost their ampersand, such as "#39;".
_BROKEN_REFERENCE = re.compile(r"&?#(\d{2,4});")
_SENTENCE_MARKS = frozenset('.!?\n"\u201c:-')


class Segment(NamedTuple):
    """Consecutive words without punctuation between them."""

    words: list[str]
    starts_sentence: bool
    unspaced: bool

    @property
    def is_headline(self) -> bool:
        """True in headlines and in capitals, where the case of a word does not say how it is spelled."""
        long = [word for word in self.words if len(word) > 3]
        return len(long) > 2 and all(word[0].isupper() for word in long)


def segments(text: str) -> Iterator[Segment]:
    """Split a text into segments of words. Markup and addresses are removed."""
    text = _plain(text[:MAX_LENGTH])
    words: list[str] = []
    starts_sentence, unspaced, end = True, False, 0
    for match in _WORD.finditer(text):
        start, next_end = match.span()
        gap = text[end:start]
        is_unspaced = match.lastgroup == "unspaced"
        if words and (is_unspaced != unspaced or (gap != " " and _separates(gap, unspaced))):
            yield Segment(words, starts_sentence, unspaced)
            words = []
        if not words:
            starts_sentence = end == 0 or not _SENTENCE_MARKS.isdisjoint(gap)
            unspaced = is_unspaced
        end = next_end
        words.append(match.group())
    if words:
        yield Segment(words, starts_sentence, unspaced)


def _plain(text: str) -> str:
    if "#" in text:
        text = _BROKEN_REFERENCE.sub(lambda match: chr(int(match[1])), text)
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub(" | ", text)
    if "@" in text or "http" in text or "www." in text:
        text = _ADDRESS.sub(" | ", text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _separates(gap: str, unspaced: bool) -> bool:
    return gap != "" if unspaced else gap.strip(" \t\n\r\xa0") != ""
