"""RootSIFT and VLAD: one vector per image, made of its local descriptors.

RootSIFT (Arandjelović, Zisserman 2012) is the square root of a descriptor divided by its sum. VLAD
(Jégou et al. 2012) sums, for each word of a vocabulary, the differences between the word and the
descriptors that are nearest to it. The square root of each component (with its sign) reduces the weight
of repeated patterns. Finally, the vector is scaled to unit length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.rows import Rows
from boostkmeans._steps.nearest import nearest_labels
from boostkmeans.images._keypoints import Descriptors

Floats = NDArray[np.float32]

# Rounding error of a component of a descriptor minus a word, which are at most 1.
ROUNDING = 2.0**-22


@dataclass(frozen=True)
class Bag:
    """Descriptors of several images that have keypoints."""

    rows: Descriptors
    """Descriptors of all images, one image after the other."""
    counts: NDArray[np.int64]
    """Number of descriptors of each image; none is 0."""

    @classmethod
    def of(cls, descriptors: Sequence[Descriptors]) -> Self:
        """Return the bag of several images. Raise ValueError if their descriptors differ in length."""
        widths = sorted({one.shape[1] for one in descriptors})
        if len(widths) > 1:
            raise ValueError(
                "All descriptors must have the same number of features. "
                f"Got {widths[0]} and {widths[1]}."
            )
        counts = np.array([len(one) for one in descriptors], dtype=np.int64)
        return cls(np.concatenate(descriptors), counts)

    def __len__(self) -> int:
        return len(self.counts)


def root_sift(descriptors: Descriptors) -> Floats:
    """Return descriptors divided by their sums, then their square roots. Rows of zeros remain."""
    rows = descriptors.astype(np.float32)
    sums = rows.sum(axis=1, keepdims=True, dtype=np.float64)
    rows /= np.where(sums > 0, sums, 1).astype(np.float32)
    return np.sqrt(rows, out=rows)


def vlad(bag: Bag, words: Floats, n_threads: int) -> Floats:
    """Return the VLAD vectors of images, with n_words x n_features components."""
    rows = root_sift(bag.rows)
    n_words, n_features = words.shape
    frame = Rows.in_own_frame(words, "euclidean", 1).frame
    centres = frame.enter(words.astype(np.float64))
    labels = nearest_labels(Rows(rows, frame, None), centres, n_threads)
    cells = np.repeat(np.arange(len(bag)), bag.counts) * n_words + labels
    order = np.argsort(cells, kind="stable")
    residuals = rows[order] - words[labels[order]]
    cells = cells[order]
    first = np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]]))
    sums = np.zeros((len(bag) * n_words, n_features), dtype=np.float32)
    sums[cells[first]] = np.add.reduceat(residuals, first, axis=0)
    vectors = sums.reshape(len(bag), n_words * n_features)
    roots = np.sqrt(np.abs(vectors))
    # If all descriptors of an image equal words, only rounding errors are left.
    limits = bag.counts * (n_features * ROUNDING)
    roots[np.square(roots).sum(axis=1, dtype=np.float64) <= limits] = 0
    return unit_length(np.copysign(roots, vectors))


def unit_length(vectors: Floats) -> Floats:
    """Scale rows to length 1, in place. Rows of zeros remain."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(lengths > 0, lengths, 1)
    return vectors


def project(vectors: Floats, mean: Floats, components: Floats) -> Floats:
    """Return the principal components of VLAD vectors, scaled to unit length."""
    return unit_length(np.matmul(vectors - mean, components.T, dtype=np.float32))
