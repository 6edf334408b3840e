"""Texts that represent a cluster: those with the most characteristic phrases."""

import math
import unicodedata

from boostkmeans.documents._names.phrases import Phrases

# Length of the texts that a namer receives, and of a text that serves as a name.
MAX_TEXT_LENGTH = 1000
MAX_NAME_LENGTH = 40
NO_TEXT, NO_TEXTS = "no text", "empty cluster"


def central_texts(texts: list[str], weights: dict[str, float], finder: Phrases, limit: int) -> list[str]:
    """Return the texts with the largest weights of phrases, for their length."""

    def score(text: str) -> float:
        keys = {key for key, _, _ in finder.of(text)}
        return sum(weights.get(key, 0.0) for key in keys) / math.sqrt(len(keys) + 5)

    ranked = sorted(dict.fromkeys(texts), key=score, reverse=True)
    return [text[:MAX_TEXT_LENGTH] for text in ranked[:limit] if text.strip()]


def first_words(texts: list[str]) -> str:
    """Return the beginning of the first text that can be shown, for a cluster without phrases."""
    for text in texts:
        shown = "".join(one if one.isprintable() else " " for one in text[: 10 * MAX_NAME_LENGTH])
        words = " ".join(unicodedata.normalize("NFC", shown).split())
        if words:
            cut = len(words) > MAX_NAME_LENGTH
            return words[: MAX_NAME_LENGTH - 3].rstrip() + "..." if cut else words
    return NO_TEXT if texts else NO_TEXTS
