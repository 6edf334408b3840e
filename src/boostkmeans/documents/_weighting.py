"""TF-IDF: selection and weighting of terms, and scaling of rows to unit length."""

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
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.documents._corpus import Corpus

IDFS = ("smooth", "plain", "none")
# Number of texts between two reports of progress.
TEXTS_PER_REPORT = 200
# Maximum number of columns for which an array with one entry per column is allocated (128 MB). For wider
# matrices, the column indices are sorted instead.
MAX_COUNTERS = 1 << 24


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


@dataclass(frozen=True)
class WeightedDocuments:
    """Weighted documents as rows of unit length."""

    __repr__ = short_repr

    rows: csr_array
    """One row of length 1 per document. The row of a document without terms is 0."""
    terms: list[str]
    """Term of each column. Ignored terms have no column."""
    empty: list[int]
    """Indices of the documents without terms."""


def tfidf(
    corpus: Corpus,
    weighting: Weighting | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> WeightedDocuments:
    """Weight the terms of documents by TF-IDF, and scale the rows to unit length.

    Texts are tokenised by scikit-learn's `CountVectorizer`. The values of a matrix are used as counts.

    Parameters
    ----------
    corpus : Corpus
        Documents.
    weighting : Weighting, default=None
        Selection and weights of the terms. None means ``Weighting()``.
    progress : callable, default=None
        Function called as ``progress(what, done, total)`` while terms are counted.

    Returns
    -------
    WeightedDocuments
        Unit rows and their terms.
    """
    options = weighting or Weighting()
    if corpus.texts is not None:
        counts, terms = _count_terms(corpus, options, progress or ignore_progress)
    else:
        counts, terms = _select_columns(corpus, options)
    idf = options.idf or ("smooth" if corpus.kind == "text" else "plain")
    _check_counts(corpus, counts, idf, options.sublinear_tf)
    rows = _scale_to_unit_length(_weight(counts, idf, options.sublinear_tf))
    empty = np.flatnonzero(np.diff(rows.indptr) == 0).tolist()
    if len(empty) == len(corpus):
        plain = Message(
            "Terms in all documents have weight 0 with {idf}.", idf=Parameter("idf", "plain")
        )
        raise DataFormatError(
            "No document has a term with a positive weight.",
            file=corpus.source,
            remedy=plain if idf == "plain" else "",
        )
    logger.info("%d documents, %d terms, %d non-zeros", *rows.shape, rows.nnz)
    return WeightedDocuments(rows, terms, empty)


def _check_counts(corpus: Corpus, counts: csr_array, idf: str, sublinear_tf: bool) -> None:
    """Raise an error if the values of a matrix cannot be counts, although the weights require counts."""
    smallest = float(counts.data.min(initial=1.0))
    if smallest < 0 and (idf != "none" or sublinear_tf):
        raise ParameterConflictError(
            f"{corpus.source}: TF-IDF requires counts, but the matrix has negative values.",
            remedy=Message(
                "If the matrix is already weighted, use {idf}.", idf=Parameter("idf", "none")
            ),
        )
    # 1 + log(value) is negative for values below 1/e.
    if smallest < 1 and sublinear_tf:
        raise ParameterConflictError(
            Message(
                "{source}: {sublinear_tf} requires counts, but the matrix has values below 1 (the "
                "smallest is {smallest:g}).",
                source=corpus.source,
                sublinear_tf=Parameter("sublinear_tf"),
                smallest=smallest,
            ),
            remedy="Omit it if the matrix is already weighted, or provide counts.",
        )


def _count_terms(
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
        counts = vectorizer.fit_transform(_with_progress(corpus.texts, progress))
    except ValueError:
        words = vectorizer.build_analyzer()
        if any(words(text) for text in corpus.texts):  # the limits excluded all terms
            raise _no_terms_error(corpus) from None
        raise DataFormatError(
            f"The {len(corpus)} documents have no words of two or more letters, except stop words.",
            file=corpus.source,
            remedy=Message("Check the {encoding}.", encoding=Parameter("encoding")),
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


def _with_progress(texts: list[str], progress: ProgressCallback) -> Iterator[str]:
    for i, text in enumerate(texts):
        if i % TEXTS_PER_REPORT == 0:
            progress("counting terms", i, len(texts))
        yield text
    progress("counting terms", len(texts), len(texts))


def _select_columns(corpus: Corpus, options: Weighting) -> tuple[csr_array, list[str]]:
    """Select columns of a matrix by document frequency, as the vectorizer does for texts."""
    if options.ngram_range != (1, 1) or options.stop_words is not None:
        raise ParameterConflictError(
            f"{corpus.source}: N-grams and stop words require texts, but the documents are a matrix."
        )
    matrix = corpus.matrix
    assert matrix is not None
    n_documents = matrix.shape[0]
    columns, places = _used_columns(matrix)
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
    selected = _restrict(matrix, places, kept, len(columns))
    numbers = columns[kept].tolist()
    if corpus.terms is None:
        return selected, [f"column {number + corpus.first_column}" for number in numbers]
    return selected, [corpus.terms[number] for number in numbers]


def _used_columns(matrix: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns that have values, and the index among these of the column of each value."""
    if matrix.shape[1] > MAX_COUNTERS:
        columns, places = np.unique(matrix.indices, return_inverse=True)
        return columns, places
    used = np.zeros(matrix.shape[1], dtype=bool)
    used[matrix.indices] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[matrix.indices]


def _restrict(
    matrix: csr_array, places: NDArray[np.int64], kept: NDArray[np.int64], n_places: int
) -> csr_array:
    """Return the matrix restricted to some of its used columns."""
    new = np.full(n_places, -1, dtype=np.int32)
    new[kept] = np.arange(len(kept), dtype=np.int32)
    indices = new[places]
    stays = indices >= 0
    starts = np.concatenate([[0], np.cumsum(stays)])[matrix.indptr]
    return csr_array((matrix.data[stays], indices[stays], starts), shape=(matrix.shape[0], len(kept)))


def _weight(counts: csr_array, idf: str, sublinear_tf: bool) -> csr_array:
    if idf == "smooth":
        return csr_array(TfidfTransformer(norm=None, sublinear_tf=sublinear_tf).fit_transform(counts))
    weighted = counts.copy()
    if sublinear_tf:
        weighted.data = 1 + np.log(weighted.data)
    if idf == "plain":
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        # log(n / df). TfidfTransformer would add 1.
        factors = np.log(counts.shape[0] / np.maximum(frequencies, 1))
        weighted.data *= factors[counts.indices]
    return weighted


def _scale_to_unit_length(weighted: csr_array) -> csr_array:
    """Scale rows to length 1 in place, and remove zeros."""
    # Divide by the largest value first, so that squares neither overflow nor underflow.
    largest = abs(weighted).max(axis=1).toarray().ravel()
    weighted.data /= np.repeat(np.where(largest > 0, largest, 1.0), np.diff(weighted.indptr))
    rows = csr_array(normalize(weighted, copy=False))
    rows.eliminate_zeros()
    return rows


def _check_frequency(check: ParameterChecker, name: str, value: Any) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    share = isinstance(value, Real) and not whole and 0 <= float(value) <= 1
    if not share and not (whole and value >= 1):
        check.fail(name, "an int of at least 1 or a float between 0 and 1", value)
