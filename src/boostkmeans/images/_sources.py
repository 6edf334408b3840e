"""The images that a user passes: a folder, paths or arrays."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.images._report import SkippedImage
from boostkmeans.io._access.folder import files_below

Pixels = NDArray[np.uint8]

# Numbers of channels: grey, RGB, and RGB with transparency.
CHANNELS = (1, 3, 4)


@dataclass(frozen=True)
class ImageSource:
    """An image that is not decoded yet."""

    name: str
    content: Path | Pixels


@dataclass(frozen=True)
class ListedImages:
    """Images that were listed before. Several functions that receive it list a folder only once."""

    sources: list[ImageSource]
    unreadable: list[SkippedImage]
    """Sub-folders that cannot be read."""


Images = str | os.PathLike[str] | Iterable[str | os.PathLike[str] | ArrayLike] | ListedImages
"""A folder, or a sequence of paths or of arrays."""


def list_images(images: Images) -> tuple[list[ImageSource], list[SkippedImage]]:
    """Return the images, and the sub-folders that cannot be read.

    The files of a folder are those below it, in the order of their paths. Names that begin with a dot
    are ignored.
    """
    if isinstance(images, ListedImages):
        return images.sources, images.unreadable
    if isinstance(images, str | os.PathLike):
        return _list_folder(Path(images))
    return [_source(image, number) for number, image in enumerate(images, start=1)], []


def _list_folder(folder: Path) -> tuple[list[ImageSource], list[SkippedImage]]:
    if folder.exists() and not folder.is_dir():
        shown = escape_untrusted(str(folder))
        raise NotADirectoryError(f"{shown} is not a folder. Pass single images as a list.")
    unreadable: list[SkippedImage] = []
    names = files_below(folder, lambda name, reason: unreadable.append(SkippedImage(name, reason)))
    return [ImageSource(name, folder / name) for name in sorted(names)], unreadable


def _source(image: Any, number: int) -> ImageSource:
    if isinstance(image, str | os.PathLike):
        return ImageSource(os.fspath(image), Path(image))
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8:
        raise ValueError(
            f"Images must be paths or arrays of uint8. Got an array of {pixels.dtype} as image {number}."
        )
    is_grey = pixels.ndim == 2
    if pixels.size == 0 or not (is_grey or (pixels.ndim == 3 and pixels.shape[2] in CHANNELS)):
        raise ValueError(
            "Images must have the shape (height, width) or (height, width, channels) with 1, 3 or 4 "
            f"channels. Got {pixels.shape} as image {number}."
        )
    squeezed = pixels if is_grey or pixels.shape[2] > 1 else pixels[:, :, 0]
    return ImageSource(f"image {number}", squeezed)
