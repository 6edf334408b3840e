"""Keypoints and their descriptors."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.images._packages import import_hesaff, import_opencv

Descriptors = NDArray[Any]
"""Array of shape (n_keypoints, n_features), uint8 or float32, without negative values."""
Describer = Callable[[NDArray[np.uint8]], Any]
"""Function from the grey levels of an image to its descriptors."""

SIFT_FEATURES = 128


def sift(grey: NDArray[np.uint8], max_keypoints: int) -> Descriptors:
    """Return the SIFT descriptors of the keypoints with the highest contrast."""
    _, descriptors = import_opencv().SIFT_create(max_keypoints).detectAndCompute(grey, None)
    if descriptors is None:
        return np.empty((0, SIFT_FEATURES), dtype=np.uint8)
    # The values are integers from 0 to 255. OpenCV returns more keypoints if contrasts are equal.
    return np.asarray(descriptors[:max_keypoints]).astype(np.uint8)


def hessian_affine(grey: NDArray[np.uint8], max_keypoints: int) -> Descriptors:
    """Return the SIFT descriptors of the largest Hessian-Affine regions."""
    regions, descriptors = import_hesaff().detect_feats_in_image(grey)
    # Columns 2 and 4 are the diagonal of the triangular matrix that maps the unit circle to the region.
    areas = np.abs(regions[:, 2] * regions[:, 4])
    largest = np.argsort(-areas, kind="stable")[:max_keypoints]
    return np.asarray(descriptors[largest], dtype=np.uint8)


def custom(grey: NDArray[np.uint8], max_keypoints: int, describe: Describer) -> Descriptors:
    """Return the first descriptors of a user's function."""
    found = describe(grey)
    if found is None:
        return np.empty((0, 0), dtype=np.float32)
    return check_descriptors(found, "The descriptors that keypoints returns")[:max_keypoints]


def check_descriptors(values: Any, what: str) -> Descriptors:
    """Return descriptors as uint8 or float32. Raise ValueError if RootSIFT is not defined for them."""
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "buif":
        raise ValueError(
            f"{what} must be a numeric array of shape (n_keypoints, n_features). Got "
            f"{array.dtype} of shape {array.shape}."
        )
    if array.dtype != np.uint8:
        array = array.astype(np.float32)
        # The comparison is False for NaN.
        if not (array >= 0).all() or np.isinf(array).any():
            raise ValueError(f"{what} must be finite and not negative: RootSIFT takes square roots.")
    return array


def describer_of(keypoints: str | Describer) -> Callable[[NDArray[np.uint8], int], Descriptors]:
    """Return the function that computes descriptors. Raise ImportError if a package is missing."""
    if keypoints == "sift":
        import_opencv()
        return sift
    if keypoints == "hessian-affine":
        import_hesaff()
        return hessian_affine
    assert callable(keypoints)
    return CustomDescriber(keypoints)


class CustomDescriber:
    """A user's function in the form of `sift`. A class, because closures are pickled by value."""

    def __init__(self, describe: Describer) -> None:
        self._describe = describe

    def __call__(self, grey: NDArray[np.uint8], max_keypoints: int) -> Descriptors:
        return custom(grey, max_keypoints, self._describe)
