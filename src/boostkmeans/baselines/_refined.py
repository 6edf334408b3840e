"""Refinement of a tree by the paper's direct k-way method."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from boostkmeans._data.rows import Rows
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.history import START, SweepRecord
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.nearest import distances_to_assigned
from boostkmeans._steps.partition import Partition

# The paper's direct k-way method compares with all clusters, without repair and annealing.
PLAIN: dict[str, Any] = {"n_candidates": None, "repair": False, "annealing": 0}
# Attributes of the refined model that become those of `Refined`.
RESULTS = ("_frame", "cluster_centers_", "cluster_sizes_", "labels_", "inertia_", "distortion_")


class Refined(CentreModel):
    """A clustering whose labels are the start of the paper's Algorithm 1.

    The estimator is fitted first. Single moves of Algorithm 1 then improve its partition, as the paper
    suggests for trees. Rows are compared with all clusters, without repair and annealing.

    Parameters
    ----------
    estimator : estimator
        Estimator of boostkmeans whose clusters are refined, for example a tree. It is cloned.
    max_iter : int, default=100
        Maximum number of sweeps of the refinement.
    tol : float, default=1e-4
        Tolerance of the refinement, as in `BoostKMeans`.
    metric : {"auto", "euclidean"}, default="auto"
        Metric of the refinement. "auto" is that of the estimator. "euclidean" compares the rows as they
        are, also after a tree by cosine such as `RBK`: Table 2 of the paper refines all trees in this
        way, and so do the methods in `METHODS` whose names end with ", refined".
    random_state : int, RandomState or None, default=None
        Seed of the order in which the refinement visits rows.
    n_threads : int, default=None
        Number of threads of the estimator and the refinement. None uses all processors available to
        this process.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    metric_ : str
        Metric of the refinement, of `inertia_` and of `history_`.
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features), float64
        Means of the clusters.
    cluster_sizes_ : ndarray of shape (n_clusters,), int64
        Number of rows of each cluster.
    inertia_ : float
        Weighted sum of squared distances of the rows to their centres.
    distortion_ : float
        Weighted mean squared distance.
    n_iter_ : int
        Number of sweeps of the refinement.
    history_ : list of SweepRecord
        One record of kind "start" for the estimator, followed by those of the refinement. The inertia of
        the first record is that of the estimator's labels by `metric_`.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import BisectingKMeans, Refined
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> tree = BisectingKMeans(20, random_state=0)
    >>> bool(Refined(tree, random_state=0).fit(X).inertia_ < tree.fit(X).inertia_)
    True
    """

    estimator_: Any
    metric_: str
    distortion_: float
    # Default for pickles of earlier versions.
    metric = "auto"

    def __init__(
        self,
        estimator: Any,
        *,
        max_iter: int = 100,
        tol: float = 1e-4,
        metric: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. None means equal weights.

        Returns
        -------
        Refined
            The fitted estimator.
        """
        self._check_parameters()
        with self._restore_input_on_failure():
            array = self._validate(X, reset=True)
            start = clone(self.estimator).set_params(n_threads=self.n_threads)
            # Methods without weights accept no such argument.
            start.fit(array, **({} if sample_weight is None else {"sample_weight": sample_weight}))
            found = self._refinement(start).fit(array, sample_weight=sample_weight)
            inertia = _inertia_before(start, found, array, sample_weight)
            self.__dict__.update(
                {name: getattr(found, name) for name in RESULTS},
                estimator_=start,
                metric_=found.metric,
                history_=_joined(start, inertia, found),
                n_iter_=found.n_iter_,
            )
        return self

    def _refinement(self, start: Any) -> BoostKMeans:
        return BoostKMeans(
            len(start.cluster_centers_),
            init=start.labels_,
            metric=_metric_of(start) if self.metric == "auto" else self.metric,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            n_threads=self.n_threads,
            **PLAIN,
        )

    def _check_parameters(self) -> None:
        check = ParameterChecker(self)
        if not isinstance(self.estimator, CentreModel):
            check.fail("estimator", "an estimator of boostkmeans with clusters", self.estimator)
        check.integer("max_iter", self.max_iter, 1)
        check.real("tol", self.tol)
        check.choice("metric", self.metric, ("auto", "euclidean"))
        check.random_state(self.random_state)
        if self.n_threads is not None:
            check.integer("n_threads", self.n_threads, 1)


def _metric_of(model: Any) -> str:
    """Return the metric of an estimator. Most baselines have no such parameter."""
    metric = getattr(model, "metric_", getattr(model, "metric", "euclidean"))
    return str(metric)


def _inertia_before(
    start: Any, refinement: BoostKMeans, array: Any, sample_weight: ArrayLike | None
) -> float:
    """Return the inertia of the start by the metric of the refinement."""
    if _metric_of(start) == refinement.metric:
        return float(start.inertia_)
    threads = resolve_threads(refinement.n_threads)
    rows = Rows.in_own_frame(array, refinement.metric, threads)
    weights, labels = RowWeights.of(sample_weight, array.shape[0]), start.labels_.copy()
    k = len(start.cluster_centers_)
    partition, _ = Partition.from_labels(labels, k, rows, weights.values, threads)
    gaps, _ = distances_to_assigned(rows, partition.centres, labels, threads)
    return rows.frame.inertia(weights.total_of(gaps))


def _joined(start: Any, inertia: float, refinement: BoostKMeans) -> list[SweepRecord]:
    """Return the history of both parts. The seconds of the refinement follow those of the start."""
    last = start.history_[-1]
    evaluations = sum(record.evaluations for record in start.history_)
    first = SweepRecord(last.seconds, 0, inertia, evaluations, START)
    return [
        first,
        *(replace(record, seconds=last.seconds + record.seconds) for record in refinement.history_),
    ]
