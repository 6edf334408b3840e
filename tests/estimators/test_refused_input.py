"""Input that NumPy or SciPy would misread is refused with a clear ValueError."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from attacks.invalid_input import PARAMETERS, REFUSED, ROWS, WEIGHTS
from boostkmeans import (
    BisectingBoostKMeans,
    BoostKMeans,
    DataFormatError,
    ParameterError,
    baselines,
    curate,
    distributed,
)
from boostkmeans.documents import CriterionKMeans
from boostkmeans.io import write_vectors
from boostkmeans.metrics import average_distortion, i1, silhouette, simplified_silhouette
from boostkmeans.quantization import ProductQuantizer, exact_neighbors
from boostkmeans.select import scan


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_rows(name: str) -> None:
    X, match = REFUSED[name]
    model = BoostKMeans(2, random_state=0)
    with pytest.raises(ValueError, match=match):
        model.fit(X)
    fitted = BoostKMeans(2, random_state=0).fit(ROWS)
    with pytest.raises(ValueError, match=match):
        fitted.predict(X)


@pytest.mark.parametrize("name", ["starts beyond the values", "masked values", "dates"])
def test_other_functions_refuse_them_too(name: str) -> None:
    X, match = REFUSED[name]
    labels = np.zeros(6, dtype=int)
    with pytest.raises(ValueError, match=match):
        i1(X, labels)
    with pytest.raises(ValueError, match=match):
        silhouette(X, np.arange(6) % 2)
    with pytest.raises(ValueError, match=match):
        simplified_silhouette(X, ROWS[:2])
    with pytest.raises(ValueError, match=f"{match}|sparse"):
        ProductQuantizer(1, n_centroids=2).fit(X)
    with pytest.raises(ValueError, match=f"{match}|Expected real numbers"):
        distributed.BoostKMeans(2, random_state=0, engine="local").fit([X])


BEYOND = [name for name in REFUSED if "beyond float64" in name]


@pytest.mark.parametrize("name", BEYOND)
def test_all_functions_refuse_integers_beyond_float64(name: str) -> None:
    X, match = REFUSED[name]
    calls: list[Callable[[], Any]] = [
        lambda: CriterionKMeans(2).fit(X),
        lambda: baselines.KMeans(2).fit(X),
        lambda: baselines.KMeans(2, init=X[:2]).fit(ROWS),
        lambda: curate.deduplicate(X),
        lambda: scan(X, [2]),
        lambda: i1(X, np.zeros(6)),
        lambda: average_distortion(ROWS, np.zeros(6, dtype=int), centers=X),
        lambda: silhouette(X, np.arange(6) % 2),
        lambda: simplified_silhouette(ROWS, X[:2]),
        lambda: ProductQuantizer(1, n_centroids=2).fit(X),
        lambda: exact_neighbors(X, ROWS, 1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=match):
            call()


def test_accepts_integers_beyond_int64() -> None:
    X = [[1, 2], [3, 4], [2**70, 6], [2**70, 5]]
    assert scan(X, [2]).suggestion == 2
    assert i1(X, [0, 0, 1, 1]) == pytest.approx(2.0**141)
    labels = BoostKMeans(2, random_state=0).fit(X).labels_
    assert labels[0] == labels[1] != labels[2] == labels[3]


@pytest.mark.parametrize("name", ["tol", "max_time", "leaf_size", "max_size"])
def test_refuses_numbers_beyond_float64(name: str) -> None:
    parameters: dict[str, Any] = {name: 10**400}
    if name != "leaf_size":
        parameters["n_clusters"] = 2
    with pytest.raises(ParameterError, match=f"'{name}' parameter"):
        BoostKMeans(**parameters).fit(ROWS)


def test_accepts_any_number_of_iterations() -> None:
    model = BoostKMeans(2, max_iter=10**400, random_state=0).fit(ROWS)
    assert np.array_equal(model.labels_, BoostKMeans(2, random_state=0).fit(ROWS).labels_)
    tree = BisectingBoostKMeans(2, refine=10**400, random_state=0).fit(ROWS)
    assert tree.stop_reason_ == "certified"


def test_refuses_a_threshold_beyond_float64() -> None:
    with pytest.raises(ParameterError, match="'threshold' parameter"):
        curate.deduplicate(ROWS, 10**400, metric="euclidean")


def test_accepts_a_mask_without_masked_values() -> None:
    model = BoostKMeans(2, random_state=0).fit(np.ma.masked_array(ROWS, mask=False))
    assert np.array_equal(model.labels_, BoostKMeans(2, random_state=0).fit(ROWS).labels_)


def test_leaves_the_matrix_of_the_user_alone() -> None:
    matrix = sparse.csr_array(ROWS)
    before = [matrix.data, matrix.indices, matrix.indptr]
    BoostKMeans(2, random_state=0).fit(matrix)
    assert all(a is b for a, b in zip(before, [matrix.data, matrix.indices, matrix.indptr], strict=True))


@pytest.mark.parametrize("name", WEIGHTS)
def test_refuses_weights(name: str) -> None:
    weights, match = WEIGHTS[name]
    model = BoostKMeans(2, random_state=0)
    with pytest.raises(ValueError, match=match):
        model.fit(ROWS, sample_weight=weights)


@pytest.mark.parametrize("name", WEIGHTS)
def test_shards_refuse_weights(name: str) -> None:
    weights, match = WEIGHTS[name]
    model = distributed.BoostKMeans(2, random_state=0, engine="local")
    halves = [np.ma.asarray(weights)[:3] if name == "masked" else np.asarray(weights)[:3]] * 2
    with pytest.raises((ValueError, DataFormatError), match=match):
        model.fit([ROWS[:3], ROWS[3:]], sample_weight=halves)


@pytest.mark.parametrize("name", PARAMETERS)
def test_refuses_parameters(name: str) -> None:
    parameters, match = PARAMETERS[name]
    model = BoostKMeans(2, random_state=0, **parameters)
    with pytest.raises(ValueError, match=match):
        model.fit(ROWS)


def test_write_vectors_refuses_masked_values(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="vectors is a masked array with 4 masked values"):
        write_vectors(tmp_path / "x.npy", np.ma.masked_equal(ROWS, 5))


def test_messages_do_not_repeat_long_values() -> None:
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        BoostKMeans(2).fit([["a" * 1_000_000, "b"]] * 20)
    assert len(str(caught.value)) <= 2000
