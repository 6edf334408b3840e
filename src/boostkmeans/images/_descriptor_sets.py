"""Descriptors that are grouped by the number of their image."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans.images._extraction import IMAGES_PER_BATCH
from boostkmeans.images._keypoints import Descriptors, check_descriptors
from boostkmeans.images._vlad import Bag


@dataclass(frozen=True)
class DescriptorSet:
    """Descriptors of several images."""

    descriptors: Descriptors
    order: NDArray[np.int64]
    """Places of the descriptors, sorted by image."""
    starts: NDArray[np.int64]
    """Place in `order` of the first descriptor of each image, and the number of descriptors."""

    @classmethod
    def of(cls, descriptors: ArrayLike, image_numbers: ArrayLike) -> Self:
        """Check descriptors and image numbers that a user passes."""
        rows = check_descriptors(descriptors, "Descriptors")
        numbers = np.asarray(image_numbers)
        if numbers.shape != (len(rows),) or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"image_numbers must be {len(rows)} integers, one per descriptor. Got {numbers.dtype} "
                f"of shape {numbers.shape}."
            )
        order = np.argsort(numbers, kind="stable")
        _, starts = np.unique(numbers[order], return_index=True)
        return cls(rows, order, np.append(starts, len(rows)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def bags(self, images: NDArray[np.int64]) -> Iterator[Bag]:
        """Yield the descriptors of images, which are given by their places, in batches."""
        for begin in range(0, len(images), IMAGES_PER_BATCH):
            batch = images[begin : begin + IMAGES_PER_BATCH]
            places = [self.order[self.starts[i] : self.starts[i + 1]] for i in batch]
            counts = np.array([len(one) for one in places], dtype=np.int64)
            yield Bag(self.descriptors[np.concatenate(places)], counts)
