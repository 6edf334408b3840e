"""Files of image pipelines: saving, loading, and files that must be rejected."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from boostkmeans import DataFormatError, describe_file, load_model
from boostkmeans._runtime.errors import ParameterConflictError
from boostkmeans._storage.format_names import IMAGE_PIPELINE
from boostkmeans._storage.tensors import read_tensors, write_tensors
from boostkmeans.images import VLADPipeline
from command import succeed

RNG = np.random.default_rng(0)
DESCRIPTORS = RNG.integers(0, 256, size=(300, 8), dtype=np.uint8)
NUMBERS = np.repeat(np.arange(20), 15)


def fitted(n_components: int | None = 5) -> VLADPipeline:
    return VLADPipeline(3, n_components, random_state=0).fit_descriptors(DESCRIPTORS, NUMBERS)


@pytest.mark.parametrize("n_components", [5, None])
@pytest.mark.parametrize("load", [VLADPipeline.load, load_model])
def test_loaded_pipeline_gives_the_same_vectors(
    n_components: int | None, load: Callable[[Path], VLADPipeline], tmp_path: Path
) -> None:
    pipeline = fitted(n_components)
    pipeline.save(tmp_path / "pipeline.st")
    loaded = load(tmp_path / "pipeline.st")
    assert loaded.get_params() == pipeline.get_params()
    expected = pipeline.transform_descriptors(DESCRIPTORS, NUMBERS)
    np.testing.assert_array_equal(loaded.transform_descriptors(DESCRIPTORS, NUMBERS), expected)
    for name in ("n_components_", "n_images_", "keypoints_"):
        assert getattr(loaded, name) == getattr(pipeline, name)


def test_functions_are_not_stored(tmp_path: Path) -> None:
    """A loaded pipeline must not describe images with the default keypoints instead."""
    pytest.importorskip("PIL")
    from drawings import drawings, patches

    images = drawings(5)
    pipeline = VLADPipeline(3, 4, keypoints=patches, progress=lambda *_: None, random_state=0, n_jobs=1)
    pipeline.fit(images).save(tmp_path / "pipeline.st")
    loaded = VLADPipeline.load(tmp_path / "pipeline.st")
    with pytest.raises(ParameterConflictError, match="A function is not stored in files"):
        loaded.transform(images)
    loaded.set_params(keypoints=patches)
    np.testing.assert_array_equal(loaded.transform(images), pipeline.transform(images))


def test_describes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.st"
    fitted().save(path)
    found = describe_file(path)
    assert found is not None
    assert (found.kind, found.estimator) == ("image pipeline", "VLADPipeline")
    assert found.parameters["n_words"] == 3
    shown = succeed("info", path)
    assert "3 words of 8 features" in shown
    assert "20 in the fit" in shown


Content = tuple[dict[str, Any], dict[str, Any]]


def _wrong_words(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["words"] = tensors["words"][:2]


def _wrong_width(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["words"] = tensors["words"][:, :4]


def _wrong_mean(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["mean"] = tensors["mean"][:-1]


def _no_components(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    del tensors["components"]


def _too_many_components(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["parameters"]["n_components"] = 4


def _not_finite(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["components"][0, 0] = np.nan


def _other_type(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["words"] = tensors["words"].astype(np.float64)


def _unknown_keypoints(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["keypoints"] = "exec"


def _no_images(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["n_images"] = -1


def _other_class(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["estimator"] = "Popen"


def _bad_parameter(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    header["parameters"]["max_keypoints"] = -5


def _extra_tensor(header: dict[str, Any], tensors: dict[str, Any]) -> None:
    tensors["more"] = tensors["mean"]


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (_wrong_words, "n_words=3, but there are 2 words of 8 features"),
        (_wrong_width, "5 components of 24 features. Expected at most 5 of 12 features"),
        (_wrong_mean, "'components': Expected the shape"),
        (_no_components, "Missing tensors: 'components'"),
        (_too_many_components, "Expected at most 4 of 24"),
        (_not_finite, "'components': The tensor contains NaN"),
        (_other_type, "'words': Expected float32. Got float64"),
        (_unknown_keypoints, "header.keypoints"),
        (_no_images, "header.n_images"),
        (_other_class, "Expected a model of class VLADPipeline. Got Popen"),
        (_bad_parameter, "'max_keypoints' parameter of VLADPipeline"),
        (_extra_tensor, "Unexpected tensors: 'more'"),
    ],
)
def test_rejects_forged_files(forge: Callable[..., None], message: str, tmp_path: Path) -> None:
    path = tmp_path / "pipeline.st"
    fitted().save(path)
    _, header, tensors = read_tensors(path, IMAGE_PIPELINE, 1)
    forge(header, tensors)
    write_tensors(path, IMAGE_PIPELINE, 1, header, tensors)
    with pytest.raises(DataFormatError, match=message):
        VLADPipeline.load(path)


def test_rejects_truncated_files(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.st"
    fitted().save(path)
    content = path.read_bytes()
    for length in (0, 7, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DataFormatError):
            VLADPipeline.load(path)


def test_does_not_save_an_invalid_pipeline(tmp_path: Path) -> None:
    pipeline = fitted()
    pipeline.words_ = pipeline.words_[:, :2]
    with pytest.raises(DataFormatError, match="The pipeline"):
        pipeline.save(tmp_path / "pipeline.st")
    assert not list(tmp_path.iterdir())


# Parameters that `set_params` changed after the fit


@pytest.mark.parametrize(
    ("fit_with", "changed", "message"),
    [
        (5, {"n_words": 4}, "fitted with n_words=3, but now has n_words=4. Set it back"),
        (5, {"n_components": None}, "fitted with n_components=5, but now has n_components=None"),
        (5, {"n_components": 4}, "fitted with n_components=5, but now has n_components=4"),
        (None, {"n_components": 4}, "fitted with n_components=None, but now has n_components=4"),
    ],
)
def test_does_not_save_parameters_that_contradict_the_fit(
    fit_with: int | None, changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    pipeline = fitted(fit_with).set_params(**changed)
    with pytest.raises(ParameterConflictError, match=message):
        pipeline.save(tmp_path / "pipeline.st")
    assert not list(tmp_path.iterdir())
    expected = fitted(fit_with).transform_descriptors(DESCRIPTORS, NUMBERS)
    np.testing.assert_array_equal(pipeline.transform_descriptors(DESCRIPTORS, NUMBERS), expected)


def test_does_not_save_other_keypoints_than_those_of_the_fit(tmp_path: Path) -> None:
    pipeline = fitted()
    pipeline.keypoints_ = "sift"
    pipeline.set_params(keypoints="hessian-affine")
    with pytest.raises(ParameterConflictError, match="fitted with keypoints='sift', but now has"):
        pipeline.save(tmp_path / "pipeline.st")
    assert not list(tmp_path.iterdir())


def test_saves_parameters_that_do_not_concern_the_fit(tmp_path: Path) -> None:
    changed = {"n_components": 9, "max_keypoints": 7, "max_size": None, "random_state": 3, "n_jobs": 1}
    pipeline = fitted().set_params(**changed)
    pipeline.save(tmp_path / "pipeline.st")
    loaded = VLADPipeline.load(tmp_path / "pipeline.st")
    assert loaded.get_params() == pipeline.get_params()
    np.testing.assert_array_equal(
        loaded.transform_descriptors(DESCRIPTORS, NUMBERS),
        pipeline.transform_descriptors(DESCRIPTORS, NUMBERS),
    )


def test_loaded_pipeline_of_a_function_can_be_saved_again(tmp_path: Path) -> None:
    pipeline = fitted()
    pipeline.keypoints_ = "callable"
    pipeline.save(tmp_path / "first.st")
    VLADPipeline.load(tmp_path / "first.st").save(tmp_path / "second.st")
    assert VLADPipeline.load(tmp_path / "second.st").keypoints_ == "callable"


def test_does_not_save_an_unfitted_pipeline(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        VLADPipeline().save(tmp_path / "pipeline.st")
