"""The live line of `verbose=1`: its surfaces, its rate, and where messages go."""

import io
import logging
import os
import shutil
import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from boostkmeans import BoostKMeans
from boostkmeans._runtime import live_line, progress
from boostkmeans._runtime.live_line import UPDATE_INTERVAL, LiveLine, NotebookSurface, TerminalSurface
from boostkmeans._runtime.progress import logger, stage, stage_prefix, visible_log

WIDTH = 60


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> list[str]:
        """The lines that a terminal shows."""
        lines = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for text in line.split("\r"):
                shown = text + shown[len(text) :]
            lines.append(shown.rstrip())
        return lines


class Surface:
    def __init__(self) -> None:
        self.shown: list[str] = []
        self.shares: list[float | None] = []
        self.closed: list[str] = []

    def show(self, text: str, share: float | None) -> None:
        self.shown.append(text)
        self.shares.append(share)

    def close(self, text: str) -> None:
        self.closed.append(text)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal that is stderr, in a process whose logging is not configured."""
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda self: bool(self.handlers))
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((WIDTH, 24)))
    return stream


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time of the live line, as a list of one number that a test may change."""
    now = [1000.0]
    monkeypatch.setattr(live_line, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("boostkmeans", logging.INFO, "", 0, text, None, None)


def test_texts_replace_each_other_and_the_last_one_stays() -> None:
    stream = Terminal()
    surface = TerminalSurface(stream)
    surface.show("a long first text")
    surface.show("short")
    assert stream.screen == ["short"]
    surface.close("the end")
    assert stream.screen == ["the end", ""]


def test_long_text_is_cut_until_the_end(terminal: Terminal) -> None:
    surface = TerminalSurface(terminal)
    surface.show("x" * 200)
    assert terminal.screen == ["x" * (WIDTH - 1)]
    surface.close("y" * 200)
    assert terminal.screen == ["y" * 200, ""]


def test_control_characters_are_escaped(terminal: Terminal) -> None:
    surface = TerminalSurface(terminal)
    surface.show("a\x1b[2Jb\nc")
    surface.close("a\x1b[2Jb\nc")
    assert terminal.screen == [r"a\x1b[2Jb\nc", ""]


def test_closed_terminal_does_not_end_a_fit() -> None:
    stream = io.StringIO()
    stream.close()
    line = LiveLine(TerminalSurface(stream))
    line.handle(record("text"))
    line.finish()
    assert not live_line.is_terminal(stream)
    assert not live_line.is_terminal(None)


def test_updates_are_limited_to_ten_per_second(clock: list[float]) -> None:
    surface = Surface()
    line = LiveLine(surface)
    for number in range(100):
        line.handle(record(f"text {number}"))
        clock[0] += UPDATE_INTERVAL / 10
    assert 10 <= len(surface.shown) <= 12
    assert surface.shown[0] == "text 0"
    line.finish()
    assert surface.closed == ["text 99"]


def test_line_without_messages_shows_nothing() -> None:
    surface = Surface()
    LiveLine(surface).finish()
    assert surface.closed == []


def test_fit_shows_one_line_on_a_terminal(terminal: Terminal) -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = BoostKMeans(4, random_state=0, verbose=1).fit(X)
    assert terminal.getvalue().count("\n") == 1
    last, after = terminal.screen
    assert after == ""
    expected = f"BoostKMeans: k=4, inertia {model.inertia_:.8g}, stop reason {model.stop_reason_}, "
    assert last.startswith(expected + f"{model.n_iter_} sweeps, ")
    assert logger.handlers == []
    assert logger.propagate


def test_nested_blocks_share_a_line(terminal: Terminal) -> None:
    with visible_log(1):
        logger.info("first")
        with visible_log(1):
            logger.info("second")
    assert terminal.screen == ["second", ""]


def test_verbose_2_prints_lines_on_a_terminal(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    with visible_log(2):
        logger.info("information")
        logger.debug("detail")
    assert capsys.readouterr().err == "[boostkmeans] information\n[boostkmeans] detail\n"
    assert terminal.getvalue() == ""


def test_configured_logging_gets_lines(terminal: Terminal, caplog: pytest.LogCaptureFixture) -> None:
    handler = logging.NullHandler()
    logger.addHandler(handler)
    try:
        with visible_log(1):
            logger.info("information")
    finally:
        logger.removeHandler(handler)
    assert terminal.getvalue() == ""
    assert "information" in caplog.text


def in_kernel(monkeypatch: pytest.MonkeyPatch, kernel: Any) -> None:
    module = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(kernel=kernel)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)


@pytest.mark.parametrize(("root_level", "is_live"), [(logging.WARNING, True), (logging.INFO, False)])
def test_notebook_ignores_a_root_handler_for_warnings(
    monkeypatch: pytest.MonkeyPatch, root_level: int, is_live: bool
) -> None:
    """Colab has such a handler. A handler that the user configured for information is respected."""
    in_kernel(monkeypatch, object())
    monkeypatch.setattr(logging.root, "level", root_level)
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]
    try:
        assert isinstance(progress._handler(1), LiveLine) == is_live
    finally:
        logging.root.manager._clear_cache()  # type: ignore[attr-defined]


