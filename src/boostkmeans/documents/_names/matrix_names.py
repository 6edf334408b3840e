"""Names of clusters of documents that are rows of a matrix, from the terms of its columns."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from boostkmeans.documents._names.central import NO_TEXT, NO_TEXTS
from boostkmeans.documents._names.naming import Source
from boostkmeans.documents._names.phrase_shares import PhraseShares
from boostkmeans.documents._names.phrases import stop_word_set
from boostkmeans.documents._names.sample import Ints


def source_of_matrix(
    rows: csr_array,
    terms: Sequence[str],
    labels: Ints,
    n_clusters: int,
    stop_words: str | Sequence[str] | None,
) -> Source:
    """Compute the share of the rows of each cluster that have each term."""
    n, sizes = len(labels), np.bincount(labels, minlength=n_clusters)
    words = stop_word_set(stop_words)
    kept = np.array([term.lower() not in words for term in terms], dtype=np.float64)
    has = csr_array((kept[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
    values = 1 / np.maximum(sizes, 1)
    members = csr_array((values[labels], (labels, np.arange(n))), shape=(n_clusters, n))
    shares = csr_array(members @ has)
    shares.eliminate_zeros()
    written = {i: term for i, term in enumerate(terms) if term != term.lower()}
    return Source(
        shares=PhraseShares(shares, [term.lower() for term in terms], [written] * n_clusters),
        sizes=sizes,
        central=lambda cluster, weights, limit: [],
        fallback=lambda cluster: NO_TEXT if sizes[cluster] else NO_TEXTS,
    )
