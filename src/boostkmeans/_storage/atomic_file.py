"""Writing a file so that it is there as a whole or not at all, whenever the machine stops."""

import glob
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

# Seconds in which whoever writes a file writes some of it.
ABANDONED = 60.0
# Of a name, in that of the file that becomes it: no name may be longer than 255 bytes.
LONGEST_NAME = 40


def check_target(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raises the error that `atomic_write` would: before hours of work, not after them."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a file to write to.")
    place = target.resolve()  # the file that a link leads to, not the link
    if not place.parent.is_dir():
        raise FileNotFoundError(f"{place.parent} is no folder to write {target.name!r} to.")
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists. It is only overwritten by force.")
    becomes_a_file = not place.exists() or place.is_file()
    if becomes_a_file and not os.access(place.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{place.parent} may not be written to.")


def atomic_write_text(path: str | os.PathLike[str], text: str, *, force: bool = False) -> None:
    """Writes a text as a whole."""
    with atomic_write(path, force=force) as file:
        file.write(text.encode("utf-8", errors="backslashreplace"))


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A file to write to: it lies beside its place, and is put there when the block ends without error.

    What is there already stays, unless `force`d. What is not a file (a pipe, a device) is written to.
    """
    check_target(path, force=force)
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    prefix = f".{target.name[:LONGEST_NAME]}."
    _clean_up(target.parent, prefix)
    # A new file that nobody else can read, until it has the rights of the one that it becomes.
    descriptor, name = tempfile.mkstemp(".part", f"{prefix}{os.getpid()}-", target.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(_rights_for(target))
        _put(beside, target, force)
    finally:
        beside.unlink(missing_ok=True)
    _settle(target.parent)


def _rights_for(target: Path) -> int:
    """Those of the file that is replaced, or those that any new one has."""
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _clean_up(folder: Path, prefix: str) -> None:
    """Removes what processes that were killed left there."""
    if os.name != "posix":  # elsewhere there is no asking for processes without disturbing them
        return
    for left in folder.glob(f"{glob.escape(prefix)}*-*.part"):
        with suppress(OSError, ValueError):
            old = time.time() - left.stat().st_mtime > ABANDONED  # or it may be of another machine
            if old and not _is_alive(int(left.name[len(prefix) :].split("-")[0])):
                left.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _put(beside: Path, target: Path, force: bool) -> None:
    if force:
        beside.replace(target)
        return
    try:
        target.hardlink_to(beside)  # which, unlike a rename, fails if something came there meanwhile
    except FileExistsError:
        raise FileExistsError(f"{target} exists. It is only overwritten by force.") from None
    except OSError:  # a file system without links
        beside.replace(target)


def _settle(folder: Path) -> None:
    """The name, too, is only safe once the folder is written."""
    if os.name != "posix":
        return
    with suppress(OSError):  # some file systems cannot, and need not
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
