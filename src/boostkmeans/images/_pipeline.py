"""`VLADPipeline`: the paper's pipeline from photographs to vectors."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from boostkmeans._runtime.parameter_checks import ParameterChecker
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.images._descriptor_pipeline import DescriptorPipeline
from boostkmeans.images._extraction import IMAGES_PER_BATCH, Extractor, described_bags
from boostkmeans.images._keypoints import Describer, describer_of
from boostkmeans.images._report import ImageVectors, Report, SkippedImage
from boostkmeans.images._sources import Images, ImageSource, list_images
from boostkmeans.images._vlad import Bag, Floats

KEYPOINTS = ("sift", "hessian-affine")
# Stack level of warnings in `transform` and `fit_transform`, which scikit-learn wraps in a function.
WRAPPED = 3


class Trained(NamedTuple):
    """Images that trained a pipeline."""

    chosen: NDArray[np.int64]
    """Indices of the images that were read."""
    used: NDArray[np.int64]
    """Indices of those that have keypoints."""
    vectors: Floats
    """VLAD vectors of these."""
    report: Report


class VLADPipeline(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DescriptorPipeline):
    """Vectors of photographs: keypoints, RootSIFT, VLAD, PCA and unit length.

    Similar photographs have similar vectors, so that the vectors can be clustered. `fit` clusters the
    descriptors of keypoints into a vocabulary of words, and learns the principal components of the VLAD
    vectors. The defaults are those of the paper.

    Images are given as a folder, or as a sequence of paths or of arrays. The files of a folder are all
    files below it, in the order of their paths. Arrays have the type uint8 and the shape (height,
    width), or (height, width, channels) with RGB values. Formats are BMP, GIF, JPEG, PNG, PPM, TIFF and
    WebP. The EXIF orientation is respected. Files that cannot be decoded, or have more than 110 million
    pixels, are named and skipped.

    Parameters
    ----------
    n_words : int, default=64
        Number of words in the vocabulary.
    n_components : int or None, default=512
        Maximum number of principal components. There are at most as many as training images minus one,
        and none without variance. None omits the PCA: vectors have n_words x 128 components.
    keypoints : {"sift", "hessian-affine"} or callable, default="sift"
        Local descriptors. "sift" requires OpenCV, "hessian-affine" requires pyhesaff. A function
        receives the grey levels of an image (uint8, 2-D), and returns an array with one descriptor per
        row, best first, without negative values, or None.
    max_keypoints : int, default=1000
        Maximum number of descriptors per image: those with the highest contrast for SIFT, the largest
        regions for Hessian-Affine, and the first ones of a function.
    max_size : int or None, default=1024
        Longest side of an image in pixels. Larger images are scaled down. None means no limit.
    progress : callable, default=None
        Function called as ``progress(what, done, total)`` during long work.
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on `n_jobs`.
    n_jobs : int, default=None
        Number of processes that decode images and detect keypoints, and of threads for the other steps.
        None uses all processors available to this process.

    Attributes
    ----------
    words_ : ndarray of shape (n_words, n_descriptor_features), float32
        The vocabulary.
    mean_ : ndarray of shape (n_words * n_descriptor_features,), float32, or None
        Mean of the VLAD vectors of the training images. None without PCA.
    components_ : ndarray of shape (n_components_, n_words * n_descriptor_features), float32, or None
        Principal components. None without PCA.
    explained_variance_ratio_ : ndarray of shape (n_components_,), float64, or None
        Share of the variance that each component explains. None without PCA.
    n_components_ : int
        Number of components of a vector.
    n_images_ : int
        Number of images that trained the pipeline.
    keypoints_ : str
        "sift", "hessian-affine" or "callable", or "descriptors" after `fit_descriptors`.
    skipped_ : list of SkippedImage
        Images that `fit` could not read. Not stored in files.
    without_keypoints_ : list of str
        Names of the images of `fit` without keypoints. Not stored in files.

    Notes
    -----
    At most 8,192 images train a pipeline. They are drawn at random, and the first 1,024 of them train
    the vocabulary, with at most 200,000 descriptors. The memory therefore does not depend on the number
    of images, except for the vectors that are returned.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.images import VLADPipeline
    >>> def rows_of_pixels(grey):
    ...     return grey[::4]
    >>> images = np.random.default_rng(0).integers(0, 256, (10, 32, 32), dtype=np.uint8)
    >>> pipeline = VLADPipeline(2, 4, keypoints=rows_of_pixels, random_state=0)
    >>> pipeline.fit_transform(images).shape
    (10, 4)
    """

    _model_name: ClassVar[str] = "VLADPipeline"

    def __init__(
        self,
        n_words: int = 64,
        n_components: int | None = 512,
        *,
        keypoints: str | Describer = "sift",
        max_keypoints: int = 1000,
        max_size: int | None = 1024,
        progress: ProgressCallback | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_words = n_words
        self.n_components = n_components
        self.keypoints = keypoints
        self.max_keypoints = max_keypoints
        self.max_size = max_size
        self.progress = progress
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Images, y: Any = None) -> Self:
        """Learn the vocabulary and the principal components.

        Warns if images cannot be read; `skipped_` names all of them.

        Parameters
        ----------
        X : path of a folder, sequence of paths, or sequence of arrays
            Images.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        VLADPipeline
            The fitted pipeline.

        Raises
        ------
        DataFormatError
            If fewer than two images have keypoints, or all images have the same VLAD vector.
        """
        self._fit_images(*list_images(X)).report.warn("They are ignored", stacklevel=2)
        return self

    def fit_transform(self, X: Images, y: Any = None) -> Floats:
        """Fit the pipeline, and return the vectors of the images.

        The result is that of `fit` and `transform`, but images are read only once.

        Parameters
        ----------
        X : path of a folder, sequence of paths, or sequence of arrays
            Images.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        ndarray of shape (n_images, n_components_), float32
            One row per image: its vector of unit length, or zeros if it has none.
        """
        vectors, _, report = self._fit_vectors(*list_images(X))
        report.warn("Their rows are 0", stacklevel=WRAPPED)
        return vectors

    def fit_describe(self, X: Images, y: Any = None) -> ImageVectors:
        """Fit the pipeline, and return the vectors of the images with their names, and the other images.

        The result is that of `fit` and `describe`, but images are read only once.

        Parameters
        ----------
        X : path of a folder, sequence of paths, or sequence of arrays
            Images.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        ImageVectors
            Vectors, names, images without keypoints, and images that cannot be read.
        """
        sources, unreadable = list_images(X)
        return self._image_vectors(sources, *self._fit_vectors(sources, unreadable))

    def transform(self, X: Images) -> Floats:
        """Return the vectors of images.

        Warns if images cannot be read. `describe` reports them together with the vectors.

        Parameters
        ----------
        X : path of a folder, sequence of paths, or sequence of arrays
            Images.

        Returns
        -------
        ndarray of shape (n_images, n_components_), float32
            One row per image: its vector of unit length, or zeros if it cannot be read or has no
            keypoints.
        """
        check_is_fitted(self, "words_")
        sources, unreadable = list_images(X)
        report = Report(unreadable)
        vectors, _ = self._vectors(sources, report)
        report.warn("Their rows are 0", stacklevel=WRAPPED)
        return vectors

    def describe(self, X: Images) -> ImageVectors:
        """Return the vectors of all images that have one, with their names, and the other images.

        Use it for clustering: `transform` has rows of zeros, which would be a cluster.

        Parameters
        ----------
        X : path of a folder, sequence of paths, or sequence of arrays
            Images.

        Returns
        -------
        ImageVectors
            Vectors, names, images without keypoints, and images that cannot be read.
        """
        check_is_fitted(self, "words_")
        sources, unreadable = list_images(X)
        report = Report(unreadable)
        vectors, used = self._vectors(sources, report)
        return self._image_vectors(sources, vectors, used, report)

    @staticmethod
    def _image_vectors(
        sources: Sequence[ImageSource], vectors: Floats, used: NDArray[np.bool_], report: Report
    ) -> ImageVectors:
        names = [source.name for source, is_used in zip(sources, used, strict=True) if is_used]
        # `fit` reads images in random order.
        places = {source.name: place for place, source in enumerate(sources)}
        without_keypoints = sorted(report.without_keypoints, key=places.__getitem__)
        skipped = sorted(report.skipped, key=lambda one: places.get(one.name, -1))
        return ImageVectors(names, vectors[used], without_keypoints, skipped)

    def _fit_vectors(
        self, sources: list[ImageSource], unreadable: list[SkippedImage]
    ) -> tuple[Floats, NDArray[np.bool_], Report]:
        """Fit, and return one row per image, which images have a vector, and the other images."""
        trained = self._fit_images(sources, unreadable)
        result = np.zeros((len(sources), self.n_components_), dtype=np.float32)
        used = np.zeros(len(sources), dtype=bool)
        for begin in range(0, len(trained.used), IMAGES_PER_BATCH):
            batch = slice(begin, begin + IMAGES_PER_BATCH)
            result[trained.used[batch]] = self._project(trained.vectors[batch])
        used[trained.used] = True
        others = np.setdiff1d(np.arange(len(sources)), trained.chosen)
        result[others], used[others] = self._vectors([sources[i] for i in others], trained.report)
        return result, used, trained.report

    def _fit_images(self, sources: list[ImageSource], unreadable: list[SkippedImage]) -> "Trained":
        """Fit to images."""
        self._check_parameters()
        report = Report(list(unreadable))
        chosen, trainer = self._choose(len(sources))
        used: list[int] = []

        def bags() -> Iterator[Bag]:
            for places, bag in self._bags([sources[i] for i in chosen], report):
                used.extend(chosen[places].tolist())
                yield bag
            if len(used) < 2:
                raise report.too_few_error(len(used))

        words, vectors = trainer.words_and_vectors(bags())
        self._set_result(words, trainer.projection(vectors), len(vectors), self._kind, report)
        return Trained(chosen, np.array(used, dtype=np.int64), vectors, report)

    def _bags(
        self, sources: Sequence[ImageSource], report: Report
    ) -> Iterator[tuple[NDArray[np.int64], Bag]]:
        """Return the descriptors of images in batches, with the places of the images that have some."""
        extractor = Extractor(describer_of(self.keypoints), self.max_keypoints, self.max_size)
        n_jobs = resolve_threads(self.n_jobs)
        return described_bags(sources, extractor, n_jobs, self._progress, report)

    def _vectors(
        self, sources: Sequence[ImageSource], report: Report
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return one row per image, and which images have a vector. The others have zeros."""
        self._check_parameters()
        self._check_keypoints()
        vectors = np.zeros((len(sources), self.n_components_), dtype=np.float32)
        used = np.zeros(len(sources), dtype=bool)
        for places, bag in self._bags(sources, report):
            vectors[places] = self._project(self._vlad(bag))
            used[places] = True
        return vectors, used

    def _check_parameters(self) -> None:
        check = ParameterChecker(self)
        check.integer("n_words", self.n_words, 1)
        check.integer("max_keypoints", self.max_keypoints, 1)
        check.random_state(self.random_state)
        for name in ("n_components", "max_size", "n_jobs"):
            if getattr(self, name) is not None:
                check.integer(name, getattr(self, name), 1)
        if not callable(self.keypoints) and self.keypoints not in KEYPOINTS:
            check.fail("keypoints", "'sift', 'hessian-affine' or callable", self.keypoints)
        if self.progress is not None and not callable(self.progress):
            check.fail("progress", "callable or None", self.progress)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        tags.transformer_tags.preserves_dtype = []
        return tags
