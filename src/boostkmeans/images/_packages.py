"""Import of optional packages, with errors that say how to install them."""

from typing import Any


def import_opencv() -> Any:
    """Import OpenCV."""
    try:
        import cv2
    except ImportError as error:  # chained, because an existing installation may be broken
        raise ImportError(
            "SIFT keypoints need OpenCV, which is part of the extra 'images': "
            "pip install opencv-python-headless"
        ) from error
    return cv2


def import_pillow() -> Any:
    """Import the module `Image` of Pillow."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "Reading images needs Pillow, which is part of the extra 'images': pip install pillow"
        ) from error
    return Image


def import_hesaff() -> Any:
    """Import pyhesaff."""
    try:
        import pyhesaff
    except ImportError as error:
        raise ImportError("Hessian-Affine keypoints need pyhesaff: pip install pyhesaff") from error
    return pyhesaff


def import_onnxruntime() -> Any:
    """Import onnxruntime."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            "Features from an ONNX model need onnxruntime, which is part of the extra 'onnx': "
            "pip install onnxruntime"
        ) from error
    return onnxruntime
