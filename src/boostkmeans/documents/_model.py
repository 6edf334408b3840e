"""`DocumentModel`: clusters of documents, applied to new documents."""

import os
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.criterion_kmeans import CriterionKMeans
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._model_file import read_document_model, write_document_model
from boostkmeans.documents._term_weights import TermWeights

Clusterer = BoostKMeans | BisectingBoostKMeans | CriterionKMeans


class DocumentModel:
    """Clusters of documents: terms, their weights, centres and names.

    `DocumentClusters.to_model` creates it, and `boostkmeans.load_model` loads it from a file.

    Parameters
    ----------
    weights : TermWeights
        Terms and their weights.
    clusterer : BoostKMeans, BisectingBoostKMeans or CriterionKMeans
        Fitted estimator.
    cluster_names : list of str
        Name of each cluster.

    Examples
    --------
    >>> from boostkmeans.documents import cluster_documents
    >>> texts = ["red rose", "a rose is red", "blue sea", "the deep blue sea"]
    >>> found = cluster_documents(texts, 2, random_state=0)
    >>> labels = found.to_model().predict(["a red tulip", "the sea"])
    >>> bool(labels[0] == found.labels[0]), bool(labels[1] == found.labels[2])
    (True, True)
    """

    def __init__(self, weights: TermWeights, clusterer: Clusterer, cluster_names: list[str]) -> None:
        self.weights = weights
        self.clusterer = clusterer
        self.cluster_names = cluster_names

    def __repr__(self) -> str:
        k, n = len(self.cluster_names), len(self.weights.terms)
        return f"DocumentModel({k} clusters, {n} terms, {self.clusterer!r})"

    def transform(
        self, documents: Corpus | Sequence[str], *, progress: ProgressCallback | None = None
    ) -> csr_array:
        """Return the weighted terms of documents as rows of length 1.

        Parameters
        ----------
        documents : Corpus or sequence of str
            Documents, as texts or as a matrix, like those of the fit. The columns of a matrix are found
            by their names, or by their numbers if they have no names.
        progress : callable, default=None
            Function called as ``progress(what, done, total)`` while terms are counted.

        Returns
        -------
        csr_array of shape (n_documents, n_terms)
            The rows. The row of a document without known terms is 0.
        """
        corpus = documents if isinstance(documents, Corpus) else Corpus.from_texts(documents)
        return self.weights.weigh(self.weights.count(corpus, progress or ignore_progress))

    def predict(
        self, documents: Corpus | Sequence[str], *, progress: ProgressCallback | None = None
    ) -> NDArray[np.int32]:
        """Return the cluster of each document: the one with the nearest centre.

        Parameters
        ----------
        documents : Corpus or sequence of str
            Documents, as in `transform`.
        progress : callable, default=None
            Function called as ``progress(what, done, total)`` while terms are counted.

        Returns
        -------
        ndarray of shape (n_documents,), int32
            Numbers of the clusters. The cluster of a document without known terms is arbitrary.
        """
        return self.clusterer.predict(self.transform(documents, progress=progress))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file in the safetensors format.

        The file has the terms, their weights, the centres and the names, but neither documents nor
        labels. An existing file is replaced atomically.

        Parameters
        ----------
        path : path
            Name of the file.
        """
        write_document_model(path, self.weights, self.clusterer, self.cluster_names)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that `save` wrote. Nothing in the file is executed.

        Parameters
        ----------
        path : path
            Name of the file.

        Returns
        -------
        DocumentModel
            The model, which gives the same results as the saved one.

        Raises
        ------
        DataFormatError
            If the file is damaged, or not the file of a document model.
        """
        return cls(*read_document_model(path))
