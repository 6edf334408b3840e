"""RootSIFT, VLAD and pipelines that are fitted to descriptors."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import BoostKMeans
from boostkmeans._runtime.errors import DataFormatError, FeatureCountError, TooFewRowsError
from boostkmeans.images import VLADPipeline, _training
from boostkmeans.images._vlad import Bag, root_sift, vlad

RNG = np.random.default_rng(0)
DESCRIPTORS = RNG.integers(0, 256, size=(900, 16), dtype=np.uint8)
# Image numbers in random order, with gaps, and with different numbers of descriptors.
NUMBERS = RNG.choice([3, 4, 8, 9, 20, 21, 22, 40, 41, 50], p=np.arange(1, 11) / 55, size=900)


def plain_vlad(rows: NDArray[np.float32], words: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the VLAD vector of one image, step by step."""
    vector = np.zeros(words.shape)
    for row in rows.astype(np.float64):
        word = int(np.argmin(((words - row) ** 2).sum(axis=1)))
        vector[word] += row - words[word]
    flat = np.sign(vector.ravel()) * np.sqrt(np.abs(vector.ravel()))
    return np.asarray(flat / np.linalg.norm(flat))


def test_root_sift_of_simple_descriptors() -> None:
    rows = root_sift(np.array([[1, 0, 3], [0, 0, 0], [255, 255, 0]], dtype=np.uint8))
    expected = [[0.5, 0, np.sqrt(0.75)], [0, 0, 0], [np.sqrt(0.5), np.sqrt(0.5), 0]]
    np.testing.assert_allclose(rows, expected, rtol=1e-6)


def test_vlad_of_two_words_by_hand() -> None:
    """RootSIFT maps the descriptors to (0.6, 0.8) and (0.8, 0.6)."""
    words = np.array([[1, 0], [0, 1]], dtype=np.float32)
    bag = Bag(np.array([[36, 64], [64, 36]], dtype=np.uint8), np.array([2]))
    # (0.8, 0.6) - (1, 0) and (0.6, 0.8) - (0, 1), then square roots with signs.
    expected = np.array([-np.sqrt(0.2), np.sqrt(0.6), np.sqrt(0.6), -np.sqrt(0.2)]) / np.sqrt(1.6)
    np.testing.assert_allclose(vlad(bag, words, 1), [expected], rtol=1e-5)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_vlad_equals_plain_loops(n_threads: int) -> None:
    words = root_sift(DESCRIPTORS[:7])
    counts = np.array([1, 500, 3, 396])
    vectors = vlad(Bag(DESCRIPTORS, counts), words, n_threads)
    parts = np.split(root_sift(DESCRIPTORS), np.cumsum(counts)[:-1])
    for vector, rows in zip(vectors[1:], parts[1:], strict=True):
        np.testing.assert_allclose(vector, plain_vlad(rows, words), atol=2e-3)
    # The only descriptor of the first image is a word.
    np.testing.assert_array_equal(vectors[0], 0)


def test_vectors_are_the_principal_components_of_vlad() -> None:
    pipeline = VLADPipeline(5, 4, random_state=0).fit_descriptors(DESCRIPTORS, NUMBERS)
    vectors = pipeline.transform_descriptors(DESCRIPTORS, NUMBERS)
    rows = root_sift(DESCRIPTORS)
    full = np.array([plain_vlad(rows[one == NUMBERS], pipeline.words_) for one in np.unique(NUMBERS)])
    centred = full - full.mean(axis=0)
    _, scales, axes = np.linalg.svd(centred)
    expected = centred @ axes[:4].T
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    signs = np.sign((expected * vectors).sum(axis=0))
    np.testing.assert_allclose(vectors, expected * signs, atol=0.01)
    assert pipeline.explained_variance_ratio_ is not None
    shares = scales**2 / (scales**2).sum()
    np.testing.assert_allclose(pipeline.explained_variance_ratio_, shares[:4], rtol=0.01)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_order_of_descriptors_does_not_matter() -> None:
    pipeline = VLADPipeline(5, None, random_state=0).fit_descriptors(DESCRIPTORS, NUMBERS)
    vectors = pipeline.transform_descriptors(DESCRIPTORS, NUMBERS)
    order = np.random.default_rng(1).permutation(900)
    np.testing.assert_allclose(
        pipeline.transform_descriptors(DESCRIPTORS[order], NUMBERS[order]), vectors, atol=1e-3
    )
    only = pipeline.transform_descriptors(DESCRIPTORS[NUMBERS == 22], np.zeros(sum(NUMBERS == 22), int))
    np.testing.assert_array_equal(only[0], vectors[6])
    assert pipeline.components_ is None
    assert pipeline.n_components_ == 5 * 16


