"""`VLADPipeline` on images: results, skipped images, scikit-learn's contract, processes."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawings import Pixels, drawing, drawings, patches
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from boostkmeans import BoostKMeans
from boostkmeans._runtime.errors import DataFormatError, ParameterConflictError, ParameterError
from boostkmeans.images import SkippedImage, VLADPipeline, _extraction, _training
from conftest import run_python

pytest.importorskip("PIL")
from PIL import Image, ImageFilter

IMAGES = drawings(14)
GREY_IMAGE = np.full((40, 40), 128, dtype=np.uint8)


def small(**settings: Any) -> VLADPipeline:
    """Return a pipeline that needs only NumPy and Pillow."""
    defaults: dict[str, Any] = {"n_words": 4, "n_components": 6, "keypoints": patches}
    return VLADPipeline(**(defaults | {"random_state": 0, "n_jobs": 1} | settings))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with images, an image without keypoints, and files that are no images."""
    for number, image in enumerate(IMAGES):
        where = tmp_path / ("sub" if number % 2 else ".")
        where.mkdir(exist_ok=True)
        Image.fromarray(image).save(where / f"{number:02}.png")
    Image.fromarray(GREY_IMAGE).save(tmp_path / "grey.png")
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 broken")
    (tmp_path / ".hidden.png").write_bytes(b"not looked at")
    return tmp_path


# Vectors


def test_sift_vectors_of_copies_are_neighbours() -> None:
    """A copy that is turned, resized or darkened is nearer to its original than any other image."""
    pytest.importorskip("cv2")
    sharp = [Image.fromarray(drawing(seed, 120, 160)) for seed in range(12)]
    images = [np.asarray(image.filter(ImageFilter.GaussianBlur(1.5))) for image in sharp]
    pipeline = VLADPipeline(8, 10, random_state=0, n_jobs=1)
    vectors = pipeline.fit_transform(images)
    assert vectors.shape == (12, 10)
    assert pipeline.words_.shape == (8, 128)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    copies = {
        "turned": [np.ascontiguousarray(np.rot90(image)) for image in images],
        "resized": [np.asarray(Image.fromarray(image).resize((240, 180))) for image in images],
        "darker": [image // 2 for image in images],
    }
    for name, changed in copies.items():
        nearest = (pipeline.transform(changed) @ vectors.T).argmax(axis=1)
        assert (nearest == np.arange(12)).mean() >= 0.9, name


def test_sift_limits_the_number_of_keypoints() -> None:
    pytest.importorskip("cv2")
    extract = _extraction.Extractor(_extraction_describer("sift"), 7, None)
    assert len(extract(IMAGES[0])) == 7
    found = extract(GREY_IMAGE)
    assert isinstance(found, np.ndarray)
    assert found.shape == (0, 128)


def _extraction_describer(keypoints: str) -> Any:
    from boostkmeans.images._keypoints import describer_of

    return describer_of(keypoints)


def test_hessian_affine_uses_the_largest_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hesaff:
        @staticmethod
        def detect_feats_in_image(grey: Pixels) -> tuple[Any, Any]:
            scales = np.array([2.0, 9.0, 4.0, 9.0], dtype=np.float32)
            zeros = np.zeros(4, dtype=np.float32)
            regions = np.stack([zeros, zeros, scales, zeros, scales, zeros], axis=1)
            return regions, np.arange(512, dtype=np.uint8).reshape(4, 128)

    monkeypatch.setitem(sys.modules, "pyhesaff", Hesaff)
    extract = _extraction.Extractor(_extraction_describer("hessian-affine"), 3, None)
    found = extract(IMAGES[0])
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found[:, 0], [128, 128, 0])  # rows 1, 3 and 2, modulo 256


def test_real_hessian_affine() -> None:
    pytest.importorskip("pyhesaff")
    images = [drawing(seed, 120, 160) for seed in range(6)]
    vectors = VLADPipeline(4, 3, keypoints="hessian-affine", random_state=0, n_jobs=1).fit_transform(
        images
    )
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_images_equal_their_descriptors() -> None:
    """Descriptors by image number give the same VLAD vectors as the images."""
    pipeline = small(n_components=None).fit(IMAGES)
    parts = [patches(image) for image in IMAGES]
    assert all(part is not None for part in parts)
    numbers = np.repeat(np.arange(14), [len(part) for part in parts if part is not None])
    rows = np.concatenate([part for part in parts if part is not None])
    np.testing.assert_array_equal(
        pipeline.transform(IMAGES), pipeline.transform_descriptors(rows, numbers)
    )


def test_colour_images_and_grey_images() -> None:
    pipeline = small().fit(IMAGES)
    colour = [np.repeat(image[:, :, None], 3, axis=2) for image in IMAGES]
    single = [image[:, :, None] for image in IMAGES]
    for images in (colour, single, np.array(colour)):
        np.testing.assert_array_equal(pipeline.transform(images), pipeline.transform(IMAGES))


