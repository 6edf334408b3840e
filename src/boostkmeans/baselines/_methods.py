"""All methods by name, and groups of methods."""

from collections.abc import Callable
from typing import Any

from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.criterion_kmeans import CriterionKMeans
from boostkmeans._steps.criteria.criterion import CRITERIA
from boostkmeans.baselines._bisecting import BisectingKMeans
from boostkmeans.baselines._kmeans import KMeans
from boostkmeans.baselines._mini_batch import MiniBatchKMeans
from boostkmeans.baselines._online import OnlineKMeans
from boostkmeans.baselines._rbk import RBK
from boostkmeans.baselines._refined import PLAIN, Refined
from boostkmeans.baselines._scikit_learn.bisecting import ScikitLearnBisectingKMeans
from boostkmeans.baselines._scikit_learn.kmeans import ScikitLearnKMeans
from boostkmeans.baselines._scikit_learn.mini_batch import ScikitLearnMiniBatchKMeans

Method = Callable[[int, int | None], Any]
"""Function of `(n_clusters, random_state)` that returns an unfitted estimator."""

# The paper's Algorithm 2: all rows of a set, until no row moves.
EXACT: dict[str, Any] = {"sample": None, "max_passes": None}
# End of the name of a tree that is refined by the paper's Algorithm 1.
REFINED = ", refined"


def _method(estimator: Callable[..., CentreModel], **settings: Any) -> Method:
    def create(n_clusters: int, random_state: int | None) -> CentreModel:
        return estimator(n_clusters, random_state=random_state, **settings)

    return create


def _refined(tree: Method) -> Method:
    def create(n_clusters: int, random_state: int | None) -> Refined:
        # The paper's Table 2 compares refined trees by l2, also those that were built by the cosine.
        return Refined(tree(n_clusters, random_state), metric="euclidean", random_state=random_state)

    return create


_OURS: dict[str, Method] = {
    "boost-fast": _method(BoostKMeans, quality="fast"),
    "boost-balanced": _method(BoostKMeans, quality="balanced"),
    "boost-best": _method(BoostKMeans, quality="best"),
    "bisecting": _method(BisectingBoostKMeans),
    "refined": _method(BisectingBoostKMeans, refine=True),
}
# The paper's k-means++ is the published one, with one candidate per centre. `KMeans`, `BisectingKMeans`
# and the splits of trees always use it. The "k-means++" of `BoostKMeans` is greedy.
_K_WAY: dict[str, Method] = {
    "k-means": _method(KMeans, init="random"),
    "k-means++": _method(KMeans, init="k-means++"),
    "Mini-Batch": _method(MiniBatchKMeans),
    "Mini-Batch, 10 % in total": _method(MiniBatchKMeans, share_of="total"),
    "LVQ": _method(OnlineKMeans),
    "BKM(non)": _method(BoostKMeans, init="random-partition", **PLAIN),
    "BKM(rnd)": _method(BoostKMeans, init="random", **PLAIN),
    "BKM(kpp)": _method(BoostKMeans, init="plain-k-means++", **PLAIN),
    "BKM(non)+Fast": _method(BoostKMeans, init="random-partition", moves="first", **PLAIN),
    "BKM(rnd)+Fast": _method(BoostKMeans, init="random", moves="first", **PLAIN),
    "BKM(kpp)+Fast": _method(BoostKMeans, init="plain-k-means++", moves="first", **PLAIN),
}
_TREES: dict[str, Method] = {
    "BsKM": _method(BisectingKMeans, init="random", max_iter=None),
    "BsKM++": _method(BisectingKMeans, init="k-means++", max_iter=None),
    "BsBKM(non)": _method(BisectingBoostKMeans, init="random-partition", **EXACT),
    "BsBKM(rnd)": _method(BisectingBoostKMeans, init="random", **EXACT),
    "BsBKM(kpp)": _method(BisectingBoostKMeans, init="k-means++", **EXACT),
    "RBK": _method(RBK, **EXACT),
    "sampled tree": _method(BisectingBoostKMeans),
    "sampled RBK": _method(RBK),
}
_REFINED_TREES: dict[str, Method] = {name + REFINED: _refined(tree) for name, tree in _TREES.items()}
_SCIKIT_LEARN: dict[str, Method] = {
    "k-means (scikit-learn)": _method(ScikitLearnKMeans, init="random"),
    "k-means++ (scikit-learn)": _method(ScikitLearnKMeans, init="k-means++"),
    "Mini-Batch (scikit-learn)": _method(ScikitLearnMiniBatchKMeans),
    "BsKM (scikit-learn)": _method(ScikitLearnBisectingKMeans, init="random"),
    "BsKM++ (scikit-learn)": _method(ScikitLearnBisectingKMeans, init="k-means++"),
}
# CLUTO's names of its methods: direct, repeated bisecting, and repeated bisecting with refinement.
_CRITERIA: dict[str, Method] = {
    f"{name}({criterion})": _method(CriterionKMeans, criterion=criterion, method=method)
    for name, method in (("direct", "k-way"), ("rb", "bisecting"), ("rbr", "refined"))
    for criterion in CRITERIA
}

METHODS: dict[str, Method] = {
    **_OURS, **_K_WAY, **_TREES, **_REFINED_TREES, **_CRITERIA, **_SCIKIT_LEARN
}  # fmt: skip
"""All methods by name. Each is a function of `(n_clusters, random_state)` that returns an unfitted
estimator."""

DEFAULT = (
    "boost-fast", "boost-balanced", "boost-best", "bisecting", "k-means", "k-means++", "Mini-Batch"
)  # fmt: skip
"""Names of the methods that `compare` runs by default: the most informative ones for their run time."""

_TABLE_1 = (
    "k-means", "k-means++", "BKM(non)", "BKM(rnd)", "BKM(kpp)",
    "BsKM", "BsKM++", "BsBKM(non)", "BsBKM(rnd)", "BsBKM(kpp)",
)  # fmt: skip
_TABLE_3 = (
    "k-means", "k-means++", "Mini-Batch", "LVQ", "BKM(non)", "BKM(rnd)+Fast",
    "BsKM", "BsKM++", "BsBKM(non)", "RBK",
)  # fmt: skip

PAPER_METHODS: dict[str, Method] = {name: METHODS[name] for name in _TABLE_3}
"""Methods by their names in the paper, in the order of its Table 3. Each is a function of `(n_clusters,
random_state)` that returns an unfitted estimator."""

METHOD_GROUPS: dict[str, tuple[str, ...]] = {
    "boostkmeans": tuple(_OURS),
    "k-way": tuple(_K_WAY),
    "trees": tuple(_TREES),
    "refined-trees": tuple(_REFINED_TREES),
    "criteria": tuple(_CRITERIA),
    "scikit-learn": tuple(_SCIKIT_LEARN),
    "default": DEFAULT,
    "paper": _TABLE_3,
    "table-1": _TABLE_1,
    "all": tuple(METHODS),
}
"""Names of methods by group. The first six groups contain each method once: this package's own settings,
the direct k-way methods and the trees of the paper, the trees refined by its Algorithm 1 in the
Euclidean metric, CLUTO's methods with its criteria for documents, and the implementations of
scikit-learn. The others are selections: the default of `compare`, the ten methods of the paper's Table
3, those of its Table 1, and all methods."""
