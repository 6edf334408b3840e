"""Description of clusters by their main terms and their most central documents."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._weighting import WeightedDocuments

# Maximum length of the shown beginning of a text.
SNIPPET_LENGTH = 80
# Number of characters that are read for this beginning, before white space is collapsed.
SNIPPET_SOURCE_LENGTH = 400

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TermShare:
    """A term and its share in the description of a cluster."""

    term: str
    """The term."""
    share: float
    """Share between 0 and 1."""


@dataclass(frozen=True)
class CentralDocument:
    """A document near the centre of its cluster."""

    name: str
    """Name of the document."""
    similarity: float
    """Cosine of the document and the centre."""
    snippet: str | None = None
    """Beginning of the text. None for a row of a matrix."""


@dataclass(frozen=True)
class DocumentCluster:
    """Description of a cluster of documents."""

    __repr__ = short_repr

    number: int
    """Label of the cluster."""
    size: int
    """Number of documents."""
    similarity: float
    """Mean cosine of the documents and the centre: 1 if all documents have the same direction."""
    descriptive: list[TermShare]
    """Terms with the largest shares C_j^2 / |C|^2 in the centre C, largest first."""
    discriminating: list[TermShare]
    """Terms with the largest shares in the squared difference between the centre and the mean of all
    other documents. Terms that are less frequent in this cluster are left out."""
    central: list[CentralDocument]
    """Documents that are nearest to the centre."""
    classes: dict[str, int] | None = None
    """Number of documents of each class, largest first. None if classes are unknown."""
    name: str = ""
    """Name made of the phrases that distinguish the cluster from its neighbours, or by a namer."""


def describe(
    documents: WeightedDocuments,
    labels: NDArray[np.int32],
    corpus: Corpus,
    *,
    n_clusters: int,
    n_terms: int,
    n_central: int,
) -> list[DocumentCluster]:
    """Describe each cluster of documents."""
    rows = documents.rows
    sizes = np.bincount(labels, minlength=n_clusters)
    sums = _sums(rows, labels, n_clusters)
    total = np.asarray(rows.sum(axis=0)).ravel()
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    clusters = []
    for number in range(n_clusters):
        composite = sums[[number]].toarray().ravel()
        cosines = _cosines(rows[members[number]], composite)
        clusters.append(
            DocumentCluster(
                number=number,
                size=int(sizes[number]),
                similarity=float(cosines.mean()) if len(cosines) else 0.0,
                descriptive=_largest(composite**2, documents.terms, n_terms),
                discriminating=_discriminating(
                    composite, total, sizes, number, documents.terms, n_terms
                ),
                central=_central(members[number], cosines, corpus, n_central),
                classes=_class_counts(members[number], corpus.classes),
            )
        )
    return clusters


def _sums(rows: csr_array, labels: NDArray[np.int32], n_clusters: int) -> csr_array:
    """Return the sum of the rows of each cluster."""
    n = len(labels)
    membership = csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    return csr_array(membership @ rows)


def _cosines(rows: csr_array, composite: Floats) -> Floats:
    length = float(np.linalg.norm(composite))
    return np.asarray(rows @ (composite / length if length > 0 else composite))


def _discriminating(
    composite: Floats,
    total: Floats,
    sizes: NDArray[np.int64],
    number: int,
    terms: Sequence[str],
    n_terms: int,
) -> list[TermShare]:
    size, n_others = sizes[number], sizes.sum() - sizes[number]
    if size == 0 or n_others == 0:
        return []
    # If a term occurs only in this cluster, the difference is a rounding error. It must be 0.
    others = (
        np.where(np.isclose(total, composite, rtol=1e-12, atol=0.0), 0.0, total - composite) / n_others
    )
    difference = composite / size - others
    return _largest(difference**2, terms, n_terms, among=difference > 0)


def _largest(
    squares: Floats, terms: Sequence[str], n_terms: int, among: NDArray[np.bool_] | None = None
) -> list[TermShare]:
    """Return the terms with the largest shares in the sum of squares; ties are in column order."""
    total = float(squares.sum())
    if total <= 0:
        return []
    shares = squares / total
    candidates = np.flatnonzero(shares > 0 if among is None else among & (shares > 0))
    order = candidates[np.argsort(-shares[candidates], kind="stable")[:n_terms]]
    return [TermShare(terms[j], float(shares[j])) for j in order]


def _central(
    members: NDArray[np.int64], cosines: Floats, corpus: Corpus, n_central: int
) -> list[CentralDocument]:
    order = np.argsort(-cosines, kind="stable")[:n_central]
    return [
        CentralDocument(
            name=corpus.names[members[i]],
            similarity=float(cosines[i]),
            snippet=None if corpus.texts is None else _snippet(corpus.texts[members[i]]),
        )
        for i in order
        if cosines[i] > 0
    ]


def _snippet(text: str) -> str:
    words = " ".join(text[:SNIPPET_SOURCE_LENGTH].split())
    return words if len(words) <= SNIPPET_LENGTH else words[: SNIPPET_LENGTH - 3].rstrip() + "..."


def _class_counts(members: NDArray[np.int64], classes: list[str | None] | None) -> dict[str, int] | None:
    if classes is None:
        return None
    known = (classes[i] for i in members)
    return dict(Counter(one for one in known if one is not None).most_common())