@pytest.mark.parametrize("limit", [8192, 9])
def test_fit_transform_equals_fit_and_transform(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_training, "TRAINING_IMAGES", limit)
    monkeypatch.setattr(_training, "VOCABULARY_IMAGES", 5)
    monkeypatch.setattr(_extraction, "IMAGES_PER_BATCH", 4)
    images = [*IMAGES, GREY_IMAGE]
    pipeline = small()
    vectors = pipeline.fit_transform(images)
    assert pipeline.n_images_ in (14, limit, limit - 1)
    assert not vectors[14].any()
    np.testing.assert_allclose(vectors, pipeline.transform(images), atol=1e-6)
    np.testing.assert_array_equal(vectors, small().fit_transform(images))
    other = small(random_state=1).fit_transform(images)
    assert not np.array_equal(vectors, other)


@pytest.mark.process
@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cv2")
    monkeypatch.setattr(_extraction, "MIN_IMAGES_FOR_PROCESSES", 2)
    monkeypatch.setattr(_extraction, "IMAGES_PER_BATCH", 5)
    settings: dict[str, Any] = {"n_words": 4, "n_components": 6, "random_state": 0}
    seen: list[tuple[str, int, int | None]] = []
    parallel = VLADPipeline(n_jobs=2, progress=lambda *one: seen.append(one), **settings)
    with pytest.warns(UserWarning, match=r"1 images cannot be read.*broken\.jpg"):
        vectors = parallel.fit_transform(folder)
    alone = VLADPipeline(n_jobs=1, **settings)
    with pytest.warns(UserWarning, match=r"broken\.jpg"):
        np.testing.assert_array_equal(alone.fit_transform(folder), vectors)
    assert alone.skipped_ == parallel.skipped_
    assert [one for one in seen if one[0] == "describing images"] == [
        ("describing images", done, 16) for done in range(1, 17)
    ]
    assert ("training the vocabulary", 0, None) in seen


@pytest.mark.process
@pytest.mark.slow
def test_describes_images_after_fork() -> None:
    """Threads of OpenCV must not make a forked process wait for locks."""
    pytest.importorskip("cv2")
    result = run_python(f"""
import os, signal, sys, warnings
import numpy as np
sys.path.append({str(Path(__file__).parent)!r})
from drawings import drawings
from boostkmeans.images import VLADPipeline
images = drawings(10)
pipeline = VLADPipeline(4, 5, random_state=0, n_jobs=1).fit(images)
expected = pipeline.transform(images)
warnings.simplefilter("ignore")  # Python warns about forks in a process with threads.
pid = os.fork()
if pid == 0:
    signal.alarm(30)
    os._exit(0 if (pipeline.transform(images) == expected).all() else 1)
assert os.waitpid(pid, 0)[1] == 0
""")
    assert result.returncode == 0, result.stderr


# Images that cannot be used


def test_names_and_skips_files(folder: Path) -> None:
    pipeline = small()
    with pytest.warns(UserWarning, match=r"1 images cannot be read\. They are ignored\. broken\.jpg: "):
        pipeline.fit(folder)
    assert [one.name for one in pipeline.skipped_] == ["broken.jpg"]
    assert pipeline.without_keypoints_ == ["grey.png"]
    assert pipeline.n_images_ == 14
    found = pipeline.describe(folder)
    names = [f"{number:02}.png" for number in range(0, 14, 2)]
    names += [os.path.join("sub", f"{number:02}.png") for number in range(1, 14, 2)]  # noqa: PTH118
    assert found.names == names
    assert found.skipped == pipeline.skipped_
    assert isinstance(found.skipped[0], SkippedImage)
    assert found.without_keypoints == ["grey.png"]
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-5)
    paths = [folder / name for name in [*names, "grey.png", "broken.jpg", "missing.png"]]
    with pytest.warns(UserWarning, match=r"2 images cannot be read\. Their rows are 0\.") as warned:
        vectors = pipeline.transform(paths)
    assert "missing.png: no such file" in str(warned[0].message)
    assert warned[0].filename == __file__
    np.testing.assert_allclose(vectors[:14], found.vectors, atol=1e-6)
    assert not vectors[14:].any()


def test_warning_names_few_files_and_escapes_them(tmp_path: Path) -> None:
    paths = [*(f"no{number}.png" for number in range(9)), "\x1b[31m.png"]
    with pytest.warns(UserWarning, match=r"no4\.png: no such file; and 5 more\.$"):
        small().fit(IMAGES).transform(paths)
    with pytest.warns(UserWarning, match=r"\\x1b\[31m\.png"):
        small().fit(IMAGES).transform(paths[::-1])


