"""`Weighting`: options of the selection and the weights of terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from boostkmeans._runtime.parameter_checks import ParameterChecker

IDFS = ("smooth", "plain", "none")


@dataclass(frozen=True)
class Weighting:
    """Selection and weighting of terms. The names are those of scikit-learn's `TfidfVectorizer`.

    Examples
    --------
    >>> from boostkmeans.documents import Corpus, Weighting, tfidf
    >>> corpus = Corpus.from_texts(["red rose", "red tulip", "red red rose"])
    >>> tfidf(corpus, Weighting(idf="plain")).terms
    ['red', 'rose', 'tulip']
    >>> tfidf(corpus, Weighting(max_df=0.9)).terms
    ['rose', 'tulip']
    """

    ngram_range: tuple[int, int] = (1, 1)
    """Minimum and maximum number of words of a term (n-grams). For texts only."""
    stop_words: str | Sequence[str] | None = None
    """Words that are ignored: "english" or a list. For texts only."""
    min_df: float = 1
    """Terms in fewer documents are ignored: a number (int) or a share (float) of the documents."""
    max_df: float = 1.0
    """Terms in more documents are ignored: a number (int) or a share (float) of the documents."""
    max_features: int | None = None
    """Maximum number of terms. The most frequent ones are used. None means no maximum."""
    sublinear_tf: bool = False
    """If True, a count is replaced by 1 + log(count). Values below 1 are not allowed."""
    idf: str | None = None
    """Weight of a term in df of n documents. "smooth" is log((1 + n) / (1 + df)) + 1, as in
    scikit-learn. "plain" is log(n / df), as in CLUTO and the paper; it is 0 for terms in all documents.
    "none" is 1, for matrices that are already weighted. None means "smooth" for texts and "plain" for
    matrices."""

    def __post_init__(self) -> None:
        check = ParameterChecker(self)
        good = isinstance(self.ngram_range, tuple) and len(self.ngram_range) == 2
        good = good and all(isinstance(n, Integral) for n in self.ngram_range)
        if not good or not 1 <= self.ngram_range[0] <= self.ngram_range[1]:
            check.fail("ngram_range", "a tuple of two ascending ints, e.g. (1, 2)", self.ngram_range)
        if isinstance(self.stop_words, str):
            check.choice("stop_words", self.stop_words, ("english",))
        for name in ("min_df", "max_df"):
            _check_frequency(check, name, getattr(self, name))
        if self.max_features is not None:
            check.integer("max_features", self.max_features, 1)
        if self.idf is not None:
            check.choice("idf", self.idf, IDFS)


def _check_frequency(check: ParameterChecker, name: str, value: Any) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    share = isinstance(value, Real) and not whole and 0 <= float(value) <= 1
    if not share and not (whole and value >= 1):
        check.fail(name, "an int of at least 1 or a float between 0 and 1", value)
