"""The progress display: rates, lines and bars."""

import io
import logging
import re
import time
from typing import IO, cast

import pytest
from rich.console import Console

from boostkmeans.cli import progress_display as display_module
from boostkmeans.cli.progress_display import join_within, progress_display


def visible_lines(text: str) -> list[str]:
    """Return the lines of a terminal without control sequences."""
    plain = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]", text)]
    return [line for line in plain if line]


def test_pace_shows_rate_and_time_left() -> None:
    phase = display_module._Phase("reading", time.monotonic() - 2, 100)
    assert phase.pace(20_100, 80_100, "rows") == "10,000 rows/s, 0:00:06 left"
    assert phase.pace(3_000_100, None, "bytes") == "1.5 MB/s"


def test_pace_is_empty_while_it_is_unknown() -> None:
    phase = display_module._Phase("reading", time.monotonic() - 2, 100)
    assert phase.pace(100, 200, "rows") == "", "no progress yet"
    assert phase.pace(150, 200, "") == "", "no unit"
    just_started = display_module._Phase("reading", time.monotonic(), 0)
    assert just_started.pace(5, 10, "rows") == ""


def test_nothing_is_shown_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_display(verbose=False) as display:
        display.counter("rows")("reading", 1, 2)
        display.report("reading", 1, 2)
        display.describe("sweep 1")
        assert display.verbose == 0
    assert capfd.readouterr() == ("", "")


def test_verbose_shows_log_messages_as_lines(capfd: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("boostkmeans")
    with progress_display(verbose=True) as display:
        assert display.verbose == 1
        logger.info("sweep %d", 3)
        logger.debug("a detail")
    logger.info("after the block")
    assert capfd.readouterr() == ("", "boostkmeans: sweep 3\n")
    assert logger.handlers == []


@pytest.mark.parametrize("width", [40, 59, 60, 80])
def test_bar_fits_into_the_terminal(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, color_system=None)
    sweep = ["sweep 12 of at most 100", "0:10:00 left", "distortion 1234.56", "9,999,999 moves",
             "12M rows/s"]  # fmt: skip
    with display_module._bar_display(console) as display:
        display.counter("rows")("reading a file with a very long name", 1, 2)
        display.describe(join_within(sweep, display.width))
    lines = visible_lines(screen.getvalue())
    assert max(map(len, lines)) <= width
    assert any(line.startswith("0:00:00 sweep 12 of at most 100") for line in lines)


def test_bar_shows_log_messages_until_the_command_describes_its_progress() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    logger = logging.getLogger("boostkmeans")
    with display_module._bar_display(console) as display:
        logger.info("reading rows")
        display.describe("sweep 1")
        logger.setLevel(logging.DEBUG)
        logger.debug("a detail")
        display.report("writing [x]", 1, 2)
        logger.info("hidden by the bar")
    shown = "\n".join(visible_lines(screen.getvalue()))
    assert "writing [x]" in shown
    assert "50%" in shown
    assert "a detail" not in shown
    assert "hidden by the bar" not in shown


def test_closed_terminal_raises_no_error() -> None:
    class ClosedTerminal(io.StringIO):
        n_writes = 0

        def write(self, text: str) -> int:
            ClosedTerminal.n_writes += 1
            raise OSError(5, "Input/output error")

    stream = display_module._FailSafeStream(ClosedTerminal())
    with display_module._bar_display(
        Console(file=cast(IO[str], stream), force_terminal=True)
    ) as display:
        display.describe("sweep 1")
    assert ClosedTerminal.n_writes > 0, "the display wrote to the terminal"
    assert stream.write("sweep 2") == len("sweep 2")
