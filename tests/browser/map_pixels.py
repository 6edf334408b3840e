"""What a screenshot of the map shows."""

import io
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Page

LEFT_OF_THE_POINTS = 80  # pixels with buttons
BELOW_THE_POINTS = 80  # pixels with the slider
MIN_SATURATION = 90
HIDE = "#stage { outline: none !important } .overlay, .tooltip { visibility: hidden }"


def map_pixels(page: "Page") -> NDArray[np.int64]:
    """Return the pixels of the map, (height, width, 3), without anything above the points."""
    style = page.add_style_tag(content=HIDE)
    page.mouse.move(0, 0)
    page.wait_for_timeout(200)  # longer than the map waits before it draws all points
    picture = Image.open(io.BytesIO(page.locator("#stage").screenshot())).convert("RGB")
    style.evaluate("element => element.remove()")
    return np.asarray(picture).astype(np.int64)


def places_of_points(page: "Page") -> NDArray[np.int64]:
    """Return places (x, y) on the page where a point was drawn."""
    pixels = map_pixels(page)
    saturation = pixels.max(2) - pixels.min(2)
    saturation[:, :LEFT_OF_THE_POINTS] = 0
    saturation[-BELOW_THE_POINTS:] = 0
    y, x = np.nonzero(saturation >= MIN_SATURATION)
    box = page.locator("#stage").bounding_box()
    assert box is not None
    return np.stack([x + int(box["x"]), y + int(box["y"])], axis=1)
