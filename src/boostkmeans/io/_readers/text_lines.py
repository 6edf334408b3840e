"""Lines of a text, with limits for hostile files: those with content, or one per row."""

from collections.abc import Generator
from contextlib import closing
from typing import cast

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io._access.byte_source import ByteSource

# Maximum length of a line in characters, enough for a million numbers of 17 digits.
MAX_LINE_LENGTH = 1 << 25
# Number of blank lines that are read. A line takes about a microsecond, whatever its length.
MAX_BLANK_LINES = 1 << 20


def content_lines(
    source: ByteSource, progress: ProgressCallback, expected: str
) -> Generator[tuple[int, str], None, None]:
    """Yield the lines that are not blank, with their numbers from 1.

    Raise DataFormatError for a line that is too long, and for too many blank lines. `expected` is the
    advice of these errors.
    """
    n_blank = 0
    with closing(_short_lines(source, None, progress, expected, MAX_LINE_LENGTH)) as lines:
        for number, line in lines:
            if line and not line.isspace():
                yield number, line
                continue
            n_blank += 1
            if n_blank > MAX_BLANK_LINES:
                raise source.location.within(f"line {number}").error(
                    f"The file has more than {MAX_BLANK_LINES:,} blank lines.", expected
                )


def row_lines(
    source: ByteSource, expected: str, *, newline: str | None = None, longest: int | None = None
) -> Generator[tuple[int, str], None, None]:
    """Yield all lines, one per row, with their numbers from 1. Blank lines are rows, too.

    Raise DataFormatError for a line of more than `longest` characters (default: MAX_LINE_LENGTH), and
    for too many blank lines in succession. Some rows without a value are normal, e.g. unknown classes.
    """
    longest = MAX_LINE_LENGTH if longest is None else longest
    n_blank = 0
    with closing(_short_lines(source, newline, ignore_progress, expected, longest)) as lines:
        for number, line in lines:
            n_blank = 0 if line and not line.isspace() else n_blank + 1
            if n_blank > MAX_BLANK_LINES:
                raise source.location.within(f"line {number}").error(
                    f"More than {MAX_BLANK_LINES:,} blank lines in succession.", expected
                )
            yield number, line


def _short_lines(
    source: ByteSource, newline: str | None, progress: ProgressCallback, expected: str, longest: int
) -> Generator[tuple[int, str], None, None]:
    """Yield each line with its number. Raise DataFormatError for a line that is too long."""
    every = source.lines("utf-8", newline, progress, expected=expected, longest=longest)
    with closing(cast(Generator[str, None, None], every)) as lines:
        for number, line in enumerate(lines, start=1):
            if len(line) >= longest:
                raise source.location.within(f"line {number}").error(
                    f"The line is longer than {longest:,} characters.", expected
                )
            yield number, line
