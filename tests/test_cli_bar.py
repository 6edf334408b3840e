"""Progress: what a bar says."""

import time

import pytest

from boostkmeans.cli import _bar


def test_rate_and_time_left() -> None:
    phase = _bar._Phase("reading", time.monotonic() - 2, 100)
    assert phase.pace(20_100, 80_100, "rows") == "10,000 rows/s, 0:00:06 left"
    assert phase.pace(3_000_100, None, "bytes") == "1.5 MB/s"
    assert phase.pace(100, 200, "rows") == "", "nothing is known yet"
    assert phase.pace(150, 200, "") == ""
    assert _bar._Phase("reading", time.monotonic(), 0).pace(5, 10, "rows") == ""


def test_no_bar_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with _bar.shown_progress(verbose=False) as shown:
        shown.counting("rows")("reading", 1, 2)
        shown.describe("sweep 1")
        assert shown.verbose == 0
    assert capfd.readouterr() == ("", "")
