"""Files with one value per row: weights, classes, ids and texts, also from somebody who means harm."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from boostkmeans import BoostKMeans, DataFormatError
from boostkmeans.cli.files import column_input
from boostkmeans.cli.files.column_input import read_column, read_numbers
from boostkmeans.cli.files.table_input import read_lines
from boostkmeans.io._readers import text_lines
from command import fail

Reader = Callable[[str], object]

N_ROWS = 500
# Number of bytes per byte of the file that reading may take, and of those that any file may take.
PER_BYTE, SLACK = 32, 1 << 20


def _peak(action: Callable[[], object]) -> int:
    """Return the number of bytes that an action takes at most."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("read", [read_column, read_numbers])
def test_memory_is_limited_by_the_size_of_the_file(tmp_path: Path, read: Reader) -> None:
    """One long line must not determine the memory of all others."""
    path = tmp_path / "a.txt"
    path.write_text("1\n" * N_ROWS + "0" * (column_input.MAX_LINE_LENGTH - 3) + "1\n")
    limit = PER_BYTE * path.stat().st_size + SLACK
    assert _peak(lambda: read(str(path))) < limit


@pytest.mark.parametrize("read", [read_column, read_numbers])
def test_a_line_that_is_too_long_is_refused(tmp_path: Path, read: Reader) -> None:
    path = tmp_path / "a.txt"
    path.write_text("1\n" + "2" * 1_500_000 + "\n")
    with pytest.raises(DataFormatError, match=r"line 2: The line is longer than 65,536 characters") as e:
        read(str(path))
    assert len(str(e.value)) < 1000


@pytest.mark.parametrize("read", [read_column, read_numbers, read_lines])
def test_too_many_blank_lines_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Reader
) -> None:
    monkeypatch.setattr(text_lines, "MAX_BLANK_LINES", 100)
    path = tmp_path / "a.txt"
    path.write_text("1\n" + "\n" * 101)
    with pytest.raises(DataFormatError, match="line 102: More than 100 blank lines in succession"):
        read(str(path))
    path.write_text("1\n" + "\n" * 100)
    read(str(path))


def test_a_text_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "MAX_LINE_LENGTH", 1000)
    (tmp_path / "a.txt").write_text("tea\n" + "wine" * 300)
    with pytest.raises(DataFormatError, match="line 2: The line is longer than 1,000 characters"):
        read_lines(str(tmp_path / "a.txt"))


def test_blank_lines_are_values_except_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeff tea\r\n\r\n \nrum \n\n \n".encode())
    assert read_column(str(tmp_path / "a.txt")).tolist() == ["tea", "", "", "rum"]
    (tmp_path / "b.txt").write_text("")
    assert read_column(str(tmp_path / "b.txt")).tolist() == []


def test_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" 1\n2.5e3\n-inf\n\n")
    values = read_numbers(str(tmp_path / "a.txt"))
    assert values.dtype == np.float64
    assert values.tolist() == [1, 2500, -np.inf]
    (tmp_path / "b.txt").write_text("1\n\ntwo\n")
    with pytest.raises(DataFormatError, match=r"Value 2 is ''\. Expected one number per row"):
        read_numbers(str(tmp_path / "b.txt"))


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"tea\ncaf\xe9\n")
    with pytest.raises(DataFormatError, match=r"line 2: .* UTF-8.* byte 0xe9 at character 4.*iconv"):
        read_column(str(tmp_path / "a.txt"))


def test_commands_refuse_a_long_line(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(N_ROWS, 2))
    np.save(tmp_path / "x.npy", rows)
    BoostKMeans(2, random_state=0).fit(rows).save(tmp_path / "m")
    (tmp_path / "a.txt").write_text("1\n" * (N_ROWS - 1) + "1" * 1_500_000)
    for arguments in (
        ("fit", tmp_path / "x.npy", "-k", "2", "--weights", tmp_path / "a.txt"),
        ("evaluate", tmp_path / "m", tmp_path / "x.npy", "--classes", tmp_path / "a.txt"),
    ):
        assert "line 500: The line is longer than" in fail(3, *arguments)
