"""A page of 100,000 rows."""

from typing import TYPE_CHECKING

import pytest

from map_pixels import map_pixels, places_of_points
from page_payloads import make_payload, unpacked
from page_times import measure
from page_types import OpenPayload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

pytest_plugins = ("browser_fixtures",)
pytestmark = pytest.mark.process


def test_hundred_thousand_rows_stay_usable(open_payload: OpenPayload) -> None:
    payload = make_payload(100_000, 100)
    labels: NDArray[np.uint16] = unpacked(payload["points"]["label"])
    page = open_payload(payload).page
    print(f"\n100,000 rows: {measure(page, frames=30)}")
    assert len(places_of_points(page)) > 20_000
    # At rest, all points are drawn.
    assert page.get_attribute("#stage", "data-drawn") == "100000"
    before = map_pixels(page)
    page.locator("#cut").fill("7")
    page.get_by_text("7 of 100").wait_for()
    assert abs(map_pixels(page) - before).max() > 60
    page.locator("#cut").press("End")
    page.locator("table.clusters tbody .set-link").first.click()
    page.get_by_role("button", name="Select its rows").click()
    number = int(
        (labels == max(range(100), key=lambda cluster: payload["clusters"][cluster]["size"])).sum()
    )
    assert page.locator("#panel-body h2").inner_text() == f"{number:,} rows selected"
