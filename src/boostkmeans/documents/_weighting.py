"""From a corpus to unit rows: which terms count, and how much (TF-IDF)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter, ParameterConflictError
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, logger
from boostkmeans.documents._corpus import Corpus

IDFS = ("smooth", "plain", "none")
# Texts between two reports of progress.
TEXTS_PER_REPORT = 200
# Matrices up to this width are counted with an array as long (128 MB); wider ones by sorting.
MOST_COUNTERS = 1 << 24


@dataclass(frozen=True)
class Weighting:
    """Which terms count, and how much. The names are those of scikit-learn's `TfidfVectorizer`.

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
    """Terms are runs of so many words, from and to. For texts only."""
    stop_words: str | Sequence[str] | None = None
    """Words that do not count: "english", or a list. For texts only."""
    min_df: float = 1
    """Terms of fewer documents do not count: a number (int), or a share of the documents (float)."""
    max_df: float = 1.0
    """Terms of more documents do not count."""
    max_features: int | None = None
    """The most frequent terms, so many of them."""
    sublinear_tf: bool = False
    """1 + log(count) instead of the count. For values of 1 or more only."""
    idf: str | None = None
    """The weight of a term by the number df of its documents, of n in all. "smooth": log((1 + n) /
    (1 + df)) + 1, as scikit-learn has it; "plain": log(n / df), as CLUTO and the paper have it, under
    which terms of all documents do not count; "none": 1, for matrices that are weighted already. None:
    "smooth" for texts, "plain" for matrices."""

    def __post_init__(self) -> None:
        check = ParameterChecker(self)
        good = isinstance(self.ngram_range, tuple) and len(self.ngram_range) == 2
        good = good and all(isinstance(n, Integral) for n in self.ngram_range)
        if not good or not 1 <= self.ngram_range[0] <= self.ngram_range[1]:
            check.fail("ngram_range", "two ints, as in (1, 2)", self.ngram_range)
        if isinstance(self.stop_words, str):
            check.choice("stop_words", self.stop_words, ("english",))
        for name in ("min_df", "max_df"):
            _check_frequency(check, name, getattr(self, name))
        if self.max_features is not None:
            check.integer("max_features", self.max_features, 1)
        if self.idf is not None:
            check.choice("idf", self.idf, IDFS)


@dataclass(frozen=True)
class WeightedDocuments:
    """Unit rows, ready to be clustered."""

    rows: csr_array
    """A row of length 1 for each document; 0 for one without terms."""
    terms: list[str]
    """What the columns stand for. Columns that do not count are not there any more."""
    empty: list[int]
    """Documents without terms."""


