"""Results on standard output."""

import io
import sys

import pytest

from boostkmeans.cli.listing import to_json_types
from boostkmeans.cli.stdout import print_part, print_result


class FailingStream(io.StringIO):
    """A stream whose writes fail."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def flush(self) -> None:
        raise self.error


@pytest.fixture
def keep_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostkmeans.cli.stdout.discard_stdout", lambda: None)


@pytest.mark.usefixtures("keep_stdout")
def test_closed_pipe_ends_the_command_with_code_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", FailingStream(BrokenPipeError(32, "Broken pipe")))
    assert print_part("labels") is False
    with pytest.raises(SystemExit) as raised:
        print_result("summary")
    assert raised.value.code == 0


@pytest.mark.usefixtures("keep_stdout")
def test_full_disk_is_an_error_about_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", FailingStream(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="standard output"):
        print_result("summary")


def test_no_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert print_part("labels") is True


def test_characters_outside_of_the_encoding_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    print_result("caf\xe9 \u2192")
    assert stream.buffer.getvalue() == b"caf\\xe9 \\u2192\n"


def test_infinity_and_nan_become_null() -> None:
    assert to_json_types({"a": float("inf"), "b": [float("nan"), 1.5]}) == {"a": None, "b": [None, 1.5]}
