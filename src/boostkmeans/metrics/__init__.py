"""Measures of clusterings and of searches, for dense arrays and SciPy's sparse matrices.

Without classes: `average_distortion`, the objectives `i1` and `i2`, CLUTO's criteria for documents
(`document_criterion`), `silhouette` and `simplified_silhouette`. With classes: `entropy` and
`purity`; normalized mutual information and the adjusted Rand index are in `sklearn.metrics`
(`normalized_mutual_info_score`, `adjusted_rand_score`). For searches: `recall_at`; `exact_neighbors`,
which computes the ground truth; `evaluate_search`, which runs and measures a search among codes; and
`size_imbalance`, the slow-down caused by clusters of uneven size.

>>> import numpy as np
>>> from boostkmeans import metrics
>>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
>>> round(metrics.average_distortion(X, [0, 0, 0, 1, 1, 1]), 4)
2.6667
"""

from boostkmeans.metrics._classes import entropy, purity
from boostkmeans.metrics._criteria import document_criterion
from boostkmeans.metrics._objectives import average_distortion, i1, i2, size_imbalance
from boostkmeans.metrics._recall import recall_at
from boostkmeans.metrics._search_evaluation import SearchEvaluation, evaluate_search
from boostkmeans.metrics._silhouette import Silhouette, silhouette, simplified_silhouette
from boostkmeans.quantization import Neighbors, exact_neighbors

__all__ = [
    "Neighbors",
    "SearchEvaluation",
    "Silhouette",
    "average_distortion",
    "document_criterion",
    "entropy",
    "evaluate_search",
    "exact_neighbors",
    "i1",
    "i2",
    "purity",
    "recall_at",
    "silhouette",
    "simplified_silhouette",
    "size_imbalance",
]
