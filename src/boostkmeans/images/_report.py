"""What happened to each image: vectors, skipped files, and images without keypoints."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans._runtime.untrusted_text import escape_untrusted

# Number of skipped images that a warning names.
MAX_NAMED = 5


@dataclass(frozen=True)
class SkippedImage:
    """An image that could not be used."""

    name: str
    """Name of the image."""
    reason: str
    """Reason why it could not be used."""


@dataclass(frozen=True)
class ImageVectors:
    """Vectors of images, and the images that have no vector."""

    __repr__ = short_repr

    names: list[str]
    """Name of the image of each row."""
    vectors: NDArray[np.float32]
    """One row of unit length per image."""
    without_keypoints: list[str] = field(default_factory=list)
    """Names of images without keypoints, such as images of a single colour."""
    skipped: list[SkippedImage] = field(default_factory=list)
    """Images that could not be read."""


@dataclass
class Report:
    """Images that have no descriptors, in the order of the images."""

    skipped: list[SkippedImage] = field(default_factory=list)
    without_keypoints: list[str] = field(default_factory=list)

    def warn(self, consequence: str, stacklevel: int) -> None:
        """Warn if an image could not be read, and name the first ones.

        `consequence` says what happens to them, e.g. "They are ignored".
        """
        if not self.skipped:
            return
        named = "; ".join(
            f"{escape_untrusted(one.name)}: {one.reason}" for one in self.skipped[:MAX_NAMED]
        )
        n_more = len(self.skipped) - MAX_NAMED
        more = f"; and {n_more} more" if n_more > 0 else ""
        warnings.warn(
            f"{len(self.skipped)} images cannot be read. {consequence}. {named}{more}.",
            stacklevel=stacklevel + 1,
        )

    def too_few_error(self, n_used: int) -> DataFormatError:
        """Return the error for images of which fewer than two have keypoints."""
        first = f" {self.skipped[0].name}: {self.skipped[0].reason}." if self.skipped else ""
        return DataFormatError(
            f"At least 2 images with keypoints are needed. Got {n_used}, {len(self.without_keypoints)} "
            f"without keypoints, and {len(self.skipped)} that cannot be read.{first}",
            file="images",
        )
