"""Accessibility rules, narrow screens, and rows of every kind."""

from typing import TYPE_CHECKING, Any

import pytest

from page_payloads import JPEG, Payload, make_payload
from page_types import OpenPayload

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest_plugins = ("browser_fixtures",)
pytestmark = pytest.mark.process

NARROW = {"width": 360, "height": 740}


def violations(page: "Page") -> list[str]:
    """Return what axe-core finds on the page as it is."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python"
    )
    result: dict[str, Any] = axe.Axe().run(page).response
    return [
        f"{each['id']}: {node['html'][:120]}" for each in result["violations"] for node in each["nodes"]
    ]


def visit_views(page: "Page") -> list[str]:
    """Open every view; return the problems that `violations` finds in them."""
    found = violations(page)
    page.locator("#cut").fill("5")
    page.locator("table.clusters tbody .set-link").first.click()
    found += violations(page)
    page.locator("#search").fill("tennis")
    page.get_by_role("heading", name="Rows", exact=True).wait_for()
    found += violations(page)
    page.get_by_role("button", name="Select these rows").click()
    page.locator("#downloads summary").click()
    found += violations(page)
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Fit").click()
    return found + violations(page)


def test_views_have_no_violations(open_payload: OpenPayload, thousand: Payload) -> None:
    assert visit_views(open_payload(thousand, color_scheme="light").page) == []


def test_dark_colours_have_enough_contrast(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand, color_scheme="dark").page
    page.locator("table.clusters tbody .set-link").first.click()
    assert violations(page) == []


def test_narrow_screen_does_not_scroll_sideways(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand, viewport=NARROW, has_touch=True).page
    long_name = {**thousand["clusters"][0], "name": "Donaudampfschifffahrtsgesellschaft" * 5}
    wide = open_payload(
        {**thousand, "clusters": [long_name, *thousand["clusters"][1:]]}, viewport=NARROW
    ).page
    for each in (page, wide):
        for tab in ["Clusters", "Outliers", "Selection", "Fit"]:
            each.get_by_role("tab", name=tab).click()
            assert each.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
        each.get_by_role("tab", name="Clusters").click()
        each.locator("table.clusters tbody .set-link").first.click()
        assert each.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    stage = page.locator("#stage").bounding_box()
    panel = page.locator("#panel").bounding_box()
    assert stage is not None
    assert panel is not None
    assert panel["y"] >= stage["y"] + stage["height"]
    body = page.locator(".detail").bounding_box()
    assert body is not None
    assert panel["y"] + panel["height"] >= body["y"] + body["height"]  # the panel contains its rows


def test_images_and_tables_are_shown(open_payload: OpenPayload) -> None:
    page = open_payload(make_payload(300, 6, kind="image")).page
    assert page.locator(".strip img").first.get_attribute("src") == JPEG
    page.locator("table.clusters tbody .set-link").first.click()
    assert (
        page.locator(".thumbnail").first.evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        == 1
    )
    payload = make_payload(300, 6, kind="table")
    payload["clusters"][0]["columns"] = [["score", "7.5 (all rows: 3.1)"]]
    page = open_payload(payload).page
    page.locator("tr[data-set='0'] .set-link").click()
    assert page.locator("table.plain").inner_text().split("\t") == ["score", "7.5 (all rows: 3.1)"]
    assert page.locator(".row-card .values").first.inner_text().split()[-1] == "Bordeaux"


def test_few_rows_and_missing_parts_are_shown(open_payload: OpenPayload) -> None:
    payload = make_payload(5, 1, kind="vector")
    payload |= {"history": None, "command": None, "omitted": [], "facts": []}
    payload["rows"] |= {"id": None, "margin": None}
    page = open_payload(payload).page
    assert page.locator(".slider").count() == 0
    assert page.locator("table.clusters tbody td").all_inner_texts()[-1] == "\u2013"
    for tab in ["Fit", "Outliers", "Selection"]:
        page.get_by_role("tab", name=tab).click()
    assert page.locator(".empty").inner_text().startswith("Nothing is selected")
