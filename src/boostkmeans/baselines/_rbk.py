"""Repeated bisecting of documents: the paper's "RBK"."""

import numpy as np

from boostkmeans._estimators.bisecting import BisectingBoostKMeans


class RBK(BisectingBoostKMeans):
    """Repeated bisecting by the cosine of rows, as CLUTO does it with its criterion I1.

    The same as `BisectingBoostKMeans(init="random", metric="cosine")`, with its other attributes and
    methods: rows count by their direction, and a split starts from two random rows. `inertia_` is that
    of the rows at unit length.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    n_init : int, default=1
        Trees from different random numbers, of which the best is kept.
    random_state : int, RandomState or None, default=None
        An int gives the same result every time, on any number of threads.
    n_threads : int, default=None
        Threads of each call. None: all processors that this process may use.
    verbose : int, default=0
        Above 0, progress goes to the logger "boostkmeans", and to stderr if logging is not set up.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import RBK
    >>> X = np.array([[1.0, 0], [9, 1], [0, 1], [1, 8]])
    >>> labels = RBK(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    # Settled for this method, and so no parameters of it.
    n_sections = 2
    init = "random"
    split = "largest"
    _model_name = "baselines.RBK"

    refine = False
    moves = "best"
    n_candidates = None
    repair = False
    annealing = 0.0
    quality = "balanced"
    metric = "cosine"
    max_iter = 100
    tol = 1e-4
    max_time = None
    callback = None
    checkpoint = None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
