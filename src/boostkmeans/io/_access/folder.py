"""Listing of the files below a folder."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def files_below(folder: Path, skip: Callable[[str, str], object]) -> Iterator[str]:
    """Yield the paths of all files, relative to the folder.

    Files and folders whose names begin with a dot are ignored. Links to folders are not followed,
    because they may form a cycle. `skip(name, reason)` is called for a sub-folder that cannot be read.
    """

    def report(error: OSError) -> None:
        where = Path(error.filename)
        if where == folder:  # nothing can be read at all
            raise error
        reason = error.strerror or str(error)
        skip(f"{where.relative_to(folder)}{os.sep}", f"folder: {reason}")

    for where, folders, files in os.walk(folder, onerror=report):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield str((Path(where) / name).relative_to(folder))
