"""Parameter `init` of the baselines: a name or an array of centres."""

from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._runtime.parameter_checks import ParameterChecker, check_initial_centres

INITS = ("random", "k-means++")


def check_init(estimator: Any) -> None:
    """Check that `init` is a known name or a 2D array. `check_centres` checks the array later."""
    init = estimator.init
    if isinstance(init, str) or np.ndim(init) != 2:
        ParameterChecker(estimator).choice("init", init, INITS)


def check_centres(init: Any, n_clusters: int, n_features: int) -> Floats:
    """Return the centres that the user passed as `init`, after checking shape and values."""
    centres = np.array(init, dtype=np.float64)
    check_initial_centres(centres, n_clusters, n_features)
    return centres
