"""Writing a file so that it is there as a whole or not at all, whenever the machine stops."""

import glob
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

# Seconds in which whoever writes a file writes some of it.
ABANDONED = 60.0


def check_target(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raises the error that `whole_file` would: before hours of work, not after them."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a file to write to.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent} is no folder to write {target.name!r} to.")
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists. It is only overwritten by force.")


def write_whole(path: str | os.PathLike[str], text: str, *, force: bool = False) -> None:
    """Writes a text as a whole."""
    with whole_file(path, force=force) as file:
        file.write(text.encode("utf-8", errors="backslashreplace"))


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A file to write to: it lies beside its place, and is put there when the block ends without error.

    What is there already stays, unless `force`d. What is not a file (a pipe, a device) is written to.
    """
    check_target(path, force=force)
    target = Path(path).resolve()  # the file that a link leads to, not the link
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    _clean_up(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with beside.open("w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put(beside, target, force)
    finally:
        beside.unlink(missing_ok=True)
    _settle(target.parent)


def _clean_up(target: Path) -> None:
    """Removes what processes that were killed left beside their target."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*-*.part"):
        with suppress(OSError, ValueError):
            old = time.time() - left.stat().st_mtime > ABANDONED  # or it may be of another machine
            if old and not _is_alive(int(left.name.split(".")[-2].split("-")[0])):
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
        with suppress(FileNotFoundError):
            shutil.copymode(target, beside)
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
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some file systems cannot, and need not
        pass
    finally:
        os.close(descriptor)