def test_ipython_in_a_terminal_is_not_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    in_kernel(monkeypatch, None)
    assert not live_line.in_notebook()
    in_kernel(monkeypatch, object())
    assert live_line.in_notebook()


def test_bar_shows_the_share_of_the_sweeps() -> None:
    bar = NotebookSurface()
    published: list[Any] = []
    display = pytest.importorskip("IPython.display")

    def show(one: Any, display_id: bool) -> SimpleNamespace:
        assert display_id
        published.append(one)
        return SimpleNamespace(update=published.append)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(display, "display", show)
        bar.show("sweep 5 <b>", 0.25)
        bar.show("tree")
        bar.close("the end")
    assert [repr(one) for one in published] == [f"[{'#' * 5}{'-' * 15}] sweep 5 <b>", "tree", "the end"]
    first, unknown, last = (one._repr_html_() for one in published)
    assert '<progress max="1" value="0.2500"' in first
    assert "sweep 5 &lt;b&gt;</pre>" in first
    assert "value=" not in unknown
    assert 'value="1.0000"' in last


@pytest.mark.parametrize("max_iter", [4, 50])
def test_fit_reports_its_share_of_the_sweeps(max_iter: int, monkeypatch: pytest.MonkeyPatch) -> None:
    surface = Surface()
    monkeypatch.setattr(live_line, "UPDATE_INTERVAL", 0.0)
    monkeypatch.setattr(progress, "_handler", lambda verbose: LiveLine(surface))
    X = np.random.default_rng(0).normal(size=(2000, 8))
    BoostKMeans(20, random_state=0, max_iter=max_iter, dimensions=None, verbose=1).fit(X)
    shares = [share for share in surface.shares if share is not None]
    assert shares == [number / max_iter for number in range(1, len(shares) + 1)]
    assert len(shares) > 2


def test_messages_name_their_stages(caplog: pytest.LogCaptureFixture) -> None:
    with stage("run 2 of 3"), stage(""), stage("sample"):
        assert stage_prefix() == "run 2 of 3, sample, "
    assert stage_prefix() == ""
    X = np.random.default_rng(0).normal(size=(300, 3))
    BoostKMeans(4, n_init=2, random_state=0, verbose=1).fit(X)
    assert "run 2 of 2, sweep 1 (annealing), " in caplog.text


def test_log_of_a_fit_agrees_with_its_history(caplog: pytest.LogCaptureFixture) -> None:
    X = np.random.default_rng(0).normal(size=(2000, 8))
    model = BoostKMeans(20, annealing=(0.4, 6), random_state=0, verbose=1).fit(X)
    lines = [one for one in caplog.messages if one.startswith("sweep ")]
    records = [one for one in model.history_ if one.kind != "start"]
    assert len(lines) == len(records)
    for line, one in zip(lines, records, strict=True):
        figures = f"best inertia {one.inertia:.8g}, current {one.current_inertia:.8g}, "
        assert f"{figures}{one.moves} rows moved" in line
    assert any(one.current_inertia > one.inertia for one in records)
    assert all(one.current_inertia >= one.inertia for one in records)


def test_small_fits_are_hardly_slower_with_a_live_line(terminal: Terminal) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))

    def seconds(verbose: int) -> float:
        start = time.perf_counter()
        BoostKMeans(4, random_state=0, verbose=verbose).fit(X)
        return time.perf_counter() - start

    seconds(1)
    extra = min(seconds(1) for _ in range(10)) - min(seconds(0) for _ in range(10))
    assert extra < 0.01
