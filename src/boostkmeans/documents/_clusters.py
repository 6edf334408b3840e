"""`cluster_documents`: weight terms, cluster documents and describe the clusters."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import normalized_mutual_info_score

from boostkmeans import metrics
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.criterion_kmeans import CriterionKMeans
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.parameter_checks import check_generator, int_range, one_of
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, visible_log
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans._steps.criteria.criterion import CRITERIA
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._description import DocumentCluster, describe
from boostkmeans.documents._listing import listing
from boostkmeans.documents._model import DocumentModel
from boostkmeans.documents._names.arguments import check_namer
from boostkmeans.documents._names.document_names import name_documents
from boostkmeans.documents._names.namer import Namer, warn_of_failures
from boostkmeans.documents._names.naming import ClusterNames
from boostkmeans.documents._weighting import WeightedDocuments, tfidf
from boostkmeans.documents._weighting_options import Weighting

METHODS = ("bisecting", "refined", "k-way")
# Methods with sweeps after the initialization, which `quality` controls.
SWEEPING_METHODS = ("refined", "k-way")

Estimator = BoostKMeans | BisectingBoostKMeans | CriterionKMeans


@dataclass(frozen=True)
class DocumentClusters:
    """Result of `cluster_documents`. Its string form is a listing for a terminal."""

    __repr__ = short_repr

    labels: NDArray[np.int32]
    """Cluster of each document."""
    clusters: list[DocumentCluster]
    """Description of each cluster."""
    scores: dict[str, float] | None
    """Agreement with the classes: "entropy" (0 is best), "purity" and "nmi" (1 is best). None if the
    classes are unknown."""
    model: Estimator
    """Fitted estimator."""
    documents: WeightedDocuments
    """Unit rows that the model was fitted to, and their terms."""
    corpus: Corpus
    """The documents."""
    method: str
    """Method of the clustering."""
    cluster_names: ClusterNames
    """Names and phrases of the clusters, and names of the nodes of the tree if the model has one."""

    @property
    def empty(self) -> list[str]:
        """Names of the documents without terms. Their clusters are arbitrary."""
        return [self.corpus.names[i] for i in self.documents.empty]

    def to_model(self) -> DocumentModel:
        """Return a model that assigns new documents to the clusters, and can be saved.

        Returns
        -------
        DocumentModel
            The terms, their weights, the fitted estimator and the names of the clusters.
        """
        assert self.documents.weights is not None
        names = [cluster.name for cluster in self.clusters]
        return DocumentModel(self.documents.weights, self.model, names)

    def predict(self, documents: Corpus | Sequence[str]) -> NDArray[np.int32]:
        """Return the cluster of each of some new documents.

        Parameters
        ----------
        documents : Corpus or sequence of str
            New documents, of the same kind as those of the fit.

        Returns
        -------
        ndarray of shape (n_documents,), int32
            Numbers of the clusters. See `DocumentModel.predict`.
        """
        return self.to_model().predict(documents)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, without the documents. See `DocumentModel.save`.

        Parameters
        ----------
        path : path
            Name of the file, such as "model.safetensors". An existing file is replaced.
        """
        self.to_model().save(path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the model and the rows, in types that JSON supports.

        Returns
        -------
        dict
            Facts about the documents, the clusters, and the label of each document.
        """
        return {
            "source": self.corpus.source,
            "method": self.method,
            "criterion": getattr(self.model, "criterion", None),
            "n_documents": len(self.labels),
            "n_terms": len(self.documents.terms),
            "n_nonzeros": int(self.documents.rows.nnz),
            "n_blank": self.corpus.n_blank,
            "skipped": [asdict(document) for document in self.corpus.skipped],
            "empty": self.empty,
            "inertia": float(self.model.inertia_),
            "objective": getattr(self.model, "objective_", None),
            "scores": self.scores,
            "clusters": [asdict(cluster) for cluster in self.clusters],
            "names": self.corpus.names,
            "labels": self.labels.tolist(),
        }

    def table(self) -> str:
        """Return a listing of the clusters for a terminal. Control characters in it are escaped.

        Returns
        -------
        str
            The listing.
        """
        return listing(self.to_dict())

    def __str__(self) -> str:
        return self.table()


def cluster_documents(
    corpus: Corpus | Sequence[str],
    n_clusters: int,
    *,
    method: str = "bisecting",
    criterion: str | None = None,
    weighting: Weighting | None = None,
    n_terms: int = 10,
    n_central: int = 5,
    namer: Namer | None = None,
    n_init: int = 1,
    quality: str | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
    verbose: int = 0,
) -> DocumentClusters:
    """Cluster documents by the cosine of their TF-IDF vectors, and describe the clusters.

    Parameters
    ----------
    corpus : Corpus or sequence of str
        Documents from `read_corpus`, or their texts.
    n_clusters : int
        Number of clusters.
    method : {"bisecting", "refined", "k-way"}, default="bisecting"
        "bisecting" uses `BisectingBoostKMeans`, which is the fastest. "refined" adds sweeps of boost
        k-means to it. "k-way" uses `BoostKMeans`.
    criterion : {"i1", "i2", "e1", "g1", "h1", "h2"}, default=None
        One of CLUTO's criteria, which `CriterionKMeans` optimises by the same methods. None uses boost
        k-means as described above, which minimises the inertia.
    weighting : Weighting, default=None
        Selection and weights of the terms. None means ``Weighting()``.
    n_terms : int, default=10
        Number of descriptive and of discriminating terms per cluster.
    n_central : int, default=5
        Number of central documents per cluster.
    namer : callable, default=None
        Function called as ``namer(texts, terms)`` for each cluster, with central texts and descriptive
        terms. It returns the name, as in `name_clusters`. None generates the names.
    n_init : int, default=1
        Number of runs with different random numbers. The result is the run with the lowest inertia, or
        with the best value of the criterion.
    quality : {"fast", "balanced", "best"}, default=None
        Quality of `BoostKMeans`, only for the methods "refined" and "k-way" without a criterion. None
        means "balanced".
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.
    verbose : int, default=0
        1 shows the progress on one line of the terminal, or as a bar in a notebook. 2 shows all
        messages as lines on stderr. Messages go to the logger "boostkmeans" instead if logging is
        configured, and are lines if stderr is a file.

    Returns
    -------
    DocumentClusters
        Labels, descriptions of the clusters, scores, and the fitted model.

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
    _check_parameters(documents, n_clusters, method, n_terms, n_central)
    _check_quality(method, criterion, quality)
    check_generator(random_state, "cluster_documents")
    check_namer(namer, "cluster_documents")
    report = progress or ignore_progress
    model = _estimator(method, criterion, n_clusters, n_init, quality, random_state, n_threads, verbose)
    with visible_log(verbose):
        weighted = tfidf(documents, weighting, progress=report)
        fitted = _fit(model, weighted, report)
        names = name_documents(documents, weighted, fitted, weighting, namer, n_terms, report)
        report("describing clusters", 0, None)
        clusters = describe(
            weighted,
            fitted.labels_,
            documents,
            n_clusters=len(fitted.cluster_sizes_),
            n_terms=n_terms,
            n_central=n_central,
        )
    warn_of_failures(names.failures, len(clusters))
    return DocumentClusters(
        labels=fitted.labels_,
        clusters=[replace(one, name=name) for one, name in zip(clusters, names.names, strict=True)],
        scores=scores_against(documents.classes, fitted.labels_),
        model=fitted,
        documents=weighted,
        corpus=documents,
        method=method,
        cluster_names=names,
    )


def scores_against(
    classes: list[str | None] | None, labels: NDArray[np.int32]
) -> dict[str, float] | None:
    """Compute entropy, purity and normalized mutual information over documents of known class."""
    truth = [one for one in classes or () if one is not None]
    if classes is None or not truth:
        return None
    found = labels[[one is not None for one in classes]]
    return {
        "entropy": metrics.entropy(truth, found),
        "purity": metrics.purity(truth, found),
        "nmi": float(normalized_mutual_info_score(truth, found)),
    }


def _check_parameters(
    corpus: Corpus, n_clusters: int, method: str, n_terms: int, n_central: int
) -> None:
    if method not in METHODS:
        raise ParameterError("method", one_of(METHODS), method, owner="cluster_documents")
    for name, value, low in (
        ("n_clusters", n_clusters, 1),
        ("n_terms", n_terms, 0),
        ("n_central", n_central, 0),
    ):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            raise ParameterError(name, int_range(low), value, owner="cluster_documents")
    if n_clusters > len(corpus):
        skipped = f" ({len(corpus.skipped)} were skipped)" if corpus.skipped else ""
        raise ParameterConflictError(
            Message(
                "{n_clusters} is more than the {n} documents of {source}{skipped}.",
                n_clusters=Parameter("n_clusters", n_clusters),
                n=len(corpus),
                source=corpus.source,
                skipped=skipped,
            )
        )


def _check_quality(method: str, criterion: str | None, quality: str | None) -> None:
    if criterion is not None and criterion not in CRITERIA:
        raise ParameterError("criterion", one_of(CRITERIA), criterion, owner="cluster_documents")
    if quality is not None and criterion is not None:
        raise ParameterConflictError(
            Message(
                "{quality} has no effect with {criterion}.",
                quality=Parameter("quality"),
                criterion=Parameter("criterion"),
            ),
            remedy="Omit one of them.",
        )
    if quality is not None and method not in SWEEPING_METHODS:
        raise ParameterConflictError(
            Message(
                "{quality} has no effect with the method {method!r}.",
                quality=Parameter("quality"),
                method=method,
            ),
            remedy=f"Omit it, or choose the method {' or '.join(map(repr, SWEEPING_METHODS))}.",
        )


def _estimator(
    method: str,
    criterion: str | None,
    n_clusters: int,
    n_init: int,
    quality: str | None,
    random_state: int | np.random.RandomState | None,
    n_threads: int | None,
    verbose: int,
) -> Estimator:
    common: dict[str, Any] = {
        "n_init": n_init,
        "random_state": random_state,
        "n_threads": n_threads,
        "verbose": verbose,
    }
    if criterion is not None:
        return CriterionKMeans(n_clusters, criterion=criterion, method=method, **common)
    common |= {"metric": "cosine", "quality": "balanced" if quality is None else quality}
    if method == "k-way":
        return BoostKMeans(n_clusters, **common)
    return BisectingBoostKMeans(n_clusters, refine=method == "refined", **common)


def _fit(model: Estimator, documents: WeightedDocuments, progress: ProgressCallback) -> Estimator:
    n_sweeps = 0

    def count(record: Any) -> None:
        nonlocal n_sweeps
        n_sweeps += 1
        progress(f"clustering: sweep {n_sweeps}", n_sweeps, None)

    progress("clustering", 0, None)
    model.callback = count
    try:
        return model.fit(documents.rows)
    finally:
        model.callback = None  # a local function cannot be pickled
