"""Atomic writing: after a crash, a file has either its old or its new content, never a mixture."""

import glob
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from boostkmeans._runtime.path_length import check_path_length
from boostkmeans._runtime.untrusted_text import escape_untrusted

# A temporary file that was not modified for this many seconds is considered abandoned.
ABANDONED_SECONDS = 60.0
# Number of characters of the target's name in the name of its temporary file. Most file systems allow
# names of at most 255 bytes.
MAX_NAME_LENGTH = 40
# Number of random bytes in the name of a temporary file.
NAME_BYTES = 6
# Permissions of a file that only its owner can read, and those of a new file before the umask.
PRIVATE = 0o600
NEW_FILE = 0o666


def check_target(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raise the OSError that `atomic_write` would raise.

    Call it before a long computation, so that a bad path is reported before the work begins.

    Parameters
    ----------
    path : str or path-like
        File that will be written.
    force : bool
        Whether an existing file may be replaced.
    """
    check_path_length(os.fspath(path))
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{_shown(target)} is a folder. The name of a file is needed.")
    place = target.resolve()  # a symbolic link is followed, not replaced
    if not place.parent.is_dir():
        raise FileNotFoundError(
            f"Cannot write {target.name!r}: the folder {_shown(place.parent)} does not exist."
        )
    if target.exists() and not force:
        raise _target_exists(target)
    becomes_a_file = not place.exists() or place.is_file()
    if becomes_a_file and not os.access(place.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"No permission to write to the folder {_shown(place.parent)}.")


def atomic_write_text(path: str | os.PathLike[str], text: str, *, force: bool = False) -> None:
    """Write a text file with `atomic_write`, in UTF-8."""
    with atomic_write(path, force=force) as file:
        file.write(text.encode("utf-8", errors="backslashreplace"))


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only if the block ends without an error.

    The content is written to a temporary file in the same folder, which is renamed at the end. An
    existing file is replaced only if `force` is True. A pipe or a device is written directly.

    Parameters
    ----------
    path : str or path-like
        File to write.
    force : bool, default=False
        Whether an existing file may be replaced.

    Yields
    ------
    file : binary file
        The open temporary file.
    """
    check_target(path, force=force)
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    prefix = f".{target.name[:MAX_NAME_LENGTH]}."
    _remove_abandoned(target.parent, prefix)
    permissions = _permissions_of(target)
    temporary, descriptor = _create(target.parent, prefix, private=permissions is not None)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if permissions is not None:
            temporary.chmod(permissions)
        _move_into_place(temporary, target, force)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _permissions_of(target: Path) -> int | None:
    """Return the permissions of the file that is replaced, or None for a new file."""
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o7777
    return None


def _create(folder: Path, prefix: str, *, private: bool) -> tuple[Path, int]:
    """Create a temporary file, and open it. A private file can be read only by its owner.

    Otherwise the system applies the umask, as to every new file. Python could only ask for the umask by
    changing it for a moment, in which other threads would create files that everybody can change.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    flags |= getattr(os, "O_BINARY", 0)  # Windows
    while True:
        path = folder / f"{prefix}{os.getpid()}-{secrets.token_hex(NAME_BYTES)}.part"
        with suppress(FileExistsError):
            return path, os.open(path, flags, PRIVATE if private else NEW_FILE)


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove the temporary files of processes that were killed."""
    if os.name != "posix":  # on Windows, os.kill(process, 0) would end the process
        return
    for left in folder.glob(f"{glob.escape(prefix)}*-*.part"):
        with suppress(OSError, ValueError):
            # On a shared file system, the process may run on another machine: a recent file stays.
            old = time.time() - left.stat().st_mtime > ABANDONED_SECONDS
            if old and not _is_alive(int(left.name[len(prefix) :].split("-")[0])):
                left.unlink()


def _is_alive(process: int) -> bool:
    """Return True if a process with this ID runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _move_into_place(temporary: Path, target: Path, force: bool) -> None:
    """Give the temporary file its final name."""
    if force:
        temporary.replace(target)
        return
    try:
        # Unlike a rename, a hard link fails if another process has created the target in the meantime.
        target.hardlink_to(temporary)
    except FileExistsError:
        raise _target_exists(target) from None
    except OSError:  # the file system has no hard links
        temporary.replace(target)


def _sync_folder(folder: Path) -> None:
    """Flush the folder to disk, because a crash could otherwise lose the new name."""
    if os.name != "posix":
        return
    with suppress(OSError):  # some file systems cannot sync folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _shown(path: Path) -> str:
    """Return a path for a message."""
    return escape_untrusted(str(path))


def _target_exists(target: Path) -> FileExistsError:
    return FileExistsError(
        f"{_shown(target)} exists and is not overwritten. Choose another name, or force overwriting."
    )
