"""Copies of estimators that hold a client, as scikit-learn makes them."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from boostkmeans.distributed import BisectingBoostKMeans, BoostKMeans

pytest_plugins = ("cluster_fixtures",)
pytestmark = pytest.mark.process


@pytest.mark.parametrize("estimator", [BoostKMeans, BisectingBoostKMeans])
def test_a_clone_has_the_client(estimator: Any, dask_client: Any) -> None:
    weights = np.ones((3, 2))
    model = estimator(3, engine=dask_client, init="auto", random_state=0).set_output(transform="default")
    model.weights_ = weights  # a fitted attribute
    copy = clone(model)
    assert copy.engine is dask_client
    assert not hasattr(copy, "weights_")
    assert copy.get_params() == model.get_params()
    assert copy is not model
    assert clone(estimator(3, engine="local")).engine == "local"


def test_a_clone_copies_arrays(dask_client: Any) -> None:
    model: Any = BoostKMeans(2, init=np.eye(2), engine=dask_client)
    copy = clone(model)
    np.testing.assert_array_equal(copy.init, model.init)
    assert copy.init is not model.init


def test_a_grid_search_on_a_client(dask_client: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = BoostKMeans(random_state=0, engine=dask_client, max_iter=3)
    search = GridSearchCV(model, {"n_clusters": [2, 4]}, cv=2).fit(X)
    assert search.best_params_ == {"n_clusters": 4}
    assert search.best_estimator_.engine is dask_client
