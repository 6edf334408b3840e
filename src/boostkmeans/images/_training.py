"""Training: a vocabulary of words, and the principal components of the VLAD vectors."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.errors import DataFormatError, TooFewRowsError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.images._vlad import Bag, Floats, root_sift, vlad

# Number of images whose descriptors train the vocabulary. Their descriptors are in memory together.
VOCABULARY_IMAGES = 1024
# Number of descriptors that train the vocabulary.
VOCABULARY_DESCRIPTORS = 200_000
# Variance along a component that counts as none. Vectors have unit length and single precision.
NO_VARIANCE = 1e-12
# Number of images that train the principal components. Their VLAD vectors take 256 MB for 64 words.
TRAINING_IMAGES = 8192


@dataclass(frozen=True)
class Projection:
    """Projection of VLAD vectors to their principal components."""

    mean: Floats
    components: Floats
    """One component per row."""
    variance_ratios: NDArray[np.float64]
    """Share of the variance that each component explains."""


@dataclass(frozen=True)
class Trainer:
    """Settings of the training."""

    n_words: int
    n_components: int | None
    seeds: tuple[int, int, int]
    """Seeds of the choice of descriptors, of the vocabulary and of the principal components."""
    n_threads: int
    progress: ProgressCallback

    def vocabulary(self, bags: list[Bag]) -> Floats:
        """Return the words: centres of clusters of descriptors."""
        rows = np.concatenate([bag.rows for bag in bags])
        if len(rows) < self.n_words:
            remedy = "Provide more images, or use fewer words."
            raise TooFewRowsError(len(rows), self.n_words, "n_words", remedy=remedy)
        if len(rows) > VOCABULARY_DESCRIPTORS:
            rng = np.random.default_rng(self.seeds[0])
            rows = rows[np.sort(rng.choice(len(rows), VOCABULARY_DESCRIPTORS, replace=False))]
        self.progress("training the vocabulary", 0, None)
        model = BoostKMeans(self.n_words, random_state=self.seeds[1], n_threads=self.n_threads)
        return model.fit(root_sift(rows)).cluster_centers_.astype(np.float32)

    def words_and_vectors(self, bags: Iterable[Bag]) -> tuple[Floats, Floats]:
        """Return the vocabulary and the VLAD vectors of all images.

        The first images train the vocabulary. Their descriptors are kept until it is complete.
        """
        words: Floats | None = None
        kept: list[Bag] = []
        vectors: list[Floats] = []
        for bag in bags:
            kept.append(bag)
            if words is None and sum(map(len, kept)) >= VOCABULARY_IMAGES:
                words = self.vocabulary(kept)
            if words is not None:
                vectors += [vlad(one, words, self.n_threads) for one in kept]
                kept = []
        if words is None:
            words = self.vocabulary(kept)
        vectors += [vlad(one, words, self.n_threads) for one in kept]
        return words, np.concatenate(vectors)

    def projection(self, vectors: Floats) -> Projection | None:
        """Return the principal components, or None if none are requested.

        Components without variance are omitted: they would scale rounding errors to unit length.
        """
        if self.n_components is None:
            return None
        if all_equal(vectors):
            raise no_components_error()
        # Importing scikit-learn's decompositions takes time that other uses of this package do not need.
        from sklearn.decomposition import PCA

        self.progress("training the projection", 0, None)
        # n vectors minus their mean span n - 1 dimensions.
        n_components = min(self.n_components, len(vectors) - 1, vectors.shape[1])
        pca = PCA(n_components, random_state=self.seeds[2]).fit(vectors)
        kept = pca.explained_variance_ > NO_VARIANCE
        if not kept.any():
            raise no_components_error()
        return Projection(
            np.asarray(pca.mean_, dtype=np.float32),
            np.ascontiguousarray(pca.components_[kept], dtype=np.float32),
            np.asarray(pca.explained_variance_ratio_[kept], dtype=np.float64),
        )


def all_equal(vectors: Floats) -> bool:
    """Return True if all vectors are equal, apart from rounding errors."""
    first = vectors[0]
    return all(float(np.square(one - first).sum()) <= NO_VARIANCE for one in vectors)


def no_components_error() -> DataFormatError:
    """Return the error for images whose vectors have no principal components."""
    return DataFormatError(
        "All images have the same VLAD vector, so that there are no principal components.",
        file="images",
        remedy="Provide images that differ, or use n_components=None.",
    )
