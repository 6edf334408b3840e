"""Conversion of errors of other libraries into DataFormatError."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from boostkmeans._runtime.errors import DataFormatError, Text
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.location import Location
from boostkmeans.io._access.remote_file import RemoteReadError
from boostkmeans.io._access.spool import NoRoomError

# Errors of the machine, which do not indicate a damaged file.
MACHINE_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE
}  # fmt: skip
# Number of characters of the library's message that are shown.
MAX_SHOWN = 300


@contextmanager
def library_faults(
    where: Location, what: str, remedy: Text, kinds: tuple[type[Exception], ...]
) -> Iterator[None]:
    """Convert errors of the given kinds into DataFormatError.

    `what` names the expected content, e.g. "an HDF5 file". `kinds` lists exactly the errors that the
    library raises for damaged files. Errors of the machine, such as a full disk, are not converted.
    """
    try:
        yield
    except (DataFormatError, NoRoomError, MemoryError):
        raise
    except (RemoteReadError, FileNotFoundError, PermissionError):  # of remote files
        raise
    except kinds as error:
        if isinstance(error, OSError) and error.errno in MACHINE_ERRORS:
            raise
        text = " ".join(str(error).split("\n")[0].replace("\0", " ").split())[:MAX_SHOWN].rstrip(".")
        problem = f"The file is damaged, or not {what}: {escape_untrusted(text)}."
        raise where.error(problem, remedy) from None
