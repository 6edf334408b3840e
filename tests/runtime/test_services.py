"""Threads, background work, log messages, instruction sets and escaping."""

import logging
import threading
import time

import pytest

from boostkmeans import instruction_set, instruction_sets
from boostkmeans._runtime.background import in_background
from boostkmeans._runtime.instruction_set import using_instruction_set
from boostkmeans._runtime.progress import logger, visible_log
from boostkmeans._runtime.threads import MAX_THREADS, resolve_threads, threads_of_lone_task
from boostkmeans._runtime.untrusted_text import escape_untrusted
from processes import PATIENCE


def test_results_of_background_calls_are_in_order() -> None:
    def call(i: int) -> int:
        time.sleep(0.01 * (3 - i))
        return i

    stopped = threading.Event()
    calls = [lambda i=i: call(i) for i in range(4)]
    assert in_background(calls, 4, stopped) == [0, 1, 2, 3]
    assert not stopped.is_set()


def test_failed_background_call_stops_the_others() -> None:
    stopped = threading.Event()
    noticed = threading.Event()

    def wait() -> None:
        if stopped.wait(PATIENCE):
            noticed.set()

    def fail() -> None:
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        in_background([wait, fail], 2, stopped)
    assert noticed.wait(PATIENCE)


def test_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans._runtime.threads._n_processors", lambda *_: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert resolve_threads(None) == 8
    assert resolve_threads(3) == 3
    assert resolve_threads(10**6) == MAX_THREADS
    for value, expected in (("2", 2), ("2,1", 2), ("100", 8), ("0", 1), ("x", 8), ("", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert resolve_threads(None) == expected, value
        assert resolve_threads(3) == 3


def test_tasks_that_others_wait_for_use_all_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask and Ray set OMP_NUM_THREADS to 1 on their workers."""
    monkeypatch.setattr("boostkmeans._runtime.threads._n_processors", lambda *_: 8)
    for value, expected in (("1", 8), ("2", 2), ("100", 8), ("", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert threads_of_lone_task(None) == expected, value
        assert threads_of_lone_task(3) == 3


@pytest.mark.parametrize(
    ("verbose", "expected"), [(0, []), (1, ["information"]), (2, ["information", "detail"])]
)
def test_verbose_shows_log_messages(
    verbose: int, expected: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with visible_log(verbose):
        logger.info("information")
        logger.debug("detail")
    logger.info("after the block")
    assert [record.getMessage() for record in caplog.records] == expected


def test_log_goes_to_stderr_without_a_handler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda self: False)
    with visible_log(1):
        logger.info("information")
    assert "[boostkmeans] information\n" in capsys.readouterr().err
    assert logger.handlers == []


def test_environment_selects_the_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOOSTKMEANS_ISA", raising=False)
    assert instruction_set() == instruction_sets()[-1]
    monkeypatch.setenv("BOOSTKMEANS_ISA", instruction_sets()[0])
    assert instruction_set() == instruction_sets()[0]
    monkeypatch.setenv("BOOSTKMEANS_ISA", "mmx")
    with pytest.raises(ValueError, match="'mmx' is not an instruction set of this machine"):
        instruction_set()


def test_a_missing_instruction_set_names_the_variable() -> None:
    with (
        pytest.raises(ValueError, match=f"'mmx'.*BOOSTKMEANS_ISA={instruction_sets()[-1]} .* driver"),
        using_instruction_set("mmx"),
    ):
        pass


def test_escaping_of_untrusted_text() -> None:
    assert escape_untrusted("naïve text") == "naïve text"
    assert escape_untrusted("a\x1b[2Jb\nc\u202ed") == r"a\x1b[2Jb\nc\u202ed"
    assert escape_untrusted(escape_untrusted("\x1b")) == r"\x1b"
