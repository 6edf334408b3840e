"""Features from ONNX models: inputs, preprocessing, batches, and models that are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawings import drawing
from numpy.typing import NDArray

pytest.importorskip("PIL")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
import onnx
from onnx import TensorProto, helper
from PIL import Image

from boostkmeans import DataFormatError, ParameterError
from boostkmeans.images import OnnxFeatures
from boostkmeans.images._features import onnx_features
from boostkmeans.images._features.onnx_features import crop_to

PLAIN: dict[str, Any] = {"mean": (0, 0, 0), "std": (1, 1, 1)}


def write_model(
    path: Path,
    shape: list[Any],
    *,
    kind: int = TensorProto.FLOAT,
    axes: tuple[int, ...] = (2, 3),
    n_inputs: int = 1,
) -> Path:
    """Write a model with the outputs "means", over all pixels, and "all", the input itself."""
    inputs = [helper.make_tensor_value_info(f"in{i}", kind, shape) for i in range(n_inputs)]
    values = "in0"
    nodes = []
    if kind != TensorProto.FLOAT:
        nodes.append(helper.make_node("Cast", ["in0"], ["values"], to=TensorProto.FLOAT))
        values = "values"
    nodes += [
        helper.make_node("ReduceMean", [values], ["means"], axes=list(axes), keepdims=1),
        helper.make_node("Identity", [values], ["all"]),
    ]
    outputs = [helper.make_tensor_value_info(one, TensorProto.FLOAT, None) for one in ("means", "all")]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    return path


def coloured(seed: int, height: int = 30, width: int = 50) -> NDArray[np.uint8]:
    return np.dstack([drawing(seed + shift, height, width) for shift in (0, 50, 100)])


def unit(rows: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        (["n", 3, "h", "w"], (2, 3)),
        (["n", 3, 20, 20], (2, 3)),
        ([4, 3, 20, 20], (2, 3)),
        (["n", 20, 20, 3], (1, 2)),
        ([None, "h", "w", 3], (1, 2)),
        ([1, 20, 20, 3], (1, 2)),
    ],
)
def test_layouts_and_sizes(shape: list[Any], axes: tuple[int, ...], tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.onnx", shape, axes=axes)
    images = [coloured(seed, 20, 34) for seed in range(7)]
    size = None if 20 in shape else 20
    found = OnnxFeatures(path, size=size, batch_size=3, **PLAIN).describe(images)
    means = np.array([image[:, 7:27].mean(axis=(0, 1)) for image in images])
    np.testing.assert_allclose(found.vectors, unit(means), atol=1e-5)
    assert found.names == [f"image {number}" for number in range(1, 8)]
    assert found.vectors.dtype == np.float32


def test_values_are_normalized(tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.onnx", ["n", 3, 20, 20])
    image = coloured(1, 20, 20)
    mean, std = (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)
    [vector] = OnnxFeatures(path, mean=mean, std=std, output="all").describe([image]).vectors
    expected = ((image / 255 - mean) / std).transpose(2, 0, 1).reshape(1, -1)
    np.testing.assert_allclose(vector, unit(expected)[0], atol=1e-6)
    [default] = OnnxFeatures(path, output="all").describe([image]).vectors
    imagenet = (image / 255 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    np.testing.assert_allclose(default, unit(imagenet.transpose(2, 0, 1).reshape(1, -1))[0], atol=1e-6)


@pytest.mark.parametrize("kind", [TensorProto.UINT8, TensorProto.FLOAT16, TensorProto.DOUBLE])
def test_types_of_inputs(kind: int, tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.onnx", ["n", 3, 20, 20], kind=kind)
    image = coloured(1, 20, 20)
    [vector] = OnnxFeatures(path, output="all", **PLAIN).describe([image]).vectors
    expected = unit(image.transpose(2, 0, 1).reshape(1, -1).astype(float))[0]
    np.testing.assert_allclose(vector, expected, atol=1e-4)


def test_default_size(tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.onnx", ["n", 3, "h", "w"])
    found = OnnxFeatures(path, output="all").describe([coloured(0)])
    assert found.vectors.shape == (1, 3 * 224 * 224)


def test_the_centre_is_cut_out() -> None:
    image = np.zeros((10, 30, 3), dtype=np.uint8)
    image[:, 10:20] = 200
    assert (crop_to(image, 10, 10) == 200).all()
    assert crop_to(image, 5, 15).shape == (5, 15, 3)
    assert (crop_to(image, 5, 15)[:, 0] == 0).all()


def test_files_are_read_upright_and_others_are_skipped(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    image = coloured(2, 40, 40)
    Image.fromarray(image).save(folder / "a.png")
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Image.fromarray(np.rot90(image).copy()).save(folder / "b.png", exif=exif)
    (folder / "c.jpg").write_bytes(b"nothing")
    Image.new("RGB", (30, 30)).save(folder / "d.png")
    path = write_model(tmp_path / "tiny.onnx", ["n", 3, 40, 40])
    found = OnnxFeatures(path, output="all", **PLAIN).describe(folder)
    assert found.names == ["a.png", "b.png"]
    np.testing.assert_array_equal(found.vectors[0], found.vectors[1])
    assert {one.name: one.reason[:12] for one in found.skipped} == {
        "c.jpg": "not an image",
        "d.png": "the model re",
    }


def test_batches_do_not_change_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_model(tmp_path / "tiny.onnx", ["n", 3, 16, 16])
    images = [coloured(seed) for seed in range(9)]
    whole = OnnxFeatures(path).describe(images).vectors
    monkeypatch.setattr(onnx_features, "MAX_BYTES", 4 * 16 * 16 * 3)
    steps: list[tuple[str, int, int | None]] = []

    def report(what: str, done: int, total: int | None) -> None:
        steps.append((what, done, total))

    parts = OnnxFeatures(path, batch_size=3, progress=report).describe(images).vectors
    np.testing.assert_allclose(parts, whole, atol=1e-6)
    assert steps[-1] == ("describing images", 9, 9)


@pytest.mark.parametrize(
    ("shape", "settings", "message"),
    [
        (["n", 4, 20, 20], {}, "Neither the second nor the last dimension of the input is 3"),
        (["n", "c", "h", "w"], {}, "Neither the second nor the last dimension"),
        (["n", 3, 20], {"axes": (1, 2)}, "3 dimensions instead of 4"),
        (["n", 3, 20, 20], {"n_inputs": 2}, "2 inputs instead of 1"),
        (["n", 3, 20, 20], {"kind": TensorProto.INT64}, r"one of tensor\(float\)"),
    ],
)
def test_other_models_are_refused(
    shape: list[Any], settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = write_model(tmp_path / "tiny.onnx", shape, **settings)
    with pytest.raises(DataFormatError, match=message) as raised:
        OnnxFeatures(path).describe([coloured(0)])
    assert "tiny.onnx" in str(raised.value)
    assert "Use a model with one image input of shape (batch, 3, height, width)" in str(raised.value)


def test_outputs_must_have_one_vector_per_image(tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.onnx", ["n", 3, 20, 20], axes=(0, 1))
    with pytest.raises(DataFormatError, match=r"one vector per image. Got float32 of shape \(1, 1, 20"):
        OnnxFeatures(path).describe([coloured(0), coloured(1)])
    with pytest.raises(DataFormatError, match=r"no output 'other'. Its outputs are: means, all"):
        OnnxFeatures(path, output="other").describe([coloured(0)])


def test_damaged_and_missing_models(tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"not a model")
    with pytest.raises(DataFormatError, match=r"bad.onnx: Not a valid ONNX model"):
        OnnxFeatures(path).describe([coloured(0)])
    with pytest.raises(FileNotFoundError):
        OnnxFeatures(tmp_path / "missing.onnx").describe([coloured(0)])


def test_size_must_agree_with_the_model(tmp_path: Path) -> None:
    path = write_model(tmp_path / "tiny.onnx", ["n", 3, 20, 20])
    assert len(OnnxFeatures(path, size=20).describe([coloured(0)]).names) == 1
    with pytest.raises(ValueError, match="size=32 contradicts the model, whose input has 20 x 20"):
        OnnxFeatures(path, size=32).describe([coloured(0)])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0}, "'size' parameter of OnnxFeatures must be an int"),
        ({"batch_size": None}, "'batch_size' parameter"),
        ({"mean": (1, 2)}, "'mean' parameter of OnnxFeatures must be three finite numbers"),
        ({"std": (1, 0, 1)}, "three finite numbers above 0"),
        ({"mean": (0, 0, float("nan"))}, "three finite numbers"),
    ],
)
def test_parameters_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        OnnxFeatures("x.onnx", **settings)
