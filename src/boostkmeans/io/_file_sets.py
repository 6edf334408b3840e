"""`find_files`: the files that a path, a pattern, a folder or a sequence of them names."""

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostkmeans._runtime.errors import ChoiceError, Message, Parameter, ParameterError
from boostkmeans._runtime.path_length import check_path_length
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.io._access.choice import list_names
from boostkmeans.io._access.remote_file import RemotePath
from boostkmeans.io._access.urls import is_url, local_path, public_name
from boostkmeans.io._formats import SECONDARY, format_by_suffix

AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
# First characters of names that are not data: hidden files, and files of Spark and Hive.
HIDDEN = (".", "_")


@dataclass(frozen=True)
class FileSet:
    """The files of a data set, in order."""

    name: str
    """Name of all files together, for messages."""
    paths: tuple[str, ...]


def find_files(path: AnyPath | Iterable[AnyPath], format_name: str | None) -> FileSet:
    """Return the files that the path names, without opening them.

    The files of a pattern or a folder are sorted by their paths, as plain strings. `format_name` selects
    files of a folder.
    """
    if isinstance(path, str | bytes | os.PathLike):
        given = _given_path(path)
        return FileSet(public_name(given), tuple(_matches(given, format_name)))
    given_paths = [_given_path(one) for one in _checked_paths(path)]
    paths = tuple(one for each in given_paths for one in _matches(each, format_name))
    if "-" in paths and len(paths) > 1:
        raise ValueError("Standard input cannot be one of several files. Store its content in a file.")
    more = f" and {len(given_paths) - 1} more" if len(given_paths) > 1 else ""
    return FileSet(f"{public_name(given_paths[0])}{more}", paths)


def list_files(path: AnyPath | Iterable[AnyPath], *, format: str | None = None) -> list[str]:  # noqa: A002
    """Return the files that `open_vectors` would open, without opening them.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a pattern, a folder, or a sequence of these.
    format : str, default=None
        Format of the files of a folder.

    Returns
    -------
    paths : list of str
        Paths of the files, in order.

    Raises
    ------
    FileNotFoundError
        If a pattern or a folder has no matching file.
    """
    return list(find_files(path, format).paths)


def _given_path(path: AnyPath) -> str:
    given = os.fsdecode(path)
    check_path_length(public_name(given))
    return local_path(given)


def _checked_paths(paths: Any) -> list[AnyPath]:
    found = list(paths) if isinstance(paths, Iterable) else []
    if not found or not all(isinstance(one, str | bytes | os.PathLike) for one in found):
        raise ParameterError("path", "a path, or a sequence of at least one path", paths)
    return found


def _matches(path: str, format_name: str | None) -> list[str]:
    """Return the files that one path names. A path that exists is never a pattern."""
    if path in ("", "-"):
        return [path]
    if is_url(path):
        return _remote_matches(path, format_name)
    if Path(path).is_dir():
        return _files_in(path, format_name)
    if not glob.has_magic(path) or Path(path).exists():
        return [path]
    found = sorted(one for one in glob.glob(path, recursive=True) if not Path(one).is_dir())  # noqa: PTH207
    if not found:
        raise FileNotFoundError(f"{escape_untrusted(path)} matches no file.")
    return found


def _remote_matches(url: str, format_name: str | None) -> list[str]:
    """Return the URLs of the files that a URL names."""
    # A question mark of a web address begins its query.
    magic = "*[" if url.lower().startswith(("http://", "https://")) else "*?["
    is_pattern = any(one in url for one in magic)
    remote = RemotePath(url)
    if not is_pattern and not remote.is_folder():
        return [url]
    file_system, path = remote.opened
    prefix = url.removesuffix("/").removesuffix(path.removesuffix("/"))
    if prefix == url.removesuffix("/"):
        raise ValueError(f"{remote.name}: Patterns and folders are not supported in such a path.")
    with remote.faults():
        if is_pattern:
            found = [one for one, what in file_system.glob(path, detail=True).items() if _is_file(what)]
        else:
            found = [what["name"] for what in file_system.ls(path, detail=True) if _is_file(what)]
    if is_pattern and not found:
        raise FileNotFoundError(f"{remote.name} matches no file.")
    if not is_pattern:
        by_name = {one.rpartition("/")[2]: one for one in sorted(found)}
        found = [by_name[one] for one in choose_files(remote.name, list(by_name), format_name)]
    return [prefix + one for one in sorted(found)]


def _is_file(description: dict[str, Any]) -> bool:
    return description.get("type") != "directory"


def _files_in(folder: str, format_name: str | None) -> list[str]:
    names = sorted(one.name for one in Path(folder).iterdir() if not one.is_dir())
    return [str(Path(folder, name)) for name in choose_files(folder, names, format_name)]


def choose_files(folder: str, names: list[str], format_name: str | None) -> list[str]:
    """Return the names of the data files of a folder, which must have the same format.

    Hidden files and files without a known suffix are ignored.
    """
    formats = {one: format_by_suffix(one) for one in names if not one.startswith(HIDDEN)}
    known = {one: name for one, name in formats.items() if name is not None}
    if format_name is not None:
        known = {one: name for one, name in known.items() if name == format_name}
    if not known:
        of_format = f" of format {format_name!r}" if format_name is not None else ""
        raise FileNotFoundError(
            f"{escape_untrusted(folder)} is a folder without files of vectors{of_format}. It has "
            f"{list_names(names)}."
        )
    if any(name not in SECONDARY for name in known.values()) and format_name is None:
        known = {one: name for one, name in known.items() if name not in SECONDARY}
    examples = {name: one for one, name in reversed(known.items())}
    if len(examples) > 1:
        listed = ", ".join(f"{examples[name]!r} ({name})" for name in sorted(examples))
        raise ChoiceError(
            f"The folder has files of several formats: {listed}.",
            file=folder,
            remedy=Message(
                "Choose one with {format}, or with a pattern such as '*.parquet'.",
                format=Parameter("format"),
            ),
        )
    return list(known)
