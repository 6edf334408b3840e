"""What libraries say about a damaged file, as an error of this package; other faults as they are."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.io._access.spool import NoRoomError

# Faults of the machine: the file may be as it should be.
OF_MACHINE = {
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE
}  # fmt: skip
# Characters of a message that is passed on.
SHOWN = 300


@contextmanager
def library_faults(
    name: str, what: str, remedy: str, kinds: tuple[type[Exception], ...]
) -> Iterator[None]:
    """Errors of those kinds become a `DataFormatError`: `kinds` has what the library raises, no more."""
    try:
        yield
    except (DataFormatError, NoRoomError, MemoryError):
        raise
    except kinds as error:
        if isinstance(error, OSError) and error.errno in OF_MACHINE:
            raise
        text = " ".join(str(error).split("\n")[0].replace("\0", " ").split())[:SHOWN].rstrip(".")
        raise DataFormatError(f"{name}: not {what}, or a damaged one: {text}. {remedy}") from None
