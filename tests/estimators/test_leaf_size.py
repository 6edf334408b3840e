"""`leaf_size` sets the number of clusters by their average size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ParameterError, distributed, load_model
from conftest import blobs

X = blobs(130, 3, 5)[0]


@pytest.mark.parametrize("estimator", [BoostKMeans, BisectingBoostKMeans, distributed.BoostKMeans])
def test_result_is_that_of_the_number_of_clusters(estimator: Any, tmp_path: Path) -> None:
    model = clone(estimator(leaf_size=20, random_state=0)).fit(X)
    expected = estimator(6, random_state=0).fit(X)  # 130 / 20 = 6.5, rounded to the even number
    assert model.n_clusters_ == expected.n_clusters_ == 6
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    model.save(tmp_path / "model.st")
    loaded = load_model(tmp_path / "model.st")
    assert loaded.leaf_size == 20
    assert loaded.n_clusters == 8
    assert loaded.n_clusters_ == 6


def test_weights_count_instead_of_rows() -> None:
    weights = np.where(np.arange(130) < 65, 3.0, 1.0)
    assert BoostKMeans(None, leaf_size=52, random_state=0).fit(X, sample_weight=weights).n_clusters_ == 5
    assert BoostKMeans(leaf_size=1e9).fit(X, sample_weight=weights).n_clusters_ == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": None}, "'n_clusters' parameter of BoostKMeans must be an int"),
        ({"leaf_size": 0}, "'leaf_size' parameter .* must be None or a float in the range"),
        ({"n_clusters": 3, "leaf_size": 5}, "n_clusters=3 and leaf_size=5 both set the number"),
        ({"leaf_size": 0.5}, "leaf_size=0.5 gives 260 clusters for 130 rows"),
    ],
)
def test_invalid_parameters_are_explained(parameters: dict[str, Any], message: str) -> None:
    model = BoostKMeans(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert not hasattr(model, "n_clusters_")


def test_default_of_n_clusters_does_not_conflict() -> None:
    with pytest.raises(ParameterError):
        BoostKMeans(n_clusters=None).fit(X)
    assert BoostKMeans(8, leaf_size=65, random_state=0).fit(X).n_clusters_ == 2
