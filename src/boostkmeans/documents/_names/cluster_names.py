"""`name_clusters`: names of clusters of texts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.documents._names import arguments
from boostkmeans.documents._names.central import central_texts, first_words
from boostkmeans.documents._names.namer import Namer, warn_of_failures
from boostkmeans.documents._names.naming import ClusterNames, Source, make_names
from boostkmeans.documents._names.phrase_shares import count_phrases
from boostkmeans.documents._names.phrases import Phrases, stop_word_set, vocabulary_of
from boostkmeans.documents._names.sample import Ints, sample_members, texts_at
from boostkmeans.documents._names.tree_nodes import Tree


def name_clusters(
    texts: Sequence[str],
    labels: ArrayLike,
    *,
    n_clusters: int | None = None,
    neighbours: Sequence[Sequence[int]] | ArrayLike | None = None,
    tree: Tree | None = None,
    namer: Namer | None = None,
    stop_words: str | Sequence[str] | None = "english",
    n_terms: int = 10,
    progress: ProgressCallback | None = None,
) -> ClusterNames:
    """Name clusters of texts by phrases that are frequent in a cluster and rare in its neighbours.

    A phrase has one to three words, does not begin or end with a stop word, and does not cross
    punctuation. Its weight is its class-based TF-IDF: the share p of the cluster's texts that contain
    it, times log(p / q), where q is its share elsewhere. A name has up to three phrases. It repeats no
    word, and no two clusters have the same name. Large clusters are named by a random sample of their
    texts, so that the time hardly depends on the number of texts.

    Parameters
    ----------
    texts : sequence of str
        Text of each row.
    labels : array-like of shape (n_texts,)
        Cluster of each row.
    n_clusters : int, default=None
        Number of clusters. None means the largest label plus 1.
    neighbours : array-like of shape (n_clusters, n_neighbours) or list of lists, default=None
        Neighbours of each cluster, e.g. those with the nearest centres. None finds them by the phrases.
    tree : ClusterTree, default=None
        Tree of the clusters, e.g. ``BisectingBoostKMeans(...).fit(X).tree_``. Its nodes get names that
        distinguish them from their siblings.
    namer : callable, default=None
        Function called as ``namer(texts, terms)`` for each cluster, with central texts and descriptive
        terms. It returns the name, a line of at most 120 characters. If it fails, the generated name is
        used. Inner nodes of the tree keep their generated names.
    stop_words : {"english"}, sequence of str or None, default="english"
        Words that do not begin or end a phrase. None is suitable for any language.
    n_terms : int, default=10
        Number of descriptive and of distinct terms per cluster.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.

    Returns
    -------
    ClusterNames
        Names and terms.

    Warns
    -----
    RuntimeWarning
        If the namer failed for some clusters.

    Examples
    --------
    >>> from boostkmeans.documents import name_clusters
    >>> texts = ["oil prices rise", "crude oil prices fall", "the striker scored", "a late goal scored"]
    >>> name_clusters(texts, [0, 0, 1, 1]).names
    ['oil prices, rise, crude', 'scored, striker, late goal']
    """
    documents = arguments.as_texts(texts)
    clusters = arguments.as_labels(labels, len(documents))
    n = arguments.as_number_of_clusters(n_clusters, clusters)
    arguments.check_options(n_terms, namer, stop_words)
    arguments.check_tree(tree, n)
    near = None if neighbours is None else arguments.as_neighbours(neighbours, n)
    if n == 0:
        return ClusterNames([], [], [])
    report = progress or ignore_progress
    source = source_of_texts(documents, clusters, n, stop_words, report)
    made = make_names(source, near, tree, namer, n_terms, report)
    warn_of_failures(made.failures, n)
    return made


def source_of_texts(
    texts: Sequence[str],
    labels: Ints,
    n_clusters: int,
    stop_words: str | Sequence[str] | None,
    progress: ProgressCallback,
) -> Source:
    """Count the phrases of texts."""
    members = sample_members(texts, labels, n_clusters)
    vocabulary: set[str] = set()
    for where in members:
        vocabulary |= vocabulary_of(texts_at(texts, where))
    finder = Phrases(stop_word_set(stop_words), vocabulary)
    return Source(
        shares=count_phrases(texts, members, finder, progress),
        sizes=np.bincount(labels, minlength=n_clusters),
        central=lambda cluster, weights, limit: central_texts(
            texts_at(texts, members[cluster]), weights, finder, limit
        ),
        fallback=lambda cluster: first_words(texts_at(texts, members[cluster])),
    )
