"""`check_path_length`: refuse paths that no system accepts, before a message repeats them."""

import errno
import os

from boostkmeans._runtime.errors import shorten
from boostkmeans._runtime.untrusted_text import escape_untrusted

# Number of characters of the longest path on Linux. Other systems have lower limits in most places.
MAX_PATH_LENGTH = 4096


def check_path_length(path: str) -> None:
    """Raise OSError if a path is too long. The system's own error would repeat the whole path."""
    if len(path) > MAX_PATH_LENGTH:
        shown = shorten(escape_untrusted(shorten(path)))
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), shown)
