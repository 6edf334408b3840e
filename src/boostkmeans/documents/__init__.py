"""Clustering of documents: reading, TF-IDF weighting, clustering, names and descriptions of clusters.

>>> from boostkmeans.documents import cluster_documents
>>> texts = ["the cat purrs", "a cat and a kitten", "stocks fell", "bonds and stocks rose"]
>>> cluster_documents(texts, 2, random_state=0).clusters[0].size
2
"""

from boostkmeans._engine.criterion_history import CriterionRecord
from boostkmeans._estimators.criterion_kmeans import CriterionKMeans
from boostkmeans.documents._clusters import DocumentClusters, cluster_documents
from boostkmeans.documents._comparison import compare_documents
from boostkmeans.documents._corpus import Corpus, Skipped
from boostkmeans.documents._description import CentralDocument, DocumentCluster, TermShare
from boostkmeans.documents._model import DocumentModel
from boostkmeans.documents._names.cluster_names import name_clusters
from boostkmeans.documents._names.naming import ClusterNames
from boostkmeans.documents._reading import read_corpus
from boostkmeans.documents._term_weights import TermWeights
from boostkmeans.documents._weighting import WeightedDocuments, tfidf
from boostkmeans.documents._weighting_options import Weighting

__all__ = [
    "CentralDocument",
    "ClusterNames",
    "Corpus",
    "CriterionKMeans",
    "CriterionRecord",
    "DocumentCluster",
    "DocumentClusters",
    "DocumentModel",
    "Skipped",
    "TermShare",
    "TermWeights",
    "WeightedDocuments",
    "Weighting",
    "cluster_documents",
    "compare_documents",
    "name_clusters",
    "read_corpus",
    "tfidf",
]
