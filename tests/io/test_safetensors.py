"""Vectors in safetensors files."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from boostkmeans import BoostKMeans, DataFormatError
from boostkmeans.io import list_arrays, open_vectors
from boostkmeans.io._access import row_stores

ROWS = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)


def forged(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    declared = len(text) if length is None else length
    path.write_bytes(declared.to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.uint16, np.bool_])
def test_types(tmp_path: Path, dtype: Any) -> None:
    path = tmp_path / "x.safetensors"
    X = (10 * ROWS).astype(dtype)
    save_file({"bias": np.zeros(3), "emb": X}, path)
    with open_vectors(path) as vectors:
        assert vectors.dtype == dtype
        assert vectors.is_mapped
        np.testing.assert_array_equal(vectors.load(), X)
        np.testing.assert_array_equal(vectors.read(3, 9), X[3:9])
    assert {(one.name, one.shape) for one in list_arrays(path) or []} == {
        ("bias", (3,)),
        ("emb", (50, 4)),
    }


def test_bfloat16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bits = ROWS.view(np.uint32) >> 16
    entry = {"dtype": "BF16", "shape": [50, 4], "data_offsets": [0, 400]}
    path = forged(tmp_path / "x.safetensors", {"emb": entry}, bits.astype("<u2").tobytes())
    monkeypatch.setattr(row_stores, "PIECE_BYTES", 24)
    expected = (bits << 16).astype(np.uint32).view(np.float32)
    with open_vectors(path) as vectors:
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors.load(), expected)
        np.testing.assert_array_equal(vectors.read(7, 8), expected[7:8])
        assert BoostKMeans(3, random_state=0).fit(vectors).labels_.shape == (50,)


def test_keys_and_compression(tmp_path: Path) -> None:
    path = tmp_path / "x.st"
    save_file({"a": ROWS, "b": ROWS[:9]}, path)
    with pytest.raises(DataFormatError, match="several tensors: 'a', 'b'"):
        open_vectors(path)
    assert open_vectors(path, key="b").shape == (9, 4)
    with pytest.raises(DataFormatError, match="no tensor 'c'"):
        open_vectors(path, key="c")
    packed = tmp_path / "x.safetensors.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(open_vectors(packed, key="a").load(), ROWS)
    packed.write_bytes(gzip.compress(b"\0" * 100))
    with pytest.raises(DataFormatError, match="does not begin like"):
        open_vectors(packed)


def test_models_are_not_vectors(tmp_path: Path) -> None:
    model = BoostKMeans(3, random_state=0).fit(ROWS)
    model.save(tmp_path / "model.st")
    with pytest.raises(DataFormatError, match=r"written by boostkmeans.*key='cluster_centers'"):
        open_vectors(tmp_path / "model.st")
    centres = open_vectors(tmp_path / "model.st", key="cluster_centers").load()
    np.testing.assert_array_equal(centres, model.cluster_centers_)
    np.save(tmp_path / "x.npy", ROWS)
    assert open_vectors(tmp_path).format == "npy"  # a model in a folder of vectors is ignored


GOOD = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"", "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b"{\xff}", "not valid JSON"),
        (b'{"x": 1, "x": 1}', "not valid JSON"),
        ({}, "no tensor"),
        ({"x": 3}, "no valid type, shape or place"),
        ({"x": GOOD | {"shape": [2, -2]}}, "no valid type"),
        ({"x": GOOD | {"shape": [2, True]}}, "no valid type"),
        ({"x": GOOD | {"data_offsets": [0, 16, 3]}}, "no valid type"),
        ({"x": GOOD | {"data_offsets": [0, 17]}}, "end at byte 17"),
        ({"x": GOOD | {"data_offsets": [16, 0]}}, "end at byte 0"),
        ({"x": GOOD | {"shape": [2**40, 2**40]}}, "needs 4,835,703,278,458,516,698,824,704 bytes"),
        ({"x": GOOD | {"shape": [4]}}, "2 dimensions"),
        ({"x": GOOD | {"shape": [4, 0], "data_offsets": [0, 0]}}, "no columns"),
        ({"x": GOOD | {"dtype": "F8_E4M3\x1b"}}, r"type F8_E4M3\\x1b are not supported"),
    ],
)
def test_forged_headers(tmp_path: Path, header: Any, message: str) -> None:
    path = forged(tmp_path / "x.safetensors", header, bytes(16))
    with pytest.raises(DataFormatError, match=message):
        open_vectors(path)


@pytest.mark.parametrize("length", [2**63 + 5, 2**24 + 1, 10**4])
def test_forged_lengths(tmp_path: Path, length: int) -> None:
    path = forged(tmp_path / "x.safetensors", {"x": GOOD}, bytes(16), length)
    with pytest.raises(DataFormatError, match="declare a header"):
        open_vectors(path)
