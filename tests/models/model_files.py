"""Fitted models and helper functions for the tests of model files."""

import json
import zlib
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from safetensors import safe_open
from scipy import sparse

from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError, baselines, load_model
from boostkmeans.documents import CriterionKMeans
from conftest import blobs

X = blobs(200, 4, 6, spread=1.0)[0]
WEIGHTS = 1.0 + np.arange(len(X)) % 3
# Attributes that describe the time of a fit. Files do not contain them.
TIMES = ("serial_share_", "_core_times")
NUMPY_NUMBERS: dict[str, Any] = {"n_clusters": np.int64(6), "tol": np.float32(0.25)}

# Functions that fit a model, by a name for the test report.
FITS: dict[str, Callable[[], Any]] = {
    "boost": lambda: BoostKMeans(6, random_state=0).fit(X),
    "certified": lambda: BoostKMeans(6, random_state=0, tol=0, annealing=(0.1, 4)).fit(X),
    "float32": lambda: BoostKMeans(6, random_state=0).fit(X.astype(np.float32)),
    "far away": lambda: BoostKMeans(6, random_state=0).fit(1e-9 * X + 1e3),
    "one cluster": lambda: BoostKMeans(1, random_state=0).fit(X),
    "weights": lambda: BoostKMeans(6, random_state=0).fit(X, sample_weight=WEIGHTS),
    "no weight": lambda: BoostKMeans(6, random_state=0).fit(X, sample_weight=np.arange(200) % 3),
    "cosine": lambda: BoostKMeans(6, metric="cosine", random_state=0).fit(X, sample_weight=WEIGHTS),
    "limits": lambda: BoostKMeans(6, min_size=30, max_size=35.5, random_state=0).fit(X),
    "centres": lambda: BoostKMeans(6, init=X[:6].astype(">f4"), random_state=0).fit(X),
    "labels": lambda: BoostKMeans(6, init=np.arange(200) % 6, random_state=0).fit(X),
    "a list": lambda: BoostKMeans(2, init=X[:2].tolist(), random_state=0).fit(X),
    "sparse": lambda: BoostKMeans(6, random_state=0).fit(sparse.csr_array(np.maximum(X, 0))),
    "stays sparse": lambda: BoostKMeans(6, random_state=0).fit(very_sparse()),
    "batches": lambda: BoostKMeans(6, random_state=0).fit(X).partial_fit(X[:50] + 1).partial_fit(X[:3]),
    "numpy's numbers": lambda: BoostKMeans(random_state=0, **NUMPY_NUMBERS).fit(X),
    "bisecting": lambda: BisectingBoostKMeans(6, random_state=0).fit(X),
    "one leaf": lambda: BisectingBoostKMeans(1, random_state=0).fit(X),
    "refined": lambda: BisectingBoostKMeans(6, refine=True, random_state=0).fit(X),
    "in three": lambda: BisectingBoostKMeans(8, n_sections=3, random_state=0).fit(X, None, WEIGHTS),
    "tree, no weight": lambda: BisectingBoostKMeans(6, random_state=0).fit(X, None, np.arange(200) % 3),
    "KMeans": lambda: baselines.KMeans(6, init=X[:6], random_state=0).fit(X),
    "MiniBatchKMeans": lambda: baselines.MiniBatchKMeans(6, random_state=0, max_iter=5).fit(X),
    "BisectingKMeans": lambda: baselines.BisectingKMeans(6, random_state=0).fit(X, None, WEIGHTS),
    "ScikitLearnKMeans": lambda: baselines.ScikitLearnKMeans(6, init=X[:6], random_state=0).fit(X),
    "ScikitLearnMiniBatchKMeans": lambda: baselines.ScikitLearnMiniBatchKMeans(
        6, random_state=0, max_iter=5
    ).fit(X),
    "ScikitLearnBisectingKMeans": lambda: baselines.ScikitLearnBisectingKMeans(6, random_state=0).fit(
        X, None, WEIGHTS
    ),
    "CriterionKMeans": lambda: CriterionKMeans(6, random_state=0).fit(X, sample_weight=WEIGHTS),
    "RBK": lambda: baselines.RBK(6, random_state=0).fit(X),
    "OnlineKMeans": lambda: baselines.OnlineKMeans(6, random_state=0, max_iter=3).fit(X),
}  # fmt: skip


def very_sparse() -> Any:
    """Return rows that are too sparse to be made dense."""
    found = sparse.random_array((3000, 1500), density=0.004, format="csr", random_state=0)
    # scikit-learn does not accept the indices of 64 bits that earlier versions of SciPy choose.
    found.indices, found.indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)
    return found


def bits(value: Any) -> Any:
    """Return a value that is equal for two objects only if all their bits are equal."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, bits(asdict(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (
            value.dtype.newbyteorder("="),
            value.shape,
            value.astype(value.dtype.newbyteorder("=")).tobytes(),
        )
    if isinstance(value, np.ndarray | list):
        return [bits(one) for one in value]
    if isinstance(value, dict):
        return {name: bits(one) for name, one in value.items()}
    return float(value).hex() if isinstance(value, float | np.floating) else value


def stored(model: Any) -> dict[str, Any]:
    """Return the attributes that a model file contains.

    Files have no times of parallel sections, and those of `BisectingKMeans` have no tree.
    """
    left_out = (*TIMES, "tree_") if isinstance(model, baselines.BisectingKMeans) else TIMES
    return {name: value for name, value in vars(model).items() if name not in left_out}


def assert_same(loaded: Any, model: Any, rows: Any) -> None:
    """Check that two models have the same attributes and give the same results, to the last bit."""
    assert type(loaded) is type(model)
    assert bits(loaded.get_params()) == bits(model.get_params())
    assert bits(stored(loaded)) == bits(stored(model))
    for method in ("predict", "transform", "score"):
        assert bits(getattr(loaded, method)(rows)) == bits(getattr(model, method)(rows)), method


def header_of(path: Path) -> dict[str, Any]:
    """Return the header of a model file."""
    with safe_open(path, framework="numpy") as file:
        found = json.loads(file.metadata()["header"])
    assert isinstance(found, dict)
    return found


class Forged:
    """A model file that a test can change. It is written by the safetensors library."""

    def __init__(self, path: Path, model: Any) -> None:
        self.path = path
        model.save(path)
        self.header = header_of(path)
        self.tensors = safetensors.numpy.load_file(path)
        self.metadata = {"format": "boostkmeans-model", "format_version": "1"}

    def assert_rejected(self, match: str) -> None:
        """Write the file, and check that loading raises a printable error that names it."""
        self.write()
        with pytest.raises(DataFormatError, match=match) as error:
            load_model(self.path)
        assert error.value.file == str(self.path)
        assert str(error.value).startswith(str(self.path))
        assert error.value.remedy
        assert str(error.value).isprintable()

    def write(self, header: str | None = None) -> None:
        """Write the file, with valid checksums unless the text of the header is given."""
        sums = {name: zlib.crc32(tensor.tobytes()) for name, tensor in self.tensors.items()}
        text = json.dumps({**self.header, "checksums": sums}) if header is None else header
        safetensors.numpy.save_file(self.tensors, self.path, {**self.metadata, "header": text})
