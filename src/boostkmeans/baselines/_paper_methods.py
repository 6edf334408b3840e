"""Estimators for the rows of the paper's table of document clustering."""

from collections.abc import Callable
from typing import Any

from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans.baselines._bisecting import BisectingKMeans
from boostkmeans.baselines._kmeans import KMeans
from boostkmeans.baselines._mini_batch import MiniBatchKMeans
from boostkmeans.baselines._online import OnlineKMeans
from boostkmeans.baselines._rbk import RBK

Method = Callable[[int, int | None], Any]
"""Function of `(n_clusters, random_state)` that returns an unfitted estimator."""


def _method(estimator: Callable[..., CentreModel], **settings: Any) -> Method:
    def create(n_clusters: int, random_state: int | None) -> CentreModel:
        return estimator(n_clusters, random_state=random_state, **settings)

    return create


# The paper's k-way method compares with all clusters, without repair and annealing.
_PLAIN: dict[str, Any] = {"n_candidates": None, "repair": False, "annealing": 0}

PAPER_METHODS: dict[str, Method] = {
    "k-means": _method(KMeans, init="random"),
    "k-means++": _method(KMeans, init="k-means++"),
    "Mini-Batch": _method(MiniBatchKMeans),
    "LVQ": _method(OnlineKMeans),
    "BKM(non)": _method(BoostKMeans, init="random-partition", **_PLAIN),
    "BKM(rnd)+Fast": _method(BoostKMeans, init="random", moves="first", **_PLAIN),
    "BsKM": _method(BisectingKMeans, init="random"),
    "BsKM++": _method(BisectingKMeans, init="k-means++"),
    "BsBKM(non)": _method(BisectingBoostKMeans, init="random-partition"),
    "RBK": _method(RBK),
}
"""Methods by their names in the paper, in the order of its table. Each is a function of `(n_clusters,
random_state)` that returns an unfitted estimator."""
