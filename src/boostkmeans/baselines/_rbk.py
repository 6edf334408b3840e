"""Repeated bisecting of documents, called "RBK" in the paper."""

import numpy as np

from boostkmeans._estimators.bisecting import BisectingBoostKMeans


class RBK(BisectingBoostKMeans):
    """Repeated bisecting by cosine, as in CLUTO with its criterion I1.

    Equivalent to ``BisectingBoostKMeans(init="random", metric="cosine")``, with the same attributes and
    methods. The paper's RBK has ``sample=None, max_passes=None``. Rows are scaled to unit length, and a
    split starts from two random rows. `inertia_` refers to the scaled rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, k.
    split : {"largest", "inertia", "average"}, default="largest"
        Which cluster is split next, as in `BisectingBoostKMeans`: the one with the most rows, with the
        highest inertia, or with the highest average squared distance between two of its scaled rows.
    sample : {"auto"} or None, default="auto"
        As in `BisectingBoostKMeans`. None for this parameter and `max_passes` is the algorithm of the
        paper.
    max_passes : int, None or "auto", default="auto"
        As in `BisectingBoostKMeans`.
    n_init : int, default=1
        Number of trees grown with different random numbers. The result is the one with the lowest
        inertia.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on the number of threads.
    n_threads : int, default=None
        Number of threads of each call. None uses all processors available to this process.
    verbose : int, default=0
        1 shows the progress on one line of the terminal, or as a bar in a notebook. 2 shows all
        messages as lines on stderr. Messages go to the logger "boostkmeans" instead if logging is
        configured, and are lines if stderr is a file.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.baselines import RBK
    >>> X = np.array([[1.0, 0], [9, 1], [0, 1], [1, 8]])
    >>> labels = RBK(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    # Fixed settings of this method. They are class attributes, not constructor parameters.
    leaf_size = None
    n_sections = 2
    init = "random"
    _model_name = "baselines.RBK"

    refine = False
    min_size = None
    max_size = None
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
        split: str = "largest",
        sample: str | None = "auto",
        max_passes: int | str | None = "auto",
        n_init: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_threads: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.split = split
        self.sample = sample
        self.max_passes = max_passes
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
