"""Decoding of images to grey levels or RGB, with checks for files from untrusted sources."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Target:
    """Form in which an image is decoded. Images are scaled down, never up."""

    mode: str
    """Mode of Pillow: "L" for grey levels, or "RGB"."""
    max_size: int | None = None
    """Longest side in pixels. None means no limit."""
    min_size: int | None = None
    """Length to which the shortest side is scaled down. None means no limit."""

    def longest(self, size: tuple[int, int]) -> int:
        """Return the longest side of an image after scaling."""
        limits = [max(size)]
        if self.max_size is not None:
            limits.append(self.max_size)
        if self.min_size is not None:
            limits.append(math.ceil(max(size) * self.min_size / min(size)))
        return min(limits)


def read_grey(content: Path | Pixels, max_size: int | None) -> Pixels:
    """Return the grey levels of an image, upright, with no side longer than `max_size`."""
    return _read(content, Target("L", max_size))


def read_rgb(content: Path | Pixels, min_size: int) -> Pixels:
    """Return the RGB values of an image, upright, with its shortest side scaled down to `min_size`."""
    return _read(content, Target("RGB", min_size=min_size))


def _read(content: Path | Pixels, target: Target) -> Pixels:
    pillow = import_pillow()
    if isinstance(content, np.ndarray):
        return _convert(pillow.fromarray(content), target)
    if not content.is_file():  # opening a pipe would block
        raise UnreadableImageError("not a file" if content.exists() else "no such file")
    try:
        # Pillow warns about damaged metadata and about sizes, which `_check_size` judges.
        with warnings.catch_warnings(action="ignore"), _open(pillow, content) as image:
            _check_size(image)
            pixels = _convert(image, target)
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
    return turn_upright(pixels, orientation)


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


def _convert(image: "Image.Image", target: Target) -> Pixels:
    """Scale an image down and convert it to grey levels or RGB."""
    if image.mode.startswith(DEEP_MODES):
        image = import_pillow().fromarray(_to_8_bits(np.asarray(image)))
    longest = target.longest(image.size)
    if max(image.size) > longest:
        # JPEG files are decoded at a fraction of their size, which saves most of the time. Other formats
        # may have a palette, whose indices cannot be averaged.
        if image.mode == "P":
            image = image.convert("RGBA")
        image.thumbnail((longest, longest))
    if image.has_transparency_data:
        alpha = image.convert("RGBA")
        flat = import_pillow().new("RGBA", alpha.size, (BACKGROUND, BACKGROUND, BACKGROUND, 255))
        flat.alpha_composite(alpha)
        image = flat
    return np.array(image.convert(target.mode))


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
        pixels = pixels.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)
