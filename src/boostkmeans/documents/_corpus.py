"""`Corpus`: documents before their terms are weighted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.short_repr import short_repr


@dataclass(frozen=True)
class Skipped:
    """A document that could not be used."""

    name: str
    """Name of the document."""
    reason: str
    """Reason why it could not be used."""


@dataclass(frozen=True)
class Corpus:
    """Documents, either as texts or as a matrix with one row per document.

    Examples
    --------
    >>> from boostkmeans.documents import Corpus
    >>> corpus = Corpus.from_texts(["a red rose", "a blue violet"])
    >>> len(corpus), corpus.kind, corpus.names
    (2, 'text', ['1', '2'])
    """

    __repr__ = short_repr

    names: list[str]
    """Name of each document: a path, a line or a row number."""
    texts: list[str] | None = None
    """Text of each document. None if the corpus is a matrix."""
    matrix: csr_array | None = None
    """Counts or weights, one row per document. None if the corpus has texts."""
    terms: list[str] | None = None
    """Names of the columns of the matrix. None if they are unknown."""
    classes: list[str | None] | None = None
    """Known class of each document, used only to score the clusters."""
    skipped: list[Skipped] = field(default_factory=list)
    """Documents that could not be used."""
    n_blank: int = 0
    """Number of blank lines in a file with one document per line."""
    source: str = "the documents"
    """Name of the file or folder, for messages."""
    first_column: int = 1
    """Index of the first column in the file (0 or 1), for generated column names."""

    def __post_init__(self) -> None:
        if (self.texts is None) == (self.matrix is None):
            raise ValueError("A corpus must have either texts or a matrix.")
        n = len(self.names)
        n_rows = len(self.texts or ()) if self.matrix is None else self.matrix.shape[0]
        if n_rows != n:
            raise ValueError(f"The corpus has {n_rows} documents, but {n} names.")
        if self.classes is not None and len(self.classes) != n:
            raise ValueError(f"The corpus has {n} documents, but {len(self.classes)} classes.")
        if self.terms is not None and (self.matrix is None or len(self.terms) != self.matrix.shape[1]):
            columns = "no matrix" if self.matrix is None else f"{self.matrix.shape[1]} columns"
            raise ValueError(f"The corpus has {columns}, but {len(self.terms)} terms.")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def kind(self) -> str:
        """Kind of the documents: "text" or "matrix"."""
        return "matrix" if self.texts is None else "text"

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Create a corpus from strings.

        Parameters
        ----------
        texts : iterable of str
            One text per document.
        names : sequence of str, default=None
            Names of the documents. None numbers them from 1.
        classes : sequence, default=None
            Class of each document, or None for a document of unknown class.

        Returns
        -------
        Corpus
            The corpus.
        """
        if isinstance(texts, str):
            raise ValueError(
                "texts must be an iterable with one string per document. Got a single string. To read a "
                "file, use read_corpus."
            )
        documents = list(texts)
        for i, text in enumerate(documents):
            if not isinstance(text, str):
                raise ValueError(f"texts must be strings. Got {type(text).__name__} at position {i}.")
        return cls(names=_names(names, len(documents)), texts=documents, classes=_as_strings(classes))

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        terms: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Create a corpus from counts or weights.

        Parameters
        ----------
        matrix : array-like or sparse matrix of shape (n_documents, n_terms)
            Counts or weights. The matrix is copied.
        terms : sequence of str, default=None
            Names of the columns.
        names : sequence of str, default=None
            Names of the documents. None numbers them from 1.
        classes : sequence, default=None
            Class of each document, or None for a document of unknown class.

        Returns
        -------
        Corpus
            The corpus.
        """
        rows = as_rows(matrix, "the matrix", copy=True)
        return cls(
            names=_names(names, rows.shape[0]),
            matrix=rows,
            terms=None if terms is None else [str(term) for term in terms],
            classes=_as_strings(classes),
        )


def as_rows(matrix: Any, source: str, *, copy: bool = False) -> csr_array:
    """Convert a matrix to CSR in canonical form: float64, sorted, without duplicates and zeros.

    Without `copy`, the matrix may be modified. `source` is the name of the matrix in errors about
    dimensions, types and values that are not finite.
    """
    if not issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2:
        raise DataFormatError(f"Expected a matrix of 2 dimensions. Got {matrix.ndim}.", file=source)
    if matrix.dtype.kind not in "buif":
        raise DataFormatError(f"The values must be real numbers. Got {matrix.dtype}.", file=source)
    rows = csr_array(matrix, dtype=np.float64, copy=copy)
    invalid = np.flatnonzero(~np.isfinite(rows.data))
    if len(invalid):
        row = int(np.searchsorted(rows.indptr, invalid[0], side="right"))
        raise DataFormatError(
            f"The values must be finite. Got {rows.data[invalid[0]]}.", file=source, place=f"row {row}"
        )
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _as_strings(classes: Sequence[Any] | None) -> list[str | None] | None:
    """Convert classes to strings. None, which means an unknown class, is not converted."""
    if classes is None:
        return None
    return [None if one is None else str(one) for one in classes]


def _names(names: Sequence[str] | None, n: int) -> list[str]:
    return [str(i + 1) for i in range(n)] if names is None else [str(name) for name in names]
