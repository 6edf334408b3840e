"""`random_state` is checked by all estimators and functions that take it."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ParameterError, distributed
from boostkmeans.baselines import METHODS, RBK, Method, Refined
from boostkmeans.curate import deduplicate, fit_levels, sample
from boostkmeans.documents import CriterionKMeans, cluster_documents
from boostkmeans.explore import page
from boostkmeans.images import VLADPipeline, cluster_images
from boostkmeans.quantization import ProductQuantizer
from boostkmeans.select import scan

X = np.abs(np.random.default_rng(0).normal(size=(40, 4)))
TEXTS = ["red rose", "a rose is red", "blue sea", "the deep blue sea"]
IMAGES = np.random.default_rng(0).integers(0, 256, (4, 32, 32), dtype=np.uint8)
WRONG: list[Any] = ["abc", -1, 2**40, 1.5, [1], np.int64(-3), object(), np.random.default_rng(0)]


def fit_method(method: Method, state: Any) -> None:
    """Fit one of the methods of the baselines."""
    method(3, state).fit(X)


TAKES_STATES: dict[str, Callable[[Any], Any]] = {
    **{
        f"baselines: {name}": partial(fit_method, method)
        for name, method in METHODS.items()
        if "(" not in name or "scikit" in name
    },
    "BoostKMeans": lambda state: BoostKMeans(3, random_state=state).fit(X),
    "partial_fit": lambda state: BoostKMeans(3, random_state=state).partial_fit(X),
    "BisectingBoostKMeans": lambda state: BisectingBoostKMeans(3, random_state=state).fit(X),
    "CriterionKMeans": lambda state: CriterionKMeans(3, random_state=state).fit(X),
    "RBK": lambda state: RBK(3, random_state=state).fit(X),
    "Refined": lambda state: Refined(RBK(3), random_state=state).fit(X),
    "distributed.BoostKMeans": lambda state: distributed.BoostKMeans(
        3, random_state=state, engine="local"
    ).fit(X),
    "distributed.BisectingBoostKMeans": lambda state: distributed.BisectingBoostKMeans(
        3, random_state=state, engine="local"
    ).fit(X),
    "ProductQuantizer": lambda state: ProductQuantizer(2, n_centroids=4, random_state=state).fit(X),
    "VLADPipeline": lambda state: VLADPipeline(
        2, 2, keypoints=lambda image: image[:, :8] / 255, random_state=state
    ).fit(IMAGES),
    "cluster_images": lambda state: cluster_images(IMAGES, 2, features=X[:4], random_state=state),
    "cluster_documents": lambda state: cluster_documents(TEXTS, 2, random_state=state),
    "sample": lambda state: sample(np.arange(40) % 3, 6, random_state=state),
    "fit_levels": lambda state: fit_levels(X, [4, 2], random_state=state),
    "scan": lambda state: scan(X, [2, 3], random_state=state),
}
TAKES_SEEDS: dict[str, Callable[[Any], Any]] = {
    "deduplicate": lambda seed: deduplicate(X, random_state=seed),
    "page": lambda seed: page(BoostKMeans(3, random_state=0).fit(X), X, random_state=seed),
}


@pytest.mark.parametrize("name", [*TAKES_STATES, *TAKES_SEEDS])
def test_refuses_other_values(name: str) -> None:
    call = {**TAKES_STATES, **TAKES_SEEDS}[name]
    for value in WRONG:
        with pytest.raises(
            ParameterError, match=r"'random_state' parameter of \w+ must be .*4294967295"
        ):
            call(value)


def test_the_message_names_the_allowed_values() -> None:
    expected = (
        "The 'random_state' parameter of BoostKMeans must be None, an int in the range [0, 4294967295] "
        "or a numpy.random.RandomState. Got -1 instead."
    )
    with pytest.raises(ParameterError, match=re.escape(expected)):
        BoostKMeans(3, random_state=-1).fit(X)


@pytest.mark.parametrize("name", TAKES_STATES)
def test_accepts_seeds_and_generators(name: str) -> None:
    values = (None, 0, 2**32 - 1, np.int32(7), np.uint64(7), np.random.RandomState(7))
    for value in values[: 2 if "images" in name.lower() or "VLAD" in name else None]:
        TAKES_STATES[name](value)
