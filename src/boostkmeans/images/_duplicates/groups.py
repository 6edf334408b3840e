"""`near_duplicates`: groups of images that are copies of each other, or nearly so."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostkmeans._pairs.limits import COSINE_RANGE
from boostkmeans._pairs.links import Links, RowGroups
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.images._duplicates.identical_files import identical_contents
from boostkmeans.images._duplicates.miniatures import read_miniatures
from boostkmeans.images._duplicates.similar_vectors import similar_vectors
from boostkmeans.images._sources import Images, ImageSource, list_images

Floats = NDArray[np.float32]

# Cosine of two vectors of any kind, and of two miniatures. See docs/photographs.md for the measurement.
THRESHOLD = 0.95
MINIATURE_THRESHOLD = 0.98


@dataclass(frozen=True)
class DuplicateGroup:
    """A group of images that are copies of each other, or nearly so."""

    names: list[str]
    """Names of the images, in the order of the images."""
    rows: list[int]
    """Places of the images, counted from 0."""
    similarity: float
    """Each image has at least this similarity to another image of the group. 1 means equal."""
    identical: bool
    """True if all files have the same bytes."""


def near_duplicates(
    vectors: ArrayLike | None,
    images: Images,
    *,
    threshold: float | None = THRESHOLD,
    miniatures: float | None = MINIATURE_THRESHOLD,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> list[DuplicateGroup]:
    """Return groups of images that are copies of each other, or nearly so.

    Two images are linked if their files have the same bytes, if their miniatures have a high cosine, or
    if their vectors have a high cosine. A group is a set of images that are linked directly or through
    other images. No file is changed or deleted.

    A miniature has the grey levels of 16 x 16 pixels. Miniatures find copies that were resized,
    compressed or changed in colour. Vectors of the image's content, such as VLAD vectors, also find
    copies that were cropped.

    Parameters
    ----------
    vectors : array-like of shape (n_images, n_features) or None
        One vector per image. Images whose vector is 0 are compared by the other measures only. None
        compares no vectors.
    images : path of a folder, sequence of paths, or sequence of arrays
        Images, in the order of the vectors. Files that cannot be read are compared by their vectors.
    threshold : float or None, default=0.95
        Cosine from which vectors count as similar. It depends on the vectors: 0.7 suits VLAD vectors.
        None compares no vectors.
    miniatures : float or None, default=0.98
        Cosine from which miniatures count as similar. None compares no miniatures.
    n_jobs : int, default=None
        Number of processes that read images, and of threads. None uses all available processors.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.

    Returns
    -------
    list of DuplicateGroup
        The groups, in the order of their first images.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.images import near_duplicates
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 32, 32), dtype=np.uint8)
    >>> images[2] = images[0] // 2  # a darker copy
    >>> [(group.rows, group.identical) for group in near_duplicates(None, images)]
    [([0, 2], False)]
    """
    for name, value in (("threshold", threshold), ("miniatures", miniatures)):
        check_threshold(name, value, owner="near_duplicates")
    sources, _ = list_images(images)
    n_threads, report = resolve_threads(n_jobs), progress or ignore_progress
    rows = None if vectors is None else _check_vectors(vectors, len(sources))
    small = None if miniatures is None else read_miniatures(sources, n_threads, report)[0]
    measures = [(rows, threshold), (small, miniatures)]
    return find_groups(sources, measures, n_threads, report)


def find_groups(
    sources: Sequence[ImageSource],
    measures: Sequence[tuple[Floats | None, float | None]],
    n_threads: int,
    progress: ProgressCallback,
) -> list[DuplicateGroup]:
    """Return the groups of images that are identical, or similar by one of the measures.

    A measure has one vector per image, and the cosine from which two vectors count as similar. It is not
    used if one of them is None.
    """
    links, similarities = Links(len(sources)), np.zeros(len(sources))
    copies = np.full(len(sources), -1)
    for number, equal in enumerate(identical_contents([one.content for one in sources], progress)):
        copies[equal] = number
        similarities[equal] = 1.0
        links.connect(np.full(len(equal), equal[0]), np.array(equal))
    for vectors, threshold in measures:
        if vectors is None or threshold is None:
            continue
        found = similar_vectors(vectors, threshold, n_threads, progress)
        links.connect(found.first, found.rows)
        similarities[found.rows] = np.maximum(similarities[found.rows], found.similarities)
    return [
        DuplicateGroup(
            names=[sources[place].name for place in group],
            rows=group.tolist(),
            similarity=float(similarities[group].min()),
            identical=bool(copies[group[0]] >= 0 and (copies[group] == copies[group[0]]).all()),
        )
        for group in RowGroups.of_components(links.components())
    ]


def check_threshold(name: str, value: Any, owner: str) -> None:
    """Raise ParameterError unless a threshold is None or a cosine above 0."""
    if value is None:
        return
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) <= 1:
        expected = Message("{range} or None", shell="{range}", range=COSINE_RANGE)
        raise ParameterError(name, expected, value, owner=owner)


def _check_vectors(vectors: ArrayLike, n_images: int) -> Floats:
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != n_images:
        raise ParameterConflictError(
            Message(
                "{vectors} must have one row per image. Got shape {shape} and {n} images.",
                vectors=Parameter("vectors"),
                shape=rows.shape,
                n=n_images,
            )
        )
    if not np.isfinite(rows).all():
        raise ValueError("vectors must be finite: they contain NaN or infinity.")
    return rows
