"""What clusters are about: the terms that make up their centres, and the documents nearest to these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._weighting import WeightedDocuments

# Characters of a text that are shown, and those that are looked at for them.
SNIPPET, LOOKED_AT = 80, 400

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TermShare:
    """A term, and its share in what makes up a cluster or sets it apart, from 0 to 1."""

    term: str
    share: float


@dataclass(frozen=True)
class CentralDocument:
    """A document near the centre of its cluster."""

    name: str
    similarity: float
    """Its cosine to the centre."""
    snippet: str | None = None
    """How its text begins; None for a row of a matrix."""


@dataclass(frozen=True)
class DocumentCluster:
    """What one of the clusters is about."""

    number: int
    """Its label."""
    size: int
    similarity: float
    """Mean cosine of its documents to its centre: 1 if they are all alike."""
    descriptive: list[TermShare]
    """Terms that make up the centre C: their shares C_j^2 / |C|^2."""
    discriminating: list[TermShare]
    """Terms that set it apart: their shares in the squared difference between its centre and the mean of
    all other documents. Only those that are more frequent here."""
    central: list[CentralDocument]
    classes: dict[str, int] | None = None
    """How many of its documents are of which class, the largest first; None if classes are unknown."""


def describe(
    documents: WeightedDocuments,
    labels: NDArray[np.int32],
    corpus: Corpus,
    *,
    n_clusters: int,
    n_terms: int,
    n_central: int,
) -> list[DocumentCluster]:
    """Each cluster of documents with such labels."""
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
                discriminating=_setting_apart(composite, total, sizes, number, documents.terms, n_terms),
                central=_nearest(members[number], cosines, corpus, n_central),
                classes=_class_counts(members[number], corpus.classes),
            )
        )
    return clusters


def _sums(rows: csr_array, labels: NDArray[np.int32], n_clusters: int) -> csr_array:
    """The sum of the rows of each cluster."""
    n = len(labels)
    membership = csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    return csr_array(membership @ rows)


def _cosines(rows: csr_array, composite: Floats) -> Floats:
    length = float(np.linalg.norm(composite))
    return np.asarray(rows @ (composite / length if length > 0 else composite))


def _setting_apart(
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
    # Where a term occurs in this cluster alone, what is left of the sum is rounding: 0, not -1e-17.
    others = (
        np.where(np.isclose(total, composite, rtol=1e-12, atol=0.0), 0.0, total - composite) / n_others
    )
    apart = composite / size - others
    return _largest(apart**2, terms, n_terms, among=apart > 0)


def _largest(
    squares: Floats, terms: Sequence[str], n_terms: int, among: NDArray[np.bool_] | None = None
) -> list[TermShare]:
    """The terms with the largest shares in the sum of squares; equal ones in the order of columns."""
    whole = float(squares.sum())
    if whole <= 0:
        return []
    shares = squares / whole
    candidates = np.flatnonzero(shares > 0 if among is None else among & (shares > 0))
    order = candidates[np.argsort(-shares[candidates], kind="stable")[:n_terms]]
    return [TermShare(terms[j], float(shares[j])) for j in order]


def _nearest(
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
    words = " ".join(text[:LOOKED_AT].split())
    return words if len(words) <= SNIPPET else words[: SNIPPET - 3].rstrip() + "..."


def _class_counts(members: NDArray[np.int64], classes: list[str | None] | None) -> dict[str, int] | None:
    if classes is None:
        return None
    known = (classes[i] for i in members)
    return dict(Counter(one for one in known if one is not None).most_common())
