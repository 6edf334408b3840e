"""`DescriptorPipeline`: the part of the pipeline from descriptors to vectors."""

import os
from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boostkmeans._runtime.errors import FeatureCountError, Message, Parameter, ParameterConflictError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._storage.model_format import ModelLayout, read_model, write_model
from boostkmeans.images import _training
from boostkmeans.images._descriptor_sets import DescriptorSet
from boostkmeans.images._keypoints import Describer
from boostkmeans.images._model_layout import PipelineLayout
from boostkmeans.images._report import Report, SkippedImage
from boostkmeans.images._training import Projection, Trainer
from boostkmeans.images._vlad import Bag, Floats, project, vlad

# Value of `keypoints_` for a user's function, and for descriptors without images.
CALLABLE = "callable"
DESCRIPTORS = "descriptors"
NOT_STORED = "Set it with set_params. A function is not stored in files."


def _changed(name: str, fitted: object, now: object, remedy: str = "") -> ParameterConflictError:
    """Return the error about a parameter that was changed after the fit."""
    return ParameterConflictError(
        Message(
            "The pipeline was fitted with {fitted}, but now has {now}.",
            fitted=Parameter(name, fitted),
            now=Parameter(name, now),
        ),
        remedy=remedy or "Set it back with set_params, or fit the pipeline again.",
    )


