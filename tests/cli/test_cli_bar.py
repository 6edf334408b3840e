"""Progress: what a bar says."""

import io
import re
import time
from typing import IO, cast

import pytest
from rich.console import Console

from boostkmeans.cli import bar


def test_rate_and_time_left() -> None:
    phase = bar._Phase("reading", time.monotonic() - 2, 100)
    assert phase.pace(20_100, 80_100, "rows") == "10,000 rows/s, 0:00:06 left"
    assert phase.pace(3_000_100, None, "bytes") == "1.5 MB/s"
    assert phase.pace(100, 200, "rows") == "", "nothing is known yet"
    assert phase.pace(150, 200, "") == ""
    assert bar._Phase("reading", time.monotonic(), 0).pace(5, 10, "rows") == ""


def test_no_bar_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with bar.shown_progress(verbose=False) as shown:
        shown.counting("rows")("reading", 1, 2)
        shown.describe("sweep 1")  # and no error: the fit is not to be lost
        assert shown.verbose == 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("width", [40, 59, 60, 80])
def test_a_bar_keeps_within_the_terminal(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, color_system=None)
    sweep = ["sweep 12 of at most 100", "0:10:00 left", "distortion 1234.56", "9,999,999 moves",
             "12M rows/s"]  # fmt: skip
    with bar._bar(console) as shown:
        shown.counting("rows")("reading a file with a very long name", 1, 2)
        shown.describe(bar.joined(sweep, shown.width))
    lines = [
        re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", one) for one in re.split(r"[\r\n]", screen.getvalue())
    ]
    assert max(map(len, lines)) <= width
    assert any(line.startswith("0:00:00 sweep 12 of at most 100") for line in lines)


def test_a_terminal_that_is_gone() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    with bar._bar(Console(file=cast(IO[str], bar._Patient(Gone())), force_terminal=True)) as shown:
        shown.describe("sweep 1")
