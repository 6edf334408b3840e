"""What is in a model file: tables of its arrays and numbers, and nothing else."""

from typing import Any, NamedTuple

import numpy as np

from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.clusterer import Clusterer

FORMAT = "boostkmeans-model"
VERSION = 1


class Tensor(NamedTuple):
    """An array of a file. Its dimensions are names: those of the same name are of the same length."""

    dtype: type[np.generic]
    dimensions: tuple[str, ...]
    low: float = -np.inf
    below: str | None = None
    """The dimension that all values are below."""
    may_be_infinite: bool = False
    of_rows: bool = False
    """Whether a file without labels does without it."""


class Attribute(NamedTuple):
    """A fitted attribute, and whose it is."""

    name: str
    kind: str
    """The method of `Fields` that reads it."""
    owner: type[Any]


# By its name in the file: an attribute of the estimator.
ARRAYS: dict[str, tuple[str, type[Any], Tensor]] = {
    "cluster_centers": ("cluster_centers_", CentreModel, Tensor(np.float64, ("k", "d"))),
    "cluster_sizes": ("cluster_sizes_", CentreModel, Tensor(np.int64, ("k",), 0)),
    "cluster_weights": (
        "_cluster_weights", Clusterer, Tensor(np.float64, ("k",), 0, may_be_infinite=True)
    ),
    "labels": ("labels_", CentreModel, Tensor(np.int32, ("n",), 0, "k", of_rows=True)),
}  # fmt: skip

SHIFT, SHIFT_TENSOR = "frame.shift", Tensor(np.float64, ("d",))

# After the prefix "tree.": the fields of a ClusterTree.
TREE_PREFIX = "tree."
TREE: dict[str, Tensor] = {
    "children": Tensor(np.int32, ("nodes", "sections"), -1, "nodes"),
    "parents": Tensor(np.int32, ("nodes",), -1, "nodes"),
    "splits": Tensor(np.int32, ("splits",), 0, "nodes"),
    "sizes": Tensor(np.int64, ("nodes",), 0),
    "weights": Tensor(np.float64, ("nodes",), 0, may_be_infinite=True),
    "inertia": Tensor(np.float64, ("nodes",), 0, may_be_infinite=True),
    "centers": Tensor(np.float64, ("nodes", "d")),
    "clusters": Tensor(np.int32, ("nodes",), -1, "k"),
    "labels": Tensor(np.int32, ("n",), 0, "k", of_rows=True),
}

ATTRIBUTES = (
    Attribute("inertia_", "number", CentreModel),
    Attribute("distortion_", "number", CentreModel),
    Attribute("n_iter_", "integer", CentreModel),
    Attribute("n_samples_seen_", "integer", Clusterer),
    Attribute("stop_reason_", "string", Clusterer),
    Attribute("converged_", "boolean", Clusterer),
)


# Of the power of two of a frame: those of the smallest and the largest number of float64.
LEAST_EXPONENT, LARGEST_EXPONENT = -1024, 1074
# float64 counts no further.
MOST_ROWS = 2**53
