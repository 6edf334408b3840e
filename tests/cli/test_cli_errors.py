"""Errors, warnings and signals: messages and exit codes."""

import os
import signal
import warnings

import pytest
import typer

from boostkmeans._runtime.errors import (
    ChoiceError,
    DataFormatError,
    NotFiniteError,
    ParameterConflictError,
    ParameterError,
)
from boostkmeans.cli import errors


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ParameterError("max_time", "positive", -1), 2, "--max-time must be positive. Got -1."),
        (ParameterConflictError("They differ."), 2, "They differ."),
        (ChoiceError("Which one?"), 2, "Which one?"),
        (DataFormatError("Damaged.", file="x"), 3, "x: Damaged."),
        (NotFiniteError(float("inf"), 2, 1), 3, "x.npy: Input X contains infinity (first at row 2"),
        (ValueError("No."), 2, "No."),
        (FileNotFoundError(2, "No such file", "y"), 2, "y: No such file"),
        (PermissionError(13, "Permission denied", "y"), 1, "y: Permission denied"),
        (OSError("Odd."), 1, "Odd."),
        (MemoryError("4 TB"), 1, "not enough memory. 4 TB"),
        (ImportError("no module"), 1, "no module"),
        (ZeroDivisionError("x / 0"), 1, "unexpected ZeroDivisionError: x / 0 (use --debug"),
    ],
)
def test_errors_have_messages_and_exit_codes(
    error: Exception, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        pytest.raises(typer.Exit) as raised,
        errors.handle_errors(debug=False),
        errors.name_files("x.npy"),
    ):
        raise error
    assert raised.value.exit_code == code
    shown = capsys.readouterr().err
    assert shown.startswith(f"boostkmeans: {message}")
    assert len(shown.splitlines()) == 1


def test_debug_shows_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), errors.handle_errors(debug=True):
        raise ValueError("No.")
    assert "Traceback" in capsys.readouterr().err


def test_innermost_file_is_named() -> None:
    error = NotFiniteError(float("nan"), 0, 0)
    with (
        pytest.raises(NotFiniteError),
        errors.name_files("vectors.npy", "model.st"),
        errors.name_files("queries.npy"),
    ):
        raise error
    assert (error.source, error.model) == ("queries.npy", "model.st")


def test_file_names_are_not_taken_for_parameters() -> None:
    for text in ("/data/min_size/x.npy: no", "max_size.npy: no", "there is no column 'n_init'"):
        assert errors.message_of(ValueError(text)) == text


def test_repeated_warnings_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with errors.handle_errors(debug=False):
        warnings.simplefilter("always")
        errors.set_warning_subject("k-means")
        for _ in range(3):
            warnings.warn("it did not converge", RuntimeWarning, stacklevel=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "boostkmeans: warning: k-means: it did not converge"
    assert lines[1].endswith("(3 times)")
    assert len(lines) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_interrupt_the_command(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    with pytest.raises(typer.Exit) as raised, errors.handle_errors(debug=False):
        os.kill(os.getpid(), number)
    assert raised.value.exit_code == 130
    assert capsys.readouterr().err == "boostkmeans: interrupted\n"
    assert signal.getsignal(number) is before


def test_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with errors.handle_errors(debug=False):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
