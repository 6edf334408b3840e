"""Input that NumPy or SciPy would misread is refused with a clear ValueError."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from attacks.invalid_input import PARAMETERS, REFUSED, ROWS, WEIGHTS
from boostkmeans import BoostKMeans, DataFormatError, distributed
from boostkmeans.io import write_vectors
from boostkmeans.metrics import i1, silhouette, simplified_silhouette
from boostkmeans.quantization import ProductQuantizer


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