def test_needs_two_images_with_keypoints(tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match=r"Got 1, 1 without keypoints, and 1 that cannot be read"):
        small().fit([IMAGES[0], GREY_IMAGE, "x.png"])
    with pytest.raises(DataFormatError, match="Got 0, 0 without keypoints"):
        small().fit(tmp_path)


def test_no_images_have_no_vectors() -> None:
    assert small().fit(IMAGES).transform([]).shape == (0, 6)


@pytest.mark.parametrize(
    ("images", "error", "message"),
    [
        ("nowhere", FileNotFoundError, "nowhere"),
        (__file__, NotADirectoryError, "Pass single images as a list"),
        ([np.zeros((4, 4))], ValueError, "paths or arrays of uint8. Got an array of float64 as image 1"),
        ([np.zeros((4, 4, 2), dtype=np.uint8)], ValueError, r"Got \(4, 4, 2\) as image 1"),
        ([np.zeros((0, 4), dtype=np.uint8)], ValueError, r"Got \(0, 4\) as image 1"),
    ],
)
def test_rejects_other_input(images: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        small().fit(images)


# Functions as keypoints


def test_rejects_descriptors_of_a_function() -> None:
    with pytest.raises(ValueError, match="that keypoints returns must be finite and not negative"):
        small(keypoints=lambda grey: -np.ones((3, 4))).fit(IMAGES)
    widths = iter(range(1, 99))
    with pytest.raises(ValueError, match=r"same number of features\. Got 1 and 2"):
        small(keypoints=lambda grey: np.ones((3, next(widths)))).fit(IMAGES)


def test_function_may_return_too_many_descriptors() -> None:
    few = small(max_keypoints=5, n_components=None).fit(IMAGES)
    cut = small(keypoints=lambda grey: _first(patches(grey), 5), n_components=None).fit(IMAGES)
    np.testing.assert_array_equal(few.transform(IMAGES), cut.transform(IMAGES))
    assert not np.array_equal(few.transform(IMAGES), small(n_components=None).fit_transform(IMAGES))


def _first(rows: Any, n: int) -> Any:
    return None if rows is None else rows[:n]


# Parameters and the contract of scikit-learn


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_words", 0), ("n_components", 0), ("keypoints", "surf"), ("max_keypoints", 0), ("max_size", 0.5),
     ("progress", 3), ("n_jobs", 0)],
)  # fmt: skip
def test_rejects_parameters(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of VLADPipeline"):
        small(**{name: value}).fit(IMAGES)
    with pytest.raises(ParameterError):
        small(**{name: value}).fit_descriptors(np.ones((4, 4)), [0, 0, 1, 1])


def test_follows_the_contract_of_scikit_learn() -> None:
    pipeline = small(max_size=200)
    assert clone(pipeline).get_params() == pipeline.get_params()
    with pytest.raises(NotFittedError):
        pipeline.transform(IMAGES)
    vectors = pipeline.fit_transform(IMAGES)
    assert pipeline.get_feature_names_out()[-1] == "vladpipeline5"
    pd = pytest.importorskip("pandas")
    frame = clone(pipeline).set_output(transform="pandas").fit_transform(IMAGES)
    assert isinstance(frame, pd.DataFrame)
    np.testing.assert_array_equal(frame.to_numpy(), vectors)
    chain = make_pipeline(clone(pipeline), BoostKMeans(3, random_state=0)).fit(IMAGES)
    np.testing.assert_array_equal(
        chain.predict(IMAGES), BoostKMeans(3, random_state=0).fit(vectors).predict(vectors)
    )
    assert "n_words=4" in repr(pipeline)


def test_fails_without_changing_a_fitted_pipeline() -> None:
    pipeline = small().fit(IMAGES)
    before = dict(vars(pipeline))
    with pytest.raises(DataFormatError):
        pipeline.fit([GREY_IMAGE])
    assert {name: id(value) for name, value in vars(pipeline).items()} == {
        name: id(value) for name, value in before.items()
    }


def test_describes_images_as_in_the_fit() -> None:
    pipeline = small().fit(IMAGES).set_params(keypoints="sift")
    with pytest.raises(ParameterConflictError, match="fitted with keypoints='callable', but now has"):
        pipeline.transform(IMAGES)


# Missing packages


@pytest.mark.parametrize(
    ("package", "keypoints", "message"),
    [
        ("cv2", "sift", r"need OpenCV.*extra 'images'.*opencv-python-headless"),
        ("pyhesaff", "hessian-affine", "need pyhesaff"),
        ("PIL", patches, r"needs Pillow.*extra 'images'"),
    ],
)
def test_names_missing_packages(
    package: str, keypoints: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=message):
        small(keypoints=keypoints).fit(IMAGES)
