"""Names of the clusters of a corpus, from its texts or from the terms of a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._names.central import NO_TEXT, NO_TEXTS
from boostkmeans.documents._names.cluster_names import source_of_texts
from boostkmeans.documents._names.namer import Namer
from boostkmeans.documents._names.naming import ClusterNames, Source, make_names
from boostkmeans.documents._names.phrase_shares import PhraseShares
from boostkmeans.documents._names.phrases import stop_word_set
from boostkmeans.documents._names.sample import Ints
from boostkmeans.documents._weighting import WeightedDocuments
from boostkmeans.documents._weighting_options import Weighting


def name_documents(
    corpus: Corpus,
    documents: WeightedDocuments,
    model: Any,
    weighting: Weighting | None,
    namer: Namer | None,
    n_terms: int,
    progress: ProgressCallback,
) -> ClusterNames:
    """Name the clusters of a fitted model by their texts, or by the terms of a matrix."""
    labels, n_clusters = model.labels_.astype(np.int64), len(model.cluster_sizes_)
    given = None if weighting is None else weighting.stop_words
    stop_words = "english" if given is None else given
    if corpus.texts is not None:
        source = source_of_texts(corpus.texts, labels, n_clusters, stop_words, progress)
    else:
        progress("naming clusters", 0, None)
        source = _source_of_matrix(documents.rows, documents.terms, labels, n_clusters, stop_words)
    return make_names(source, None, getattr(model, "tree_", None), namer, n_terms, progress)


def _source_of_matrix(
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
