"""`TermWeights`: the vocabulary and the weights of its terms, to weight new documents."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.documents._columns import column_names, restrict, used_columns
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._weighting_options import Weighting

# Number of texts between two reports of progress.
TEXTS_PER_REPORT = 200


@dataclass(frozen=True)
class TermWeights:
    """Terms and their weights, as fitted to documents."""

    __repr__ = short_repr

    kind: str
    """Kind of the documents: "text" or "matrix"."""
    terms: list[str]
    """Term of each column."""
    factors: NDArray[np.float64]
    """Factor of each term (inverse document frequency)."""
    weighting: Weighting
    """Options of the weighting, with the value of `idf` that was used."""

    @classmethod
    def of(cls, kind: str, terms: list[str], counts: csr_array, weighting: Weighting) -> "TermWeights":
        """Fit the weights to the counts of documents.

        Parameters
        ----------
        kind : {"text", "matrix"}
            Kind of the documents.
        terms : list of str
            Term of each column.
        counts : csr_array of shape (n_documents, n_terms)
            Counts of the terms.
        weighting : Weighting
            Options of the weighting.

        Returns
        -------
        TermWeights
            Terms and their weights.
        """
        idf = weighting.idf or ("smooth" if kind == "text" else "plain")
        return cls(kind, terms, _idf_factors(counts, idf), replace(weighting, idf=idf))

    def weigh(self, counts: csr_array) -> csr_array:
        """Weight the counts of documents, and scale the rows to length 1.

        Parameters
        ----------
        counts : csr_array of shape (n_documents, n_terms)
            Counts of these terms.

        Returns
        -------
        csr_array
            Weighted rows, without stored zeros.
        """
        weighted = counts.copy()
        if self.weighting.sublinear_tf:
            weighted.data = 1 + np.log(weighted.data)
        weighted.data *= self.factors[weighted.indices]
        return _scale_to_unit_length(weighted)

    def count(self, corpus: Corpus, progress: ProgressCallback) -> csr_array:
        """Count the known terms of new documents. Other terms are ignored.

        Parameters
        ----------
        corpus : Corpus
            Documents of the same kind.
        progress : callable
            Function called as ``progress(what, done, total)``.

        Returns
        -------
        csr_array of shape (n_documents, n_terms)
            Counts of the terms.
        """
        if corpus.kind != self.kind:
            kinds = {"text": "texts", "matrix": "a matrix"}
            raise DataFormatError(
                f"The model was fitted to {kinds[self.kind]}. Got {kinds[corpus.kind]}.",
                file=corpus.source,
            )
        if corpus.texts is not None:
            vectorizer = count_vectorizer(self.weighting, vocabulary=self._numbers)
            return csr_array(vectorizer.transform(with_progress(corpus.texts, progress)))
        return self._known_columns(corpus)

    def _known_columns(self, corpus: Corpus) -> csr_array:
        """Return the columns of a matrix in the order of the vocabulary."""
        matrix = corpus.matrix
        assert matrix is not None
        columns, places = used_columns(matrix)
        found = [self._numbers.get(name, -1) for name in column_names(corpus, columns)]
        return restrict(matrix, places, np.array(found, dtype=np.int32), len(self.terms))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms)}


def count_vectorizer(options: Weighting, **settings: Any) -> CountVectorizer:
    """Return scikit-learn's vectorizer for these options."""
    words = options.stop_words
    return CountVectorizer(
        ngram_range=options.ngram_range,
        stop_words=words if isinstance(words, str | None) else list(words),
        dtype=np.float64,
        **settings,
    )


def with_progress(texts: list[str], progress: ProgressCallback) -> Iterator[str]:
    """Yield the texts, and report how many were counted."""
    for i, text in enumerate(texts):
        if i % TEXTS_PER_REPORT == 0:
            progress("counting terms", i, len(texts))
        yield text
    progress("counting terms", len(texts), len(texts))


def _idf_factors(counts: csr_array, idf: str) -> NDArray[np.float64]:
    if idf == "smooth":
        found: NDArray[np.float64] = TfidfTransformer(norm=None).fit(counts).idf_
        return found
    if idf == "none":
        return np.ones(counts.shape[1])
    frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
    # log(n / df). TfidfTransformer would add 1.
    return np.asarray(np.log(counts.shape[0] / np.maximum(frequencies, 1)))


def _scale_to_unit_length(weighted: csr_array) -> csr_array:
    """Scale rows to length 1 in place, and remove zeros."""
    # Divide by the largest value first, so that squares neither overflow nor underflow.
    largest = abs(weighted).max(axis=1).toarray().ravel()
    weighted.data /= np.repeat(np.where(largest > 0, largest, 1.0), np.diff(weighted.indptr))
    rows = csr_array(normalize(weighted, copy=False))
    rows.eliminate_zeros()
    return rows
