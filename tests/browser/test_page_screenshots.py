"""Screenshots for the documentation. `make screenshots` stores them."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from page_payloads import Payload, make_payload
from page_types import OpenPayload

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"
MAX_BYTES = 200_000

pytest_plugins = ("browser_fixtures",)
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        "BOOSTKMEANS_SCREENSHOTS" not in os.environ, reason="Stores files: run `make screenshots`"
    ),
]


@pytest.fixture(scope="module")
def news() -> Payload:
    return {**make_payload(40_000, 60, seed=3), "title": "Headlines of a year"}


def store(page: "Page", name: str) -> None:
    """Store a picture of the page with few colours, which keeps it small."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(400)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture = picture.quantize(256, kmeans=4, dither=Image.Dither.NONE)
    picture.save(IMAGES / name, optimize=True)
    assert (IMAGES / name).stat().st_size < MAX_BYTES


def test_map_in_light_colours(open_payload: OpenPayload, news: Payload) -> None:
    store(open_payload(news, viewport={"width": 1280, "height": 760}).page, "explorer_map.png")


def test_opened_cluster_in_dark_colours(open_payload: OpenPayload, news: Payload) -> None:
    page = open_payload(news, viewport={"width": 1280, "height": 760}, color_scheme="dark").page
    page.locator("table.clusters tbody .set-link").first.click()
    store(page, "explorer_cluster.png")


def test_narrow_screen(open_payload: OpenPayload, news: Payload) -> None:
    page = open_payload(news, viewport={"width": 390, "height": 760}).page
    page.locator("#cut").fill("8")
    store(page, "explorer_narrow.png")
