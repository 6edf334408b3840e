"""The map: it draws with and without WebGL, and reacts to mouse and keyboard."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from map_pixels import map_pixels, places_of_points
from page_payloads import Payload, make_payload, name_of, text_of, unpacked
from page_types import OpenPayload

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest_plugins = ("browser_fixtures",)
pytestmark = pytest.mark.process

NO_WEBGL = """
const original = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith("webgl") ? null : original.call(this, kind, ...rest);
};
"""
LOSE_WEBGL = """() => document.querySelector("canvas.points").getContext("webgl2")
  .getExtension("WEBGL_lose_context").loseContext()"""


@pytest.mark.parametrize("webgl", [True, False], ids=["webgl", "canvas"])
def test_map_shows_points_in_many_colours(
    open_payload: OpenPayload, thousand: Payload, webgl: bool
) -> None:
    page = open_payload(thousand, script=None if webgl else NO_WEBGL).page
    assert page.get_attribute("#stage", "data-renderer") == ("webgl" if webgl else "canvas")
    places = places_of_points(page)
    assert len(places) > 3000  # 1,000 points of several pixels
    red, green, blue = np.moveaxis(map_pixels(page) // 24, 2, 0)
    assert len(np.unique((red * 11 + green) * 11 + blue)) > 20


def test_map_continues_without_webgl_when_the_context_is_lost(
    open_payload: OpenPayload, thousand: Payload
) -> None:
    page = open_payload(thousand).page
    before = len(places_of_points(page))
    page.evaluate(LOSE_WEBGL)
    page.wait_for_selector("#stage[data-renderer=canvas]")
    assert len(places_of_points(page)) == pytest.approx(before, rel=0.3)


def test_pointing_at_a_row_shows_it_and_a_click_opens_its_cluster(
    open_payload: OpenPayload, thousand: Payload
) -> None:
    page = open_payload(thousand).page
    labels = unpacked(thousand["points"]["label"])
    places = places_of_points(page)
    shown_texts = 0
    for x, y in places[:: len(places) // 12].tolist():
        page.mouse.move(x, y)
        tooltip = page.locator(".tooltip")
        row = int(tooltip.locator(".tooltip-meta").inner_text().split()[1].replace(",", ""))
        assert tooltip.locator(".tooltip-set").inner_text() == name_of(labels[row])
        if row in thousand["rows"]["row"]:
            shown_texts += 1
            assert tooltip.locator(".tooltip-text").inner_text() == text_of(row, labels[row])
    assert shown_texts > 0
    page.mouse.click(x, y)
    assert page.locator("#opened-name").inner_text() == name_of(labels[row])


def draw_lasso(page: "Page", corners: list[tuple[float, float]]) -> None:
    """Draw around a part of the map, given in shares of its width and height."""
    box = page.locator("#stage").bounding_box()
    assert box is not None
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()


def selected_rows(page: "Page", folder: Path) -> set[int]:
    """Return the rows of the file with the selection."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    download.value.save_as(folder / "selection.csv")
    with (folder / "selection.csv").open(encoding="utf-8", newline="") as file:
        return {int(row["row"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("with_shift", [True, False], ids=["shift", "button"])
def test_lasso_selects_what_it_surrounds(
    open_payload: OpenPayload, thousand: Payload, tmp_path: Path, with_shift: bool
) -> None:
    page = open_payload(thousand).page
    below_the_diagonal = [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    if with_shift:
        page.keyboard.down("Shift")
    else:
        page.get_by_role("button", name="Select rows with a lasso").click()
    draw_lasso(page, [(0.002 + 0.996 * x, 0.002 + 0.996 * y) for x, y in below_the_diagonal])
    page.keyboard.up("Shift")
    selected = selected_rows(page, tmp_path)
    box = page.locator("#stage").bounding_box()
    assert box is not None
    x, y = (unpacked(thousand["points"][axis]).astype(float) for axis in "xy")
    height = x / box["width"] + y / box["height"]  # equal along the diagonal, because y points up
    is_selected = np.isin(np.arange(1000), list(selected))
    assert 100 < len(selected) < 900
    assert height[is_selected].max() <= height[~is_selected].min()
    assert page.locator("#panel-body h2").inner_text() == f"{len(selected):,} rows selected"
    page.keyboard.press("Escape")
    assert page.locator("#tab-selection .badge").count() == 0


def test_double_click_deselects(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand).page
    page.get_by_role("button", name="Select the visible rows").click()
    assert page.locator("#tab-selection .badge").inner_text() == "1,000"
    page.mouse.dblclick(100, 660)  # a corner without points
    assert page.locator("#tab-selection .badge").count() == 0


def test_more_names_appear_as_one_zooms_in(open_payload: OpenPayload) -> None:
    page = open_payload(make_payload(20_000, 400, tree=False)).page
    few = int(page.get_attribute("#stage", "data-names") or 0)
    names_in_view = 400
    assert 10 < few < 100
    page.locator("#stage").focus()
    for _ in range(4):
        page.keyboard.press("+")
    page.wait_for_timeout(300)
    many = int(page.get_attribute("#stage", "data-names") or 0)
    # A quarter of the width and height shows about 1 of 16 clusters, and all their names fit.
    assert many / (names_in_view / 14.75) > 0.5
    assert many / 25 > few / 400 * 3


def test_keyboard_and_wheel_move_the_map(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand).page
    start = places_of_points(page)
    page.locator("#stage").focus()
    page.keyboard.press("ArrowRight")
    moved = places_of_points(page)
    assert moved[:, 0].mean() < start[:, 0].mean() - 30
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert np.ptp(places_of_points(page)[:, 1]) < np.ptp(start[:, 1]) * 0.7
    page.keyboard.press("0")
    np.testing.assert_array_equal(places_of_points(page), start)
    page.mouse.move(350, 360)
    page.mouse.wheel(0, 600)
    assert np.ptp(places_of_points(page)[:, 1]) < np.ptp(start[:, 1]) * 0.7


def test_dragging_moves_the_map_by_the_same_distance(
    open_payload: OpenPayload, thousand: Payload
) -> None:
    page = open_payload(thousand).page
    before = places_of_points(page)
    page.mouse.move(400, 300)
    page.mouse.down()
    page.mouse.move(460, 330, steps=5)
    page.mouse.up()
    shift = np.median(places_of_points(page), axis=0) - np.median(before, axis=0)
    assert shift == pytest.approx([60, 30], abs=25)
    assert page.locator("#opened-name").count() == 0  # a drag is not a click
