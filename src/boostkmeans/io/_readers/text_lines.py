"""`content_lines`: the lines of a text that are not blank, with limits for hostile files."""

from collections.abc import Generator
from contextlib import closing
from typing import cast

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.io._access.byte_source import ByteSource

# Maximum length of a line in characters, enough for a million numbers of 17 digits.
MAX_LINE_LENGTH = 1 << 25
# Number of blank lines that are skipped. A line takes about a microsecond, whatever its length.
MAX_BLANK_LINES = 1 << 20


def content_lines(
    source: ByteSource, progress: ProgressCallback, expected: str
) -> Generator[tuple[int, str], None, None]:
    """Yield the lines that are not blank, with their numbers from 1.

    Raise DataFormatError for a line that is too long, and for too many blank lines. `expected` is the
    advice of these errors.
    """
    every = source.lines("utf-8", None, progress, expected=expected, longest=MAX_LINE_LENGTH)
    n_blank = 0
    with closing(cast(Generator[str, None, None], every)) as lines:
        for number, line in enumerate(lines, start=1):
            if len(line) >= MAX_LINE_LENGTH:
                raise source.location.within(f"line {number}").error(
                    f"The line is longer than {MAX_LINE_LENGTH:,} characters.", expected
                )
            if line and not line.isspace():
                yield number, line
                continue
            n_blank += 1
            if n_blank > MAX_BLANK_LINES:
                raise source.location.within(f"line {number}").error(
                    f"The file has more than {MAX_BLANK_LINES:,} blank lines.", expected
                )
