"""Files with the same bytes."""

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.images._extraction import Content


def identical_contents(contents: Sequence[Content], progress: ProgressCallback) -> list[list[int]]:
    """Return the places of images that are equal byte by byte, one list per set of equal images.

    Only files of equal length are read. Files that cannot be read are equal to no other file.
    """
    lengths = _grouped((place, _length(content)) for place, content in enumerate(contents))
    of_equal_length = [place for places in lengths for place in places]
    hashes: list[tuple[int, Hashable]] = []
    for done, place in enumerate(of_equal_length, start=1):
        hashes.append((place, _digest(contents[place])))
        progress("comparing files", done, len(of_equal_length))
    return _grouped(hashes)


def _grouped(keys: Iterable[tuple[int, Hashable]]) -> list[list[int]]:
    """Return the places with equal keys, without keys that are None or that occur only once."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, key in keys:
        if key is not None:
            groups[key].append(place)
    return [places for places in groups.values() if len(places) > 1]


def _length(content: Content) -> Hashable:
    if isinstance(content, np.ndarray):
        return content.shape
    with suppress(OSError, ValueError):  # a ValueError is raised for a name with a null byte
        if content.is_file():  # opening a pipe would block
            return content.stat().st_size
    return None


def _digest(content: Content) -> bytes | None:
    if isinstance(content, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(content).data).digest()
    return _file_digest(content)


def _file_digest(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            found: Any = hashlib.file_digest(file, "sha256")
    except OSError:
        return None
    return bytes(found.digest())
