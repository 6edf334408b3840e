"""The parameter `init` of the baselines."""

from typing import Any

import numpy as np

from boostkmeans._data.frame import Floats
from boostkmeans._runtime.parameter_checks import ParameterChecker, check_initial_centres

SEEDINGS = ("random", "k-means++")


def check_seeding(estimator: Any) -> None:
    """The `init` of an estimator: a name, or an array of centres, which is looked at later."""
    init = estimator.init
    if isinstance(init, str) or np.ndim(init) != 2:
        ParameterChecker(estimator).choice("init", init, SEEDINGS)


def given_centres(init: Any, n_clusters: int, n_features: int) -> Floats:
    """Checks an array that the user gives as `init`."""
    centres = np.array(init, dtype=np.float64)
    check_initial_centres(centres, n_clusters, n_features)
    return centres
