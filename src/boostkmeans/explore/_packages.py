"""Import of optional packages, with errors that say how to install them."""

from typing import Any


def import_jinja2() -> Any:
    """Import jinja2."""
    try:
        import jinja2
    except ImportError as error:  # chained, because an existing installation may be broken
        raise ImportError(
            "The explorer page needs jinja2, which is part of the extra 'explore': pip install jinja2"
        ) from error
    return jinja2


def import_pillow() -> Any:
    """Import the modules `Image`, `ImageOps` and `ImageDraw` of Pillow."""
    try:
        from PIL import Image, ImageDraw, ImageOps
    except ImportError as error:
        raise ImportError(
            "Thumbnails need Pillow, which is part of the extra 'explore': pip install pillow"
        ) from error
    return Image, ImageOps, ImageDraw


def import_pyarrow() -> Any:
    """Import pyarrow with its module `parquet`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files need pyarrow, which is part of the extra 'parquet': pip install pyarrow"
        ) from error
    return pa
