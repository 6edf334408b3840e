"""Vectors of images from the `features` argument of `cluster_images`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.images._duplicates.miniatures import read_miniatures
from boostkmeans.images._features.feature_rows import FeatureRows
from boostkmeans.images._features.onnx_features import OnnxFeatures
from boostkmeans.images._pipeline import VLADPipeline
from boostkmeans.images._report import ImageVectors
from boostkmeans.images._sources import ListedImages

Floats = NDArray[np.float32]
Features = str | os.PathLike[str] | VLADPipeline | OnnxFeatures | ArrayLike
"""Kind or source of the vectors."""

VLAD = "vlad"
ONNX_ENDING = ".onnx"


@dataclass(frozen=True)
class Described:
    """Vectors of images, and how they were computed."""

    found: ImageVectors
    kind: str
    """Name of the features, for reports."""
    pipeline: VLADPipeline | None
    """Pipeline that computed the vectors. None for other features."""
    miniatures: Floats | None
    """Miniatures, if the images were decoded for them already."""


@dataclass(frozen=True)
class VectorRequest:
    """Options for the vectors of images."""

    features: Features
    id_column: str | None
    key: str | Sequence[str] | None
    random_state: Any
    n_jobs: int
    progress: ProgressCallback

    def describe(self, images: ListedImages) -> Described:
        """Return the vectors of images."""
        features = self.features
        if isinstance(features, str | os.PathLike) and Path(features).suffix.lower() == ONNX_ENDING:
            features = OnnxFeatures(features, progress=self.progress, n_jobs=self.n_jobs)
        elif isinstance(features, str) and features == VLAD:
            features = VLADPipeline(
                random_state=self.random_state, progress=self.progress, n_jobs=self.n_jobs
            )
        if isinstance(features, VLADPipeline | OnnxFeatures):
            self._check_no_table()
        if isinstance(features, VLADPipeline):
            is_fitted = hasattr(features, "words_")
            found = features.describe(images) if is_fitted else features.fit_describe(images)
            return Described(found, f"VLAD, {features.keypoints_}", features, None)
        if isinstance(features, OnnxFeatures):
            return Described(features.describe(images), Path(features.path).name, None, None)
        return self._match(features, images)

    def _match(self, features: Any, images: ListedImages) -> Described:
        if isinstance(features, str | os.PathLike):
            rows = FeatureRows.read(features, self.id_column, self.key, self.progress)
        else:
            self._check_no_table()
            rows = FeatureRows.of(features, "features")
        # Decoding shows which files are images.
        miniatures, undecodable = read_miniatures(images.sources, self.n_jobs, self.progress)
        found = rows.match(images.sources, images.unreadable, undecodable)
        return Described(found, Path(rows.name).name, None, miniatures)

    def _check_no_table(self) -> None:
        for name, value in (("id_column", self.id_column), ("key", self.key)):
            if value is not None:
                raise ParameterConflictError(
                    Message(
                        "{given} is for features that are read from a table.",
                        given=Parameter(name, value),
                    )
                )
