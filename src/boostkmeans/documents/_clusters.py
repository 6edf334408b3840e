"""`cluster_documents`: weighs terms, clusters documents, and says what the clusters are about."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import normalized_mutual_info_score

from boostkmeans import metrics
from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, visible_log
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._description import DocumentCluster, describe
from boostkmeans.documents._listing import listing
from boostkmeans.documents._weighting import WeightedDocuments, Weighting, tfidf

METHODS = ("bisecting", "refined", "k-way")
# Those with sweeps after the start, which are what `quality` is about.
SWEEPING = ("refined", "k-way")


@dataclass(frozen=True)
class DocumentClusters:
    """The result of `cluster_documents`. As a string, it is a listing for a terminal."""

    labels: NDArray[np.int32]
    """The cluster of each document."""
    clusters: list[DocumentCluster]
    scores: dict[str, float] | None
    """Against the classes: "entropy" (0 is best), "purity" and "nmi" (1 is best). None if they are
    unknown."""
    model: BoostKMeans | BisectingBoostKMeans
    documents: WeightedDocuments
    """The unit rows that the model was fitted to, and their terms."""
    corpus: Corpus
    method: str

    @property
    def empty(self) -> list[str]:
        """Names of documents without terms that count. They are in some cluster, but might be in any."""
        return [self.corpus.names[i] for i in self.documents.empty]

    def to_dict(self) -> dict[str, Any]:
        """All but the model and the rows, in types that JSON knows."""
        return {
            "source": self.corpus.source,
            "method": self.method,
            "n_documents": len(self.labels),
            "n_terms": len(self.documents.terms),
            "n_nonzeros": int(self.documents.rows.nnz),
            "n_blank": self.corpus.n_blank,
            "skipped": [asdict(document) for document in self.corpus.skipped],
            "empty": self.empty,
            "inertia": float(self.model.inertia_),
            "scores": self.scores,
            "clusters": [asdict(cluster) for cluster in self.clusters],
            "names": self.corpus.names,
            "labels": self.labels.tolist(),
        }

    def table(self) -> str:
        """The clusters as a listing for a terminal. Nothing in it can play tricks on the terminal."""
        return listing(self.to_dict())

    def __str__(self) -> str:
        return self.table()


def cluster_documents(
    corpus: Corpus | Sequence[str],
    n_clusters: int,
    *,
    method: str = "bisecting",
    weighting: Weighting | None = None,
    n_terms: int = 10,
    n_central: int = 5,
    n_init: int = 1,
    quality: str | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
    verbose: int = 0,
) -> DocumentClusters:
    """Clusters documents by the directions of their TF-IDF vectors, and describes the clusters.

    Parameters
    ----------
    corpus : Corpus or sequence of str
        The documents: from `read_corpus`, or their texts.
    n_clusters : int
        The number of clusters, k.
    method : {"bisecting", "refined", "k-way"}, default="bisecting"
        "bisecting": `BisectingBoostKMeans`, a tree of splits, the fastest; "refined": the same with
        sweeps of boost k-means after it; "k-way": `BoostKMeans`, which starts as it sees fit.
    weighting : Weighting, default=None
        Which terms count, and how much. None: as `Weighting()`.
    n_terms, n_central : int, default=10, 5
        Terms, and central documents, that a cluster is described by.
    quality : {"fast", "balanced", "best"}, default=None
        As in `BoostKMeans`; for "refined" and "k-way" only. None: "balanced".
    n_init, random_state, n_threads
        As in `BoostKMeans`.
    progress : callable, default=None
        Called as `progress(what, done, total)`.
    verbose : int, default=0
        Above 0, progress goes to the logger "boostkmeans", and to stderr if logging is not set up.

    Examples
    --------
    >>> from boostkmeans.documents import cluster_documents
    >>> texts = ["red rose", "a rose is red", "blue sea", "the deep blue sea"]
    >>> found = cluster_documents(texts, 2, random_state=0)
    >>> bool(found.labels[0] == found.labels[1] != found.labels[2])
    True
    >>> [term.term for term in found.clusters[found.labels[0]].descriptive[:2]]
    ['red', 'rose']
    """
    documents = corpus if isinstance(corpus, Corpus) else Corpus.from_texts(corpus)
    _check(documents, n_clusters, method, n_terms, n_central)
    _check_quality(method, quality)
    show = progress or ignore_progress
    model = _model(method, n_clusters, n_init, quality, random_state, n_threads, verbose)
    with visible_log(verbose):
        weighted = tfidf(documents, weighting, progress=show)
        fitted = _fitted(model, weighted, show)
        show("describing clusters", 0, None)
        clusters = describe(
            weighted,
            fitted.labels_,
            documents,
            n_clusters=len(fitted.cluster_sizes_),
            n_terms=n_terms,
            n_central=n_central,
        )
    return DocumentClusters(
        labels=fitted.labels_,
        clusters=clusters,
        scores=scores_against(documents.classes, fitted.labels_),
        model=fitted,
        documents=weighted,
        corpus=documents,
        method=method,
    )


def scores_against(
    classes: list[str | None] | None, labels: NDArray[np.int32]
) -> dict[str, float] | None:
    """Entropy, purity and normalised mutual information, over the documents whose class is known."""
    truth = [one for one in classes or () if one is not None]
    if classes is None or not truth:
        return None
    found = labels[[one is not None for one in classes]]
    return {
        "entropy": metrics.entropy(truth, found),
        "purity": metrics.purity(truth, found),
        "nmi": float(normalized_mutual_info_score(truth, found)),
    }


def _check(corpus: Corpus, n_clusters: int, method: str, n_terms: int, n_central: int) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}. Got {method!r}.")
    for name, value, low in (
        ("n_clusters", n_clusters, 1),
        ("n_terms", n_terms, 0),
        ("n_central", n_central, 0),
    ):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            raise ValueError(f"{name} must be an int in the range [{low}, inf). Got {value!r}.")
    if n_clusters > len(corpus):
        left = f", after {len(corpus.skipped)} that were skipped" if corpus.skipped else ""
        raise ValueError(
            f"{n_clusters} clusters need as many documents, but {corpus.source} has only "
            f"{len(corpus)}{left}."
        )


def _check_quality(method: str, quality: str | None) -> None:
    if quality is not None and method not in SWEEPING:
        raise ValueError(
            f"quality is for the methods {' and '.join(map(repr, SWEEPING))}: with {method!r} it would "
            "change nothing. Leave it out, or choose one of these methods."
        )


def _model(
    method: str,
    n_clusters: int,
    n_init: int,
    quality: str | None,
    random_state: int | np.random.RandomState | None,
    n_threads: int | None,
    verbose: int,
) -> BoostKMeans | BisectingBoostKMeans:
    common: dict[str, Any] = {
        "metric": "cosine",
        "n_init": n_init,
        "quality": "balanced" if quality is None else quality,
        "random_state": random_state,
        "n_threads": n_threads,
        "verbose": verbose,
    }
    if method == "k-way":
        return BoostKMeans(n_clusters, **common)
    return BisectingBoostKMeans(n_clusters, refine=method == "refined", **common)


def _fitted(
    model: BoostKMeans | BisectingBoostKMeans, documents: WeightedDocuments, progress: ProgressCallback
) -> BoostKMeans | BisectingBoostKMeans:
    n_sweeps = 0

    def count(record: SweepRecord) -> None:
        nonlocal n_sweeps
        n_sweeps += 1
        progress(f"clustering: sweep {n_sweeps}", n_sweeps, None)

    progress("clustering", 0, None)
    model.callback = count
    try:
        return model.fit(documents.rows)
    finally:
        model.callback = None  # so that the model can be pickled and used again
