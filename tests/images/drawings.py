"""Images drawn by NumPy, for tests of `boostkmeans.images`."""

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def drawing(seed: int, height: int = 72, width: int = 96) -> Pixels:
    """Return grey levels of overlapping rectangles, whose corners are keypoints."""
    rng = np.random.default_rng(seed)
    pixels = np.full((height, width), 128, dtype=np.uint8)
    for _ in range(25):
        top, left = rng.integers(0, height - 8), rng.integers(0, width - 8)
        tall, wide = rng.integers(6, 24, size=2)
        pixels[top : top + tall, left : left + wide] = rng.integers(0, 256)
    return pixels


def drawings(n: int) -> list[Pixels]:
    """Return n different drawings."""
    return [drawing(seed) for seed in range(n)]


def patches(grey: Pixels) -> NDArray[np.float32] | None:
    """Return sums of the pixels of squares: descriptors that need no other package."""
    if grey.min() == grey.max():
        return None
    height, width = grey.shape[0] // 12 * 12, grey.shape[1] // 12 * 12
    squares = grey[:height, :width].reshape(height // 12, 12, width // 12, 4, 3).astype(np.float32)
    sums: NDArray[np.float32] = squares.sum(axis=(1, 4)).reshape(-1, 4) + 1
    return sums