def test_fit_transform_descriptors() -> None:
    pipeline = VLADPipeline(5, 3, random_state=0)
    vectors = pipeline.fit_transform_descriptors(DESCRIPTORS, NUMBERS)
    np.testing.assert_array_equal(vectors, pipeline.transform_descriptors(DESCRIPTORS, NUMBERS))
    assert pipeline.keypoints_ == "descriptors"
    assert pipeline.n_images_ == 10
    again = VLADPipeline(5, 3, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(vectors, again.fit_transform_descriptors(DESCRIPTORS, NUMBERS))


def test_training_uses_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits on images and descriptors bound the memory of a fit."""
    monkeypatch.setattr(_training, "TRAINING_IMAGES", 40)
    monkeypatch.setattr(_training, "VOCABULARY_IMAGES", 10)
    monkeypatch.setattr(_training, "VOCABULARY_DESCRIPTORS", 30)
    numbers = np.repeat(np.arange(90), 10)
    trained_on: list[int] = []

    class Counted(BoostKMeans):
        def fit(self, X, y=None, sample_weight=None):  # type: ignore[no-untyped-def]
            trained_on.append(len(X))
            return super().fit(X)

    monkeypatch.setattr(_training, "BoostKMeans", Counted)
    pipeline = VLADPipeline(4, 100, random_state=0).fit_descriptors(DESCRIPTORS, numbers)
    assert trained_on == [30]
    assert pipeline.n_images_ == 40
    assert pipeline.n_components_ == 39  # 40 vectors minus their mean span 39 dimensions
    assert pipeline.transform_descriptors(DESCRIPTORS, numbers).shape == (90, 39)


@pytest.mark.parametrize(
    ("descriptors", "numbers", "message"),
    [
        (DESCRIPTORS, NUMBERS[:-1], "image_numbers must be 900 integers"),
        (DESCRIPTORS, NUMBERS.astype(float), "image_numbers must be 900 integers.*float64"),
        (DESCRIPTORS[0], NUMBERS, r"Descriptors must be a numeric array.*\(16,\)"),
        (-DESCRIPTORS.astype(float), NUMBERS, "must be finite and not negative"),
        (np.where(DESCRIPTORS == 7, np.nan, DESCRIPTORS), NUMBERS, "must be finite and not negative"),
        (np.where(DESCRIPTORS == 7, np.inf, DESCRIPTORS), NUMBERS, "must be finite and not negative"),
    ],
)
def test_rejects_invalid_descriptors(descriptors: object, numbers: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VLADPipeline(5).fit_descriptors(descriptors, numbers)  # type: ignore[arg-type]


def test_rejects_too_few_descriptors_and_images() -> None:
    with pytest.raises(TooFewRowsError, match="n_samples=4 should be >= n_words=5"):
        VLADPipeline(5).fit_descriptors(DESCRIPTORS[:4], [0, 0, 1, 1])
    with pytest.raises(DataFormatError, match=r"At least 2 images with keypoints are needed\. Got 1,"):
        VLADPipeline(5).fit_descriptors(DESCRIPTORS, np.zeros(900, dtype=int))
    pipeline = VLADPipeline(5, 4, random_state=0).fit_descriptors(DESCRIPTORS, NUMBERS)
    with pytest.raises(FeatureCountError, match="X has 15 features, but VLADPipeline is expecting 16"):
        pipeline.transform_descriptors(DESCRIPTORS[:, :15], NUMBERS)
    empty = pipeline.transform_descriptors(DESCRIPTORS[:0], NUMBERS[:0])
    assert empty.shape == (0, 4)


# Equal descriptors and vectors


def equal_images(n_images: int = 20) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return images with the same 15 descriptors each."""
    return np.tile(DESCRIPTORS[:15], (n_images, 1)), np.repeat(np.arange(n_images), 15)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(DESCRIPTORS[:15], id="equal images"),
        pytest.param(np.zeros((15, 16)), id="zeros"),
        pytest.param(np.full((15, 16), 7), id="constant"),
        pytest.param(np.tile(DESCRIPTORS[:3], (5, 1)), id="as many descriptors as words"),
    ],
)
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_images_with_equal_vectors_have_no_components(rows: NDArray[np.float64]) -> None:
    descriptors, numbers = np.tile(rows, (20, 1)), np.repeat(np.arange(20), 15)
    pipeline = VLADPipeline(3, 5, random_state=0)
    with pytest.raises(
        DataFormatError, match=r"All images have the same VLAD vector.*n_components=None"
    ):
        pipeline.fit_descriptors(descriptors, numbers)
    assert not hasattr(pipeline, "words_")
    vectors = pipeline.set_params(n_components=None).fit_transform_descriptors(descriptors, numbers)
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(vectors, vectors[:1].repeat(20, axis=0))


def test_components_without_variance_are_omitted(tmp_path: Path) -> None:
    """Two kinds of images have one component, on which they lie on opposite sides of the mean."""
    descriptors = np.tile(DESCRIPTORS[:30], (10, 1))
    numbers = np.repeat(np.arange(20), 15)
    pipeline = VLADPipeline(3, 5, random_state=0)
    vectors = pipeline.fit_transform_descriptors(descriptors, numbers)
    np.testing.assert_allclose(vectors, np.tile([[vectors[0, 0]], [-vectors[0, 0]]], (10, 1)))
    assert pipeline.n_components_ == 1
    assert pipeline.explained_variance_ratio_ is not None
    np.testing.assert_allclose(pipeline.explained_variance_ratio_, [1])
    pipeline.save(tmp_path / "pipeline.st")
    loaded = VLADPipeline.load(tmp_path / "pipeline.st")
    np.testing.assert_array_equal(loaded.transform_descriptors(descriptors, numbers), vectors)


def test_descriptors_that_equal_words_have_no_vector() -> None:
    """The residuals are rounding errors, which must not be scaled to unit length."""
    words = root_sift(DESCRIPTORS[:4])
    words[:, 0] = np.nextafter(words[:, 0], np.float32(2))
    rows = DESCRIPTORS[[0, 1, 2, 3, 3, 3]]
    bag = Bag(rows, np.array([2, 4]))
    np.testing.assert_array_equal(vlad(bag, words, 1), np.zeros((2, 64)))
    other = Bag(np.concatenate([rows, DESCRIPTORS[4:5]]), np.array([2, 4, 1]))
    np.testing.assert_allclose(np.linalg.norm(vlad(other, words, 1), axis=1), [0, 0, 1], rtol=1e-6)


def test_transform_of_equal_images() -> None:
    pipeline = VLADPipeline(3, 5, random_state=0).fit_descriptors(DESCRIPTORS, NUMBERS)
    vectors = pipeline.transform_descriptors(*equal_images())
    np.testing.assert_array_equal(vectors, vectors[:1].repeat(20, axis=0))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
