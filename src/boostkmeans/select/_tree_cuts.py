"""Clusterings with several numbers of clusters from one bisecting tree."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from boostkmeans._data.frame import Array
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans

# Settings of the refinement for each k: sufficient to compare numbers of clusters, not to converge.
REFINEMENT: dict[str, Any] = {"repair": 2, "annealing": 0, "tol": 1e-3, "max_iter": 12}


@dataclass(frozen=True)
class TreeCuts:
    """Bisecting tree whose cuts are the starting points for all numbers of clusters."""

    array: Array
    tree: BisectingBoostKMeans
    seed: int
    options: dict[str, Any]
    """Parameters of all estimators: `metric` and `n_threads`."""

    @classmethod
    def grow(
        cls, array: Array, max_clusters: int, rng: np.random.RandomState, options: dict[str, Any]
    ) -> Self:
        """Grow a tree with `max_clusters` leaves."""
        seed = int(rng.randint(2**31 - 1))
        tree = BisectingBoostKMeans(max_clusters, split="inertia", random_state=seed, **options)
        # If there are fewer distinct rows than leaves, the tree has fewer leaves. `refine` handles this.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return cls(array, tree.fit(array), seed, options)

    def refine(self, k: int) -> BoostKMeans:
        """Cut the tree at k clusters and refine them by a few sweeps."""
        labels = self.tree.cut(min(k, len(self.tree.cluster_sizes_)))
        n_clusters = int(labels.max()) + 1
        model = BoostKMeans(
            n_clusters, init=labels, random_state=self.seed, **REFINEMENT, **self.options
        )
        return model.fit(self.array)
