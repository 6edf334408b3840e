"""Pages of 1,000 to 1,000,000 rows: size, time to open, and frame time."""

import csv
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser_pages import open_page, start_browser, write_page
from map_pixels import places_of_points
from page_payloads import make_payload
from page_times import PageTimes, measure

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Variable with the name of a file for the figures, which benchmarks/explorer_browser.py sets.
VARIABLE = "BOOSTKMEANS_BROWSER_RESULTS"
WIDE = {"width": 1280, "height": 800}


@pytest.mark.parametrize("n", [1000, 100_000, 1_000_000])
def test_page_stays_usable(n: int, tmp_path: Path) -> None:
    path = write_page(tmp_path / "page.html", make_payload(n, 20 if n == 1000 else 200))
    with start_browser() as browser:
        opened = open_page(browser, path, viewport=WIDE)
        times = measure(opened.page)
        print(f"\n{n:,} rows: {path.stat().st_size / 1e6:.1f} MB; {times}")
        assert len(places_of_points(opened.page)) > 3000
        assert opened.page.get_attribute("#stage", "data-drawn") == str(n)
        use_controls(opened.page, n, tmp_path)
        assert opened.problems() == []
    store(n, path.stat().st_size, times)


def store(n: int, n_bytes: int, times: PageTimes) -> None:
    """Store the figures of a page that passed, if a file was named."""
    if VARIABLE in os.environ:
        figures = {"n": n, "megabytes": n_bytes / 1e6, **asdict(times)}
        Path(os.environ[VARIABLE]).write_text(json.dumps(figures), encoding="utf-8")


def use_controls(page: "Page", n: int, folder: Path) -> None:
    """Cut the tree, open a cluster, search, select everything and download it."""
    page.locator("#cut").fill("9")
    page.locator("output").get_by_text("9 of").wait_for()
    page.locator("table.clusters tbody .set-link").first.click()
    page.locator("#opened-name").wait_for()
    page.locator("#search").fill("wine")
    page.get_by_role("button", name="Select these rows").wait_for()
    page.locator("#search").fill("")
    page.get_by_role("button", name="Show everything").click()
    page.get_by_role("button", name="Select the visible rows").click()
    page.get_by_text(f"{n:,} rows selected").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    download.value.save_as(folder / "selection.csv")
    with (folder / "selection.csv").open(encoding="utf-8", newline="") as file:
        assert sum(1 for _ in csv.reader(file)) == n + 1
