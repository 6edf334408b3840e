"""TF-IDF: selection and weighting of terms, and scaling of rows to unit length."""

from dataclasses import dataclass, field
from numbers import Integral

import numpy as np
from scipy.sparse import csr_array

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter, ParameterConflictError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, logger
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.documents._columns import column_names, restrict, used_columns
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._term_weights import TermWeights, count_vectorizer, with_progress
from boostkmeans.documents._weighting_options import Weighting


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
    weights: TermWeights | None = field(default=None, repr=False)
    """Vocabulary and weights, to weight new documents."""


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
    fitted = TermWeights.of(corpus.kind, terms, counts, options)
    rows = fitted.weigh(counts)
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
    return WeightedDocuments(rows, terms, empty, fitted)


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
    vectorizer = count_vectorizer(
        options, min_df=options.min_df, max_df=options.max_df, max_features=options.max_features
    )
    try:
        counts = vectorizer.fit_transform(with_progress(corpus.texts, progress))
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


def _select_columns(corpus: Corpus, options: Weighting) -> tuple[csr_array, list[str]]:
    """Select columns of a matrix by document frequency, as the vectorizer does for texts."""
    if options.ngram_range != (1, 1) or options.stop_words is not None:
        raise ParameterConflictError(
            f"{corpus.source}: N-grams and stop words require texts, but the documents are a matrix."
        )
    matrix = corpus.matrix
    assert matrix is not None
    n_documents = matrix.shape[0]
    columns, places = used_columns(matrix)
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
    numbers = np.full(len(columns), -1, dtype=np.int32)
    numbers[kept] = np.arange(len(kept), dtype=np.int32)
    selected = restrict(matrix, places, numbers, len(kept))
    return selected, column_names(corpus, columns[kept])
