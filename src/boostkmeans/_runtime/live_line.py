"""A live line: the latest log message of a fit, replaced by the next one; in notebooks with a bar."""

import html
import logging
import shutil
import sys
import time
from contextlib import suppress
from typing import Any, Protocol, TextIO

from boostkmeans._runtime.untrusted_text import escape_untrusted

# Shortest time between two updates, in seconds.
UPDATE_INTERVAL = 0.1
# Attribute of a log record: the share of the work that is done, from 0 to 1, or None if it is unknown.
SHARE = "share_done"
# Width of the progress bar, and number of characters of the bar that replaces it in plain text.
BAR_STYLE = "width:24em;max-width:100%;height:1em;vertical-align:middle"
TEXT_BAR_LENGTH = 20


class Surface(Protocol):
    """A place that shows one line of text."""

    def show(self, text: str, share: float | None) -> None:
        """Replace the line. `share` is the share of the work that is done, or None."""

    def close(self, text: str) -> None:
        """Replace the line by its last text, which stays."""


class LiveLine(logging.Handler):
    """Log handler that shows the latest message, at most once per interval."""

    def __init__(self, surface: Surface) -> None:
        super().__init__()
        self._surface = surface
        self._latest: logging.LogRecord | None = None
        self._next_update = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Show a message, or keep it until `finish` if the last update is recent."""
        self._latest = record
        now = time.monotonic()
        if now < self._next_update:
            return
        try:
            self._surface.show(self.format(record), getattr(record, SHARE, None))
        except Exception:  # As in the handlers of the standard library: a log never ends a fit.
            self.handleError(record)
        self._next_update = now + UPDATE_INTERVAL

    def finish(self) -> None:
        """Show the last message, which stays. Do nothing if there was no message."""
        with suppress(Exception):
            if self._latest is not None:
                self._surface.close(self.format(self._latest))


class TerminalSurface:
    """The current line of a terminal. Text that is too long for the line is cut, except at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._length = 0

    def show(self, text: str, share: float | None = None) -> None:
        """Replace the line."""
        text = escape_untrusted(text)
        # A text in the last column would move the cursor to the next line.
        text = text[: max(1, shutil.get_terminal_size().columns - 1)]
        self._write(f"\r{text.ljust(self._length)}")
        self._length = len(text)

    def close(self, text: str) -> None:
        """Replace the line by its last text, and begin a new line."""
        self._write(f"\r{escape_untrusted(text).ljust(self._length)}\n")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # A closed terminal does not end a fit.
            self._stream.write(text)
            self._stream.flush()


class NotebookSurface:
    """A progress bar and a line of text in the output of a notebook cell, updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str, share: float | None = None) -> None:
        """Replace the output, or create it."""
        self._display(_NotebookProgress(text, share, is_done=False))

    def close(self, text: str) -> None:
        """Replace the output by its last text, with a full bar."""
        self._display(_NotebookProgress(text, 1.0, is_done=True))

    def _display(self, shown: "_NotebookProgress") -> None:
        from IPython import display

        if self._handle is None:
            show: Any = display.display  # It has no types.
            self._handle = show(shown, display_id=True)
        else:
            self._handle.update(shown)


class _NotebookProgress:
    """A bar and a line of text, without the colours of an error.

    The bar of unknown work has no value, so that browsers animate it. Frontends that show no
    HTML get the text, with a bar of characters if the share is known.
    """

    def __init__(self, text: str, share: float | None, *, is_done: bool) -> None:
        self._text = text
        self._share = share
        self._is_done = is_done

    def __repr__(self) -> str:
        if self._share is None or self._is_done:
            return self._text
        n_full = int(TEXT_BAR_LENGTH * self._share)
        return f"[{'#' * n_full}{'-' * (TEXT_BAR_LENGTH - n_full)}] {self._text}"

    def _repr_html_(self) -> str:
        value = "" if self._share is None else f' value="{self._share:.4f}"'
        label = "Fit ended" if self._is_done else "Progress of the fit, of at most max_iter sweeps"
        return (
            f'<progress max="1"{value} title="{label}" aria-label="{label}" style="{BAR_STYLE}">'
            f'</progress><pre style="margin:0;white-space:pre-wrap">{html.escape(self._text)}</pre>'
        )


def in_notebook() -> bool:
    """Return True if a notebook's kernel runs this process. IPython in a terminal is no notebook."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return getattr(shell, "kernel", None) is not None


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if a stream is a terminal on which a line can be replaced."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # It is closed.
        return False
