"""`OnnxFeatures`: vectors of images that a neural network computes."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import (
    Message,
    Parameter,
    ParameterConflictError,
    ParameterError,
)
from boostkmeans._runtime.parameter_checks import int_range
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.images._decoding import UnreadableImageError, read_rgb
from boostkmeans.images._extraction import IMAGES_PER_BATCH, Content, extract
from boostkmeans.images._features.onnx_model import CHANNELS, ImageInput, OnnxModel
from boostkmeans.images._packages import import_pillow
from boostkmeans.images._report import ImageVectors, SkippedImage
from boostkmeans.images._sources import Images, ImageSource, list_images
from boostkmeans.images._vlad import unit_length

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]

# Means and standard deviations of the colours of ImageNet, which most models were trained with.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
# Side of an image if the model accepts any size.
DEFAULT_SIZE = 224
# Number of bytes of the images that are in memory at a time.
MAX_BYTES = 1 << 26
ZERO_VECTOR = "the model returns 0 for it"


@dataclass(frozen=True)
class Cropper:
    """Function from an image to its RGB values in a given size, or to the reason why there are none."""

    height: int
    width: int

    def __call__(self, content: Content) -> Pixels | str:
        try:
            # The shortest side of the decoded image is as long as the longest one of the result.
            rgb = read_rgb(content, max(self.height, self.width))
        except UnreadableImageError as error:
            return str(error)
        return crop_to(rgb, self.height, self.width)


def crop_to(rgb: Pixels, height: int, width: int) -> Pixels:
    """Scale an image so that it covers a size, and cut out its centre."""
    pillow = import_pillow()
    image = pillow.fromarray(rgb)
    scale = min(image.width / width, image.height / height)
    wide, high = width * scale, height * scale
    left, top = (image.width - wide) / 2, (image.height - high) / 2
    box = (left, top, left + wide, top + high)
    return np.asarray(image.resize((width, height), pillow.Resampling.BICUBIC, box=box))


class OnnxFeatures:
    """Vectors of images that a neural network in an ONNX file computes.

    The model must have one input of shape (batch, 3, height, width) or (batch, height, width, 3) with
    RGB values. Each dimension except that of the channels may be dynamic. An image is scaled so that it
    covers the size of the input, and its centre is cut out. Floating-point inputs are
    ``(values / 255 - mean) / std``. Inputs of type uint8 are the values from 0 to 255. The output is
    flattened and scaled to unit length.

    Parameters
    ----------
    path : path-like
        File of the model. onnxruntime executes it, so use only models from sources that you trust.
    size : int, default=None
        Height and width of the input, if the model accepts any size. None stands for 224.
    mean : sequence of three floats, default=(0.485, 0.456, 0.406)
        Mean of the red, green and blue values. The default is that of ImageNet.
    std : sequence of three floats, default=(0.229, 0.224, 0.225)
        Standard deviation of the red, green and blue values. The default is that of ImageNet.
    output : str, default=None
        Name of the output to use. None stands for the first one.
    batch_size : int, default=32
        Number of images that the model processes at a time, if it accepts any number.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.
    n_jobs : int, default=None
        Number of processes that decode images, and of threads of the model. None uses all processors
        available to this process.

    Examples
    --------
    >>> from boostkmeans.images import OnnxFeatures
    >>> features = OnnxFeatures("resnet50.onnx", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
    >>> found = features.describe("photos")  # doctest: +SKIP
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        size: int | None = None,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        output: str | None = None,
        batch_size: int = 32,
        progress: ProgressCallback | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.path = path
        self.size = size
        self.mean = mean
        self.std = std
        self.output = output
        self.batch_size = batch_size
        self.progress = progress
        self.n_jobs = n_jobs
        self._check_parameters()

    def describe(self, images: Images) -> ImageVectors:
        """Return the vectors of all images that can be read, with their names, and the other images.

        Parameters
        ----------
        images : path of a folder, sequence of paths, or sequence of arrays
            Images.

        Returns
        -------
        ImageVectors
            Vectors of unit length, names, and images that cannot be read.

        Raises
        ------
        DataFormatError
            If the file is not a model, or if the model does not map images to vectors.
        """
        model = OnnxModel(self.path, self.output, resolve_threads(self.n_jobs))
        sources, unreadable = list_images(images)
        skipped = list(unreadable)
        names: list[str] = []
        parts: list[Floats] = []
        for batch, pixels in self._batches(model.input, sources, skipped):
            vectors = unit_length(model.run(self._values(model.input, pixels)))
            is_used = [bool(one.any()) for one in vectors]
            names += [name for name, used in zip(batch, is_used, strict=True) if used]
            skipped += [
                SkippedImage(name, ZERO_VECTOR)
                for name, used in zip(batch, is_used, strict=True)
                if not used
            ]
            parts.append(vectors[is_used])
        vectors = np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)
        return ImageVectors(names, vectors, [], skipped)

    def _batches(
        self, model_input: ImageInput, sources: Sequence[ImageSource], skipped: list[SkippedImage]
    ) -> Iterator[tuple[list[str], Pixels]]:
        """Yield names and pixels of images that can be read, in batches for the model."""
        height, width = self._target(model_input)
        n_together = model_input.batch or self.batch_size
        n_in_memory = max(1, min(IMAGES_PER_BATCH, MAX_BYTES // (height * width * CHANNELS)))
        cropper, begin = Cropper(height, width), 0
        report = self.progress or ignore_progress
        n_jobs = resolve_threads(self.n_jobs)
        for results in extract(sources, cropper, n_jobs, report, batch_size=n_in_memory):
            read: list[tuple[str, Pixels]] = []
            for source, result in zip(sources[begin : begin + len(results)], results, strict=True):
                if isinstance(result, str):
                    skipped.append(SkippedImage(source.name, result))
                else:
                    read.append((source.name, result))
            begin += len(results)
            for start in range(0, len(read), n_together):
                batch = read[start : start + n_together]
                yield [name for name, _ in batch], np.stack([pixels for _, pixels in batch])

    def _values(self, model_input: ImageInput, pixels: Pixels) -> Floats | Pixels:
        if model_input.dtype is np.uint8:
            return pixels
        mean, std = (np.asarray(one, dtype=np.float32) for one in (self.mean, self.std))
        return (pixels.astype(np.float32) / np.float32(255) - mean) / std

    def _target(self, model_input: ImageInput) -> tuple[int, int]:
        """Return the height and the width of the input."""
        fixed = {one for one in (model_input.height, model_input.width) if one is not None}
        if self.size is not None and fixed - {self.size}:
            raise ParameterConflictError(
                Message(
                    "{size} contradicts the model, whose input has {height} x {width} pixels.",
                    size=Parameter("size", self.size),
                    height=model_input.height or "any number of",
                    width=model_input.width or "any number of",
                ),
                remedy="Leave it out.",
            )
        default = self.size or DEFAULT_SIZE
        return model_input.height or default, model_input.width or default

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        for name, value in (("size", self.size), ("batch_size", self.batch_size)):
            if name == "size" and value is None:
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ParameterError(name, int_range(1), value, owner=owner)
        for name, colours in (("mean", self.mean), ("std", self.std)):
            if not _is_colour(colours) or (name == "std" and min(colours) <= 0):
                above = " above 0" if name == "std" else ""
                raise ParameterError(name, f"three finite numbers{above}", colours, owner=owner)


def _is_colour(value: Any) -> bool:
    return (
        isinstance(value, Sequence | np.ndarray)
        and len(value) == CHANNELS
        and all(isinstance(one, Real) and np.isfinite(float(one)) for one in value)
    )