class DescriptorPipeline(BaseEstimator):
    """Vectors of images that are given as descriptors: RootSIFT, VLAD, PCA and unit length.

    `VLADPipeline` has the parameters and the fitted attributes, and computes descriptors of images.
    """

    _layout: ClassVar[ModelLayout] = PipelineLayout()

    n_words: int
    n_components: int | None
    keypoints: str | Describer
    progress: ProgressCallback | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None

    words_: Floats
    mean_: Floats | None
    components_: Floats | None
    explained_variance_ratio_: NDArray[np.float64] | None
    n_components_: int
    n_images_: int
    keypoints_: str
    skipped_: list[SkippedImage]
    without_keypoints_: list[str]

    def fit_descriptors(self, descriptors: ArrayLike, image_numbers: ArrayLike) -> Self:
        """Learn the vocabulary and the principal components from descriptors instead of images.

        Parameters
        ----------
        descriptors : array-like of shape (n_descriptors, n_features)
            Local descriptors, such as SIFT, without negative values.
        image_numbers : array-like of shape (n_descriptors,)
            Number of the image of each descriptor.

        Returns
        -------
        VLADPipeline
            The fitted pipeline.
        """
        self.fit_transform_descriptors(descriptors, image_numbers)
        return self

    def fit_transform_descriptors(self, descriptors: ArrayLike, image_numbers: ArrayLike) -> Floats:
        """Fit the pipeline to descriptors, and return the vectors of their images.

        Parameters
        ----------
        descriptors : array-like of shape (n_descriptors, n_features)
            Local descriptors, such as SIFT, without negative values.
        image_numbers : array-like of shape (n_descriptors,)
            Number of the image of each descriptor.

        Returns
        -------
        ndarray of shape (n_images, n_components_), float32
            One row of unit length per image, in ascending order of the image numbers.
        """
        self._check_parameters()
        images = DescriptorSet.of(descriptors, image_numbers)
        report = Report()
        chosen, trainer = self._choose(len(images))
        if len(images) < 2:
            raise report.too_few_error(len(images))
        words, vectors = trainer.words_and_vectors(images.bags(chosen))
        self._set_result(words, trainer.projection(vectors), len(chosen), DESCRIPTORS, report)
        return self.transform_descriptors(descriptors, image_numbers)

    def transform_descriptors(self, descriptors: ArrayLike, image_numbers: ArrayLike) -> Floats:
        """Return the vectors of images that are given as descriptors.

        Parameters
        ----------
        descriptors : array-like of shape (n_descriptors, n_features)
            Local descriptors, such as SIFT, without negative values.
        image_numbers : array-like of shape (n_descriptors,)
            Number of the image of each descriptor.

        Returns
        -------
        ndarray of shape (n_images, n_components_), float32
            One row of unit length per image, in ascending order of the image numbers.
        """
        check_is_fitted(self, "words_")
        images = DescriptorSet.of(descriptors, image_numbers)
        parts = [self._project(self._vlad(bag)) for bag in images.bags(np.arange(len(images)))]
        return np.concatenate([np.empty((0, self.n_components_), dtype=np.float32), *parts])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted pipeline to a file.

        An existing file is replaced atomically. A function passed as `keypoints` or `progress` is not
        stored.

        Parameters
        ----------
        path : str or path-like
            File to write.

        Raises
        ------
        ParameterConflictError
            If `n_words`, `n_components` or `keypoints` was changed since the fit.
        """
        check_is_fitted(self, "words_")
        self._check_unchanged()
        write_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a pipeline from a file written by `save`.

        The file is checked, and nothing in it is executed. If `keypoints` was a function, set it again
        with `set_params`.

        Parameters
        ----------
        path : str or path-like
            File to read.

        Returns
        -------
        VLADPipeline
            The fitted pipeline.

        Raises
        ------
        DataFormatError
            If the file is damaged or not the file of a pipeline.
        """
        return read_model(cls, path)

    def _choose(self, n_images: int) -> tuple[NDArray[np.int64], Trainer]:
        """Return the training images in random order, and the settings of the training."""
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31 - 1, size=3).tolist()
        chosen = rng.permutation(n_images)[: _training.TRAINING_IMAGES]
        trainer = Trainer(
            self.n_words, self.n_components, tuple(seeds), resolve_threads(self.n_jobs), self._progress
        )
        return chosen, trainer

    def _set_result(
        self, words: Floats, projection: Projection | None, n_images: int, kind: str, report: Report
    ) -> None:
        self.__dict__.update(
            words_=words,
            mean_=projection.mean if projection else None,
            components_=projection.components if projection else None,
            explained_variance_ratio_=projection.variance_ratios if projection else None,
            n_components_=len(projection.components) if projection else words.size,
            n_images_=n_images,
            keypoints_=kind,
            skipped_=report.skipped,
            without_keypoints_=report.without_keypoints,
        )

    def _vlad(self, bag: Bag) -> Floats:
        n_features, n_expected = bag.rows.shape[1], self.words_.shape[1]
        if n_features != n_expected:
            raise FeatureCountError(n_features, n_expected, type(self).__name__)
        return vlad(bag, self.words_, resolve_threads(self.n_jobs))

    def _project(self, vectors: Floats) -> Floats:
        if self.mean_ is None or self.components_ is None:
            return vectors
        return project(vectors, self.mean_, self.components_)

    @property
    def _progress(self) -> ProgressCallback:
        return self.progress or ignore_progress

    @property
    def _n_features_out(self) -> int:
        """Number of output features, for scikit-learn."""
        return self.n_components_

    @property
    def _kind(self) -> str:
        """Value of `keypoints_` if images are described now."""
        return self.keypoints if isinstance(self.keypoints, str) else CALLABLE

    def _check_keypoints(self) -> None:
        """Raise if images would be described in another way than those of `fit`."""
        if self.keypoints_ not in (self._kind, DESCRIPTORS):
            raise _changed("keypoints", self.keypoints_, self._kind, NOT_STORED)

    def _check_unchanged(self) -> None:
        """Raise if `set_params` changed a parameter that the fitted attributes depend on."""
        self._check_parameters()
        # A pipeline of a function, loaded from a file, has other keypoints until the user sets them.
        if self.keypoints_ != CALLABLE:
            self._check_keypoints()
        if self.n_words != len(self.words_):
            raise _changed("n_words", len(self.words_), self.n_words)
        fitted = None if self.components_ is None else self.n_components_
        # `n_components` is a maximum: there may be fewer components.
        if (self.n_components is None) != (fitted is None) or (self.n_components or 0) < (fitted or 0):
            raise _changed("n_components", fitted, self.n_components)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ParameterError for the first parameter that is not valid."""
