"""Miniatures: grey levels of 16 x 16 pixels, which change little if an image is resized or compressed.

The grey levels minus their mean, scaled to unit length, are a vector. The cosine of two such vectors is
the correlation of the grey levels. It does not depend on brightness and contrast.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.images._decoding import UnreadableImageError, read_grey
from boostkmeans.images._extraction import Content, extract
from boostkmeans.images._packages import import_pillow
from boostkmeans.images._report import SkippedImage
from boostkmeans.images._sources import ImageSource

Floats = NDArray[np.float32]

# Side of a miniature in pixels. See docs/photographs.md for the measurement.
SIDE = 16
# Images are scaled down to this size first. JPEG files are decoded at a fraction of their size.
MAX_SIZE = 128
# Standard deviation of the grey levels below which an image counts as uniform. Its miniature would
# consist of noise.
MIN_CONTRAST = 1.0


def read_miniatures(
    sources: Sequence[ImageSource], n_jobs: int, progress: ProgressCallback
) -> tuple[Floats, list[SkippedImage]]:
    """Return one miniature of unit length per image, and the images that cannot be read.

    Images that are uniform or cannot be read have zeros.
    """
    found = np.zeros((len(sources), SIDE * SIDE), dtype=np.float32)
    skipped: list[SkippedImage] = []
    place = 0
    for batch in extract(sources, miniature, n_jobs, progress, what="comparing images"):
        for result in batch:
            if isinstance(result, str):
                skipped.append(SkippedImage(sources[place].name, result))
            else:
                found[place] = result
            place += 1
    return found, skipped


def miniature(content: Content) -> Floats | str:
    """Return the miniature of an image, or the reason why it cannot be read."""
    try:
        grey = read_grey(content, MAX_SIZE)
    except UnreadableImageError as error:
        return str(error)
    pillow = import_pillow()
    # Float32, because rounding to integers would matter for images of low contrast.
    image = pillow.fromarray(grey.astype(np.float32))
    small = np.asarray(image.resize((SIDE, SIDE), pillow.Resampling.LANCZOS)).ravel()
    centred = small - small.mean()
    length = float(np.linalg.norm(centred))
    if length < MIN_CONTRAST * SIDE:
        return np.zeros(SIDE * SIDE, dtype=np.float32)
    return np.asarray(centred / length, dtype=np.float32)
