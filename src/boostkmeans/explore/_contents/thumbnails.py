"""Thumbnails: small upright JPEG images as data URIs, from files that may be untrusted."""

import base64
import io
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.explore._packages import import_pillow
from boostkmeans.images._decoding import UnreadableImageError, opened_image

# Longest side in pixels, and quality of the JPEG file. A thumbnail then has a few kilobytes.
MAX_SIDE = 96
JPEG_QUALITY = 75
# Colours of transparent pixels and of the placeholder for an image that cannot be decoded.
BACKGROUND, PLACEHOLDER, CROSS = (255, 255, 255), (225, 225, 225), (140, 140, 140)
# Images that are decoded before the next report of progress.
IMAGES_AT_ONCE = 64

WHAT = "reading images"


@dataclass(frozen=True)
class Thumbnail:
    """A thumbnail, or a placeholder with the reason why the image cannot be shown."""

    uri: str
    fault: str = ""


def thumbnails(paths: Sequence[Path], n_threads: int, progress: ProgressCallback) -> list[Thumbnail]:
    """Return the thumbnails of some files."""
    import_pillow()
    blank = placeholder()
    found: list[Thumbnail] = []
    with ThreadPoolExecutor(n_threads) as pool:
        for begin in range(0, len(paths), IMAGES_AT_ONCE):
            progress(WHAT, begin, len(paths))
            some = paths[begin : begin + IMAGES_AT_ONCE]
            found += pool.map(lambda path: _thumbnail(path, blank), some)
    progress(WHAT, len(paths), len(paths))
    return found


def placeholder() -> str:
    """Return a grey square with a cross as a data URI."""
    image_module, _, draw_module = import_pillow()
    image = image_module.new("RGB", (MAX_SIDE, MAX_SIDE), PLACEHOLDER)
    draw = draw_module.Draw(image)
    low, high = MAX_SIDE // 4, 3 * MAX_SIDE // 4
    draw.line((low, low, high, high), fill=CROSS, width=4)
    draw.line((low, high, high, low), fill=CROSS, width=4)
    return _data_uri(image, "PNG")


def _thumbnail(path: Path, blank: str) -> Thumbnail:
    try:
        with warnings.catch_warnings(action="ignore"), opened_image(path) as image:
            return Thumbnail(_data_uri(_small_upright(image), "JPEG", quality=JPEG_QUALITY))
    except UnreadableImageError as error:
        return Thumbnail(blank, str(error))
    except OSError as error:
        return Thumbnail(blank, error.strerror or f"cannot be decoded ({escape_untrusted(str(error))})")
    except Exception as error:  # decoders raise many types of exceptions for damaged files
        return Thumbnail(blank, f"cannot be decoded ({type(error).__name__})")


def _small_upright(image: Any) -> Any:
    image_module, operations, _ = import_pillow()
    image.draft(
        "RGB", (2 * MAX_SIDE, 2 * MAX_SIDE)
    )  # JPEG files are decoded at a fraction of their size
    image = operations.exif_transpose(image)
    if image.mode.startswith(("I", "F")):
        image = image.point(lambda value: value / 256).convert("L")
    image = image.convert("RGBA") if image.has_transparency_data else image.convert("RGB")
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    if image.mode == "RGBA":
        flat = image_module.new("RGBA", image.size, (*BACKGROUND, 255))
        flat.alpha_composite(image)
        image = flat.convert("RGB")
    return image


def _data_uri(image: Any, kind: str, **options: Any) -> str:
    content = io.BytesIO()
    image.save(content, kind, **options)
    encoded = base64.b64encode(content.getvalue()).decode("ascii")
    return f"data:image/{kind.lower()};base64,{encoded}"
