"""`Corpus`: documents as they were read, before terms are weighted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from boostkmeans._runtime.errors import DataFormatError


@dataclass(frozen=True)
class Skipped:
    """A document that could not be used, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Corpus:
    """Documents: either their texts, or a matrix with a row for each of them.

    Examples
    --------
    >>> from boostkmeans.documents import Corpus
    >>> corpus = Corpus.from_texts(["a red rose", "a blue violet"])
    >>> len(corpus), corpus.kind, corpus.names
    (2, 'text', ['1', '2'])
    """

    names: list[str]
    """One for each document: a path, a line, or the number of a row."""
    texts: list[str] | None = None
    matrix: csr_array | None = None
    """Counts or other values, a row for each document."""
    terms: list[str] | None = None
    """Names of the columns of the matrix, where they are known."""
    classes: list[str | None] | None = None
    """What the documents are about, where that is known: only to score the clusters against."""
    skipped: list[Skipped] = field(default_factory=list)
    n_blank: int = 0
    """Lines without anything on them, where a line is a document."""
    source: str = "the documents"
    """Where they come from, for messages."""
    first_column: int = 1
    """What columns without names are counted from: 0 if their file does."""

    def __post_init__(self) -> None:
        if (self.texts is None) == (self.matrix is None):
            raise ValueError("A corpus has either texts or a matrix.")
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
        """ "text" or "matrix"."""
        return "matrix" if self.texts is None else "text"

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """A corpus of strings. Names are numbers from 1 on, unless given."""
        if isinstance(texts, str):
            raise ValueError(
                "texts must be several strings, one for each document. Got a single one; to read a file,"
                " use read_corpus."
            )
        documents = list(texts)
        for i, text in enumerate(documents):
            if not isinstance(text, str):
                raise ValueError(f"texts must be strings. Number {i} is {type(text).__name__}.")
        return cls(names=_names(names, len(documents)), texts=documents, classes=as_classes(classes))

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        terms: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """A corpus of counts or weights: sparse or dense, a row for each document."""
        rows = as_rows(matrix, "the matrix", copy=True)
        return cls(
            names=_names(names, rows.shape[0]),
            matrix=rows,
            terms=None if terms is None else [str(term) for term in terms],
            classes=as_classes(classes),
        )


def as_classes(classes: Sequence[Any] | None) -> list[str | None] | None:
    """Classes as strings; what is missing stays None."""
    if classes is None:
        return None
    return [None if one is None else str(one) for one in classes]


def as_rows(matrix: Any, source: str, *, copy: bool = False) -> csr_array:
    """A matrix of any kind as rows in canonical form: float64, sorted, no zeros, nothing infinite.

    Without `copy`, the matrix itself may be put into that form.
    """
    if not issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2:
        raise DataFormatError(f"{source}: a matrix has 2 dimensions, this has {matrix.ndim}.")
    if matrix.dtype.kind not in "buif":
        raise DataFormatError(f"{source}: values must be real numbers, these are {matrix.dtype}.")
    rows = csr_array(matrix, dtype=np.float64, copy=copy)
    wrong = np.flatnonzero(~np.isfinite(rows.data))
    if len(wrong):
        row = int(np.searchsorted(rows.indptr, wrong[0], side="right"))
        raise DataFormatError(
            f"{source}: row {row} has the value {rows.data[wrong[0]]}, and values must be finite."
        )
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _names(names: Sequence[str] | None, n: int) -> list[str]:
    return [str(i + 1) for i in range(n)] if names is None else [str(name) for name in names]
