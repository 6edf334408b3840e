"""Decoding of images to grey levels, with checks for files from untrusted sources."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.images._packages import import_pillow

if TYPE_CHECKING:
    from PIL import Image

Pixels = NDArray[np.uint8]

# Formats of Pillow that are read. Others are rare, and some start programs: EPS starts Ghostscript.
FORMATS = ("BMP", "GIF", "JPEG", "MPO", "PNG", "PPM", "TIFF", "WEBP")
# Maximum number of pixels of a file, as its header states them. A small file can declare an image that
# fills the memory (decompression bomb). Cameras have up to 100 million pixels.
MAX_PIXELS = 110_000_000
# Transparent pixels show this grey level.
BACKGROUND = 255
# Modes of Pillow with more than 8 bits per pixel.
DEEP_MODES = ("I", "F")


class UnreadableImageError(Exception):
    """An image cannot be used. The text is the reason, as part of a sentence."""


def read_grey(content: Path | Pixels, max_size: int | None) -> Pixels:
    """Return the grey levels of an image, upright, with no side longer than `max_size`."""
    pillow = import_pillow()
    if isinstance(content, np.ndarray):
        return _to_grey(pillow.fromarray(content), max_size)
    if not content.is_file():  # opening a pipe would block
        raise UnreadableImageError("not a file" if content.exists() else "no such file")
    try:
        # Pillow warns about damaged metadata and about sizes, which `_check_size` judges.
        with warnings.catch_warnings(action="ignore"), _open(pillow, content) as image:
            _check_size(image)
            grey = _to_grey(image, max_size)
            # Pillow turns TIFF files itself while it decodes them, and then removes the orientation.
            orientation = _orientation(image)
    except UnreadableImageError:
        raise
    except OSError as error:
        reason = error.strerror or f"cannot be decoded ({escape_untrusted(str(error))})"
        raise UnreadableImageError(reason) from None
    except Exception as error:  # decoders raise many types of exceptions for damaged files
        reason = f"cannot be decoded ({type(error).__name__}: {escape_untrusted(str(error))})"
        raise UnreadableImageError(reason) from None
    return turn_upright(grey, orientation)


@contextmanager
def opened_image(path: Path) -> Iterator["Image.Image"]:
    """Open an image whose header is harmless. Raise UnreadableImageError otherwise."""
    if not path.is_file():  # opening a pipe would block
        raise UnreadableImageError("not a file" if path.exists() else "no such file")
    with _open(import_pillow(), path) as image:
        _check_size(image)
        yield image


def _open(pillow: Any, path: Path) -> Any:
    """Read the header of a file."""
    pillow.init()
    formats = [name for name in FORMATS if name in pillow.OPEN]
    try:
        return pillow.open(path, formats=formats)
    except pillow.UnidentifiedImageError:
        reason = f"not an image in a known format ({', '.join(FORMATS)})"
        raise UnreadableImageError(reason) from None
    except pillow.DecompressionBombError:
        reason = f"refused: its header declares more than {MAX_PIXELS:,} pixels"
        raise UnreadableImageError(reason) from None


def _check_size(image: "Image.Image") -> None:
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise UnreadableImageError(
            f"refused: its header declares {width:,} x {height:,} pixels, more than {MAX_PIXELS:,}"
        )


def _to_grey(image: "Image.Image", max_size: int | None) -> Pixels:
    """Scale an image down and convert it to grey levels."""
    if image.mode.startswith(DEEP_MODES):
        image = import_pillow().fromarray(_to_8_bits(np.asarray(image)))
    if max_size is not None and max(image.size) > max_size:
        # JPEG files are decoded at a fraction of their size, which saves most of the time. Other formats
        # may have a palette, whose indices cannot be averaged.
        if image.mode == "P":
            image = image.convert("RGBA")
        image.thumbnail((max_size, max_size))
    if image.has_transparency_data:
        alpha = image.convert("RGBA")
        flat = import_pillow().new("RGBA", alpha.size, (BACKGROUND, BACKGROUND, BACKGROUND, 255))
        flat.alpha_composite(alpha)
        image = flat
    return np.array(image.convert("L"))


def _to_8_bits(values: NDArray[Any]) -> Pixels:
    """Return the values scaled from their own range to that of uint8."""
    low, high = float(values.min()), float(values.max())
    if not np.isfinite([low, high]).all():
        raise UnreadableImageError("has pixels that are NaN or infinite")
    scale = 255.0 / (high - low) if high > low else 0.0
    return ((values.astype(np.float64) - low) * scale).round().astype(np.uint8)


def _orientation(image: "Image.Image") -> int:
    """Return the EXIF orientation, a number from 1 to 8; 1 if it is missing or damaged."""
    try:
        found = image.getexif().get(0x0112, 1)
    except Exception:  # damaged metadata do not make the pixels useless
        return 1
    return found if isinstance(found, int) and 1 <= found <= 8 else 1


def turn_upright(pixels: Pixels, orientation: int) -> Pixels:
    """Undo an EXIF orientation: transpose first, then mirror the columns and the rows."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.T
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)