def tfidf(
    corpus: Corpus,
    weighting: Weighting | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> WeightedDocuments:
    """TF-IDF at unit length: how often a term occurs, by how many documents have it.

    Texts go through scikit-learn's vectorizer; of a matrix, the values are the counts.
    """
    options = weighting or Weighting()
    if corpus.texts is not None:
        counts, terms = _count(corpus, options, progress or ignore_progress)
    else:
        counts, terms = _select(corpus, options)
    idf = options.idf or ("smooth" if corpus.kind == "text" else "plain")
    counted = idf != "none" or options.sublinear_tf
    if counted and counts.data.min(initial=0.0) < 0:
        raise ValueError(
            f"{corpus.source}: TF-IDF is for counts, but there are negative values. For a matrix that "
            'is weighted already, use idf="none".'
        )
    if options.sublinear_tf:
        _check_sublinear(corpus, counts)
    rows = _unit(_weighted(counts, idf, options.sublinear_tf))
    empty = np.flatnonzero(np.diff(rows.indptr) == 0).tolist()
    if len(empty) == len(corpus):
        raise DataFormatError(
            f"{corpus.source}: no document has a term that counts. "
            + ('Terms of all documents do not, with idf="plain".' if idf == "plain" else "")
        )
    logger.info("%d documents, %d terms, %d non-zeros", *rows.shape, rows.nnz)
    return WeightedDocuments(rows, terms, empty)


def _check_sublinear(corpus: Corpus, counts: csr_array) -> None:
    """1 + log(value) is negative below 1/e: the term would count against its document."""
    least = counts.data.min(initial=1.0)
    if least < 1:
        raise ValueError(
            f"{corpus.source}: sublinear_tf is for counts, but there are values below 1 (the least is "
            f"{least:g}). Leave it out for a matrix that is weighted already, or give its counts."
        )


def _count(
    corpus: Corpus, options: Weighting, progress: ProgressCallback
) -> tuple[csr_array, list[str]]:
    assert corpus.texts is not None
    vectorizer = CountVectorizer(
        ngram_range=options.ngram_range,
        stop_words=options.stop_words if isinstance(options.stop_words, str | None)
        else list(options.stop_words),
        min_df=options.min_df,
        max_df=options.max_df,
        max_features=options.max_features,
        dtype=np.float64,
    )  # fmt: skip
    try:
        counts = vectorizer.fit_transform(_reported(corpus.texts, progress))
    except ValueError:
        words = vectorizer.build_analyzer()
        if any(words(text) for text in corpus.texts):  # then the options left none of them
            raise _no_terms_error(corpus) from None
        raise DataFormatError(
            f"{corpus.source}: no words of two letters or more, stop words aside, in "
            f"{len(corpus)} documents. Is the encoding right?"
        ) from None
    return csr_array(counts), vectorizer.get_feature_names_out().tolist()


def _no_terms_error(corpus: Corpus) -> ParameterConflictError:
    """Return the error for limits that exclude all terms."""
    return ParameterConflictError(
        Message("{source}: No terms are left.", source=corpus.source),
        remedy=Message(
            "Use a lower {min_df} or a higher {max_df}.",
            min_df=Parameter("min_df"),
            max_df=Parameter("max_df"),
        ),
    )


def _reported(texts: list[str], progress: ProgressCallback) -> Iterator[str]:
    for i, text in enumerate(texts):
        if i % TEXTS_PER_REPORT == 0:
            progress("counting terms", i, len(texts))
        yield text
    progress("counting terms", len(texts), len(texts))


def _select(corpus: Corpus, options: Weighting) -> tuple[csr_array, list[str]]:
    """Columns of a matrix by the number of their documents, as the vectorizer does it for texts."""
    if options.ngram_range != (1, 1) or options.stop_words is not None:
        raise ValueError(f"{corpus.source}: n-grams and stop words need texts, and this is a matrix.")
    matrix = corpus.matrix
    assert matrix is not None
    n_documents = matrix.shape[0]
    columns, places = _occurring(matrix)
    frequencies = np.bincount(places, minlength=len(columns))
    low, high = (
        limit if isinstance(limit, Integral) else limit * n_documents
        for limit in (options.min_df, options.max_df)
    )
    kept = np.flatnonzero((frequencies >= low) & (frequencies <= high))
    if len(kept) == 0:
        raise _no_terms_error(corpus)
    if options.max_features is not None and len(kept) > options.max_features:
        totals = np.bincount(places, weights=matrix.data, minlength=len(columns))[kept]
        kept = np.sort(kept[np.argsort(-totals, kind="stable")[: options.max_features]])
    selected = _with_columns(matrix, places, kept, len(columns))
    numbers = columns[kept].tolist()
    if corpus.terms is None:
        return selected, [f"column {number + corpus.first_column}" for number in numbers]
    return selected, [corpus.terms[number] for number in numbers]


def _occurring(matrix: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The columns that hold anything, and for each value the place of its column among these."""
    if matrix.shape[1] > MOST_COUNTERS:
        columns, places = np.unique(matrix.indices, return_inverse=True)
        return columns, places
    used = np.zeros(matrix.shape[1], dtype=bool)
    used[matrix.indices] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[matrix.indices]


def _with_columns(
    matrix: csr_array, places: NDArray[np.int64], kept: NDArray[np.int64], n_places: int
) -> csr_array:
    """The matrix of some of its columns, in their order."""
    new = np.full(n_places, -1, dtype=np.int32)
    new[kept] = np.arange(len(kept), dtype=np.int32)
    indices = new[places]
    stays = indices >= 0
    starts = np.concatenate([[0], np.cumsum(stays)])[matrix.indptr]
    return csr_array((matrix.data[stays], indices[stays], starts), shape=(matrix.shape[0], len(kept)))


def _weighted(counts: csr_array, idf: str, sublinear_tf: bool) -> csr_array:
    if idf == "smooth":
        return csr_array(TfidfTransformer(norm=None, sublinear_tf=sublinear_tf).fit_transform(counts))
    weighted = counts.copy()
    if sublinear_tf:
        weighted.data = 1 + np.log(weighted.data)
    if idf == "plain":
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        # log(n / df): scikit-learn would add 1.
        factors = np.log(counts.shape[0] / np.maximum(frequencies, 1))
        weighted.data *= factors[counts.indices]
    return weighted


def _unit(weighted: csr_array) -> csr_array:
    """Rows of length 1, without zeros."""
    # By their largest values first: squares of very large or small ones would be infinite or 0.
    largest = abs(weighted).max(axis=1).toarray().ravel()
    weighted.data /= np.repeat(np.where(largest > 0, largest, 1.0), np.diff(weighted.indptr))
    rows = csr_array(normalize(weighted, copy=False))
    rows.eliminate_zeros()
    return rows


def _check_frequency(check: ParameterChecker, name: str, value: Any) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    share = isinstance(value, Real) and not whole and 0 <= float(value) <= 1
    if not share and not (whole and value >= 1):
        check.fail(name, "an int of at least 1, or a float from 0 to 1", value)
