"""`open_pipe`: a named pipe, opened for reading with a limit of the time to wait for its writer."""

import io
import os
import threading
from contextlib import suppress

from boostkmeans._runtime.untrusted_text import escape_untrusted

# Number of seconds to wait for a program that writes to the pipe.
MAX_SECONDS = 60.0


def open_pipe(path: str) -> io.BufferedReader:
    """Open a named pipe. Raise TimeoutError if no program opens it for writing in time.

    The system call waits for a writer without a limit, so another thread makes it.
    """
    opened: list[int] = []
    errors: list[OSError] = []

    def wait_for_writer() -> None:
        try:
            opened.append(os.open(path, os.O_RDONLY))
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=wait_for_writer, daemon=True)
    thread.start()
    is_late = True
    try:
        thread.join(MAX_SECONDS)
        is_late = thread.is_alive()
    finally:
        if is_late:  # or interrupted by Ctrl-C
            _release(path, thread)
            for descriptor in opened:
                os.close(descriptor)
    if errors:
        raise errors[0]
    if is_late:
        raise TimeoutError(
            f"{escape_untrusted(path)}: No program has opened the pipe for writing within "
            f"{MAX_SECONDS:g} seconds. Start the program that writes to it first."
        )
    return os.fdopen(opened[0], "rb")


def _release(path: str, thread: threading.Thread) -> None:
    """End the waiting of a thread by opening the pipe for writing."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        thread.join()
        os.close(descriptor)
