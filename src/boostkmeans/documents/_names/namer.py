"""Names from a function of the user, such as a language model."""

import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from boostkmeans._runtime.errors import shorten

Namer = Callable[[list[str], list[str]], str]
"""Function called as `namer(texts, terms)` with central texts and terms; it returns a name."""

# Longer names are rejected.
MAX_LENGTH = 120
# Characters that reverse the order of the text around them.
_BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


@dataclass
class CheckedNamer:
    """Caller of the user's function. It records what fails."""

    namer: Namer
    failures: dict[int, str] = field(default_factory=dict)

    def name(self, cluster: int, texts: list[str], terms: list[str]) -> str | None:
        """Return the name, or None if the function raised an error or its result cannot be used."""
        try:
            made: object = self.namer(texts, terms)
        except Exception as error:  # A failed name must not cost the user the clustering.
            self.failures[cluster] = shorten(f"{type(error).__name__}: {error}")
            return None
        problem = _problem(made)
        if problem:
            self.failures[cluster] = problem
            return None
        return clean(str(made))


def warn_of_failures(failures: dict[int, str], n_clusters: int) -> None:
    """Warn the caller of the public function if the namer failed for some clusters."""
    if failures:
        cluster, problem = next(iter(failures.items()))
        warnings.warn(
            f"The namer failed for {len(failures)} of {n_clusters} clusters, which have generated names "
            f"instead. Cluster {cluster}: {problem}",
            RuntimeWarning,
            stacklevel=3,
        )


def clean(name: str) -> str:
    """Return a name without control characters and without repeated spaces."""
    kept = (one for one in name if unicodedata.category(one) not in ("Cc", "Cs") or one.isspace())
    return " ".join("".join(one for one in kept if one not in _BIDIRECTIONAL).split())


def _problem(made: object) -> str:
    """Return why a result cannot be used as a name, or ""."""
    if not isinstance(made, str):
        return f"The namer returned {type(made).__name__}, not a string."
    if len(made.strip().splitlines()) > 1:
        return f"The namer returned several lines: {shorten(repr(made))}"
    name = clean(made)
    if not name:
        return "The namer returned an empty name."
    if len(name) > MAX_LENGTH:
        return f"The namer returned {len(name)} characters; names may have {MAX_LENGTH}."
    return ""
