"""Parameter `init` of the baselines: a name or an array of centres."""

from typing import Any

import numpy as np

from boostkmeans import _core
from boostkmeans._data.frame import Floats
from boostkmeans._data.user_input import converting
from boostkmeans._runtime.parameter_checks import ParameterChecker, check_initial_centres
from boostkmeans.baselines._baseline import FitData

INITS = ("random", "k-means++")


def check_init(estimator: Any) -> None:
    """Check that `init` is a known name or a 2D array. `check_centres` checks the array later."""
    init = estimator.init
    if isinstance(init, str) or np.ndim(init) != 2:
        ParameterChecker(estimator).choice("init", init, INITS)


def check_centres(init: Any, n_clusters: int, n_features: int) -> Floats:
    """Return the centres that the user passed as `init`, after checking shape and values."""
    with converting("init"):
        centres = np.array(init, dtype=np.float64)
    check_initial_centres(centres, n_clusters, n_features)
    return centres


def starting_centres(
    init: Any, n_clusters: int, data: FitData, rng: np.random.RandomState, *, n_trials: int = 1
) -> Floats:
    """Return the first centres in the frame of the rows.

    `n_trials` is the number of candidates per centre in k-means++. As published, it is 1. Rows of zero
    weight are never drawn.
    """
    rows, weights = data.rows, data.weights.values
    if not isinstance(init, str):
        return rows.frame.enter(check_centres(init, n_clusters, rows.n_features))
    if init == "random":
        allowed = rows.n_rows if weights is None else np.flatnonzero(weights > 0)
        return rows.take(rng.choice(allowed, n_clusters, replace=False))
    seed = int(rng.randint(2**63 - 1, dtype=np.int64))
    drawn, _ = _core.plus_plus(rows.core, weights, n_clusters, n_trials, seed, data.n_threads)
    return rows.take(drawn)
