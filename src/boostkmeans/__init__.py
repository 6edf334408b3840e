"""Boost k-means: clustering by single moves that raise an explicit objective.

>>> import numpy as np
>>> from boostkmeans import BoostKMeans
>>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
>>> sorted(BoostKMeans(n_clusters=2, random_state=0).fit(X).cluster_centers_.tolist())
[[1.0, 2.0], [10.0, 2.0]]
"""

from importlib.metadata import version as _version

from boostkmeans import baselines, documents, io, metrics, select
from boostkmeans._bisecting import BisectingBoostKMeans
from boostkmeans._boost_kmeans import BoostKMeans
from boostkmeans._errors import DataFormatError
from boostkmeans._history import SweepRecord
from boostkmeans._instruction_set import instruction_set, instruction_sets
from boostkmeans._model_file import load_model
from boostkmeans._tree import ClusterTree

__all__ = [
    "BisectingBoostKMeans",
    "BoostKMeans",
    "ClusterTree",
    "DataFormatError",
    "SweepRecord",
    "baselines",
    "documents",
    "instruction_set",
    "instruction_sets",
    "io",
    "load_model",
    "metrics",
    "select",
]
__version__ = _version("boostkmeans")
