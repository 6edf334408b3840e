"""`describe_file`: metadata of models, quantizers and checkpoints."""

from pathlib import Path

import numpy as np
import pytest

import boostkmeans
from boostkmeans import BoostKMeans, DataFormatError


def test_describe_file(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100, 4))
    model = BoostKMeans(3, random_state=0, checkpoint=tmp_path / "c").fit(X)
    model.set_params(checkpoint=None).save(tmp_path / "m", labels=False)
    boostkmeans.ProductQuantizer(2, 4, random_state=0).fit(X).save(tmp_path / "q")
    found = {name: boostkmeans.describe_file(tmp_path / name) for name in "mqc"}
    kinds = {name: None if one is None else (one.kind, one.estimator) for name, one in found.items()}
    assert kinds == {
        "m": ("model", "BoostKMeans"),
        "q": ("quantizer", "ProductQuantizer"),
        "c": ("checkpoint", "BoostKMeans"),
    }
    for one in found.values():
        assert one is not None
        assert one.library_version == boostkmeans.__version__
        assert one.parameters["random_state"] == 0
    assert (found["m"].n_rows, found["m"].has_labels) == (100, False)  # type: ignore[union-attr]
    checkpoint = found["c"]
    assert checkpoint is not None
    assert (checkpoint.n_rows, checkpoint.n_features, checkpoint.n_runs_done) == (100, 4, 1)
    assert "shape" not in checkpoint.parameters


def test_describe_file_of_other_content(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.eye(3))
    assert boostkmeans.describe_file(tmp_path / "x.npy") is None
    BoostKMeans(2, random_state=0).fit(np.eye(3)).save(tmp_path / "m")
    (tmp_path / "m").write_bytes((tmp_path / "m").read_bytes()[:20])
    with pytest.raises(DataFormatError):
        boostkmeans.describe_file(tmp_path / "m")
