"""Shown rows: the rows whose contents the page has, within a budget of bytes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.explore._contents.row_contents import RowContents
from boostkmeans.explore._contents.thumbnails import thumbnails
from boostkmeans.explore._measures.cluster_measures import ClusterMeasures
from boostkmeans.explore._packing import json_size

# Maximum number of characters of a text, and of an id.
MAX_TEXT_LENGTH = 1000
MAX_ID_LENGTH = 200
# Bytes of a row besides its contents: numbers and commas.
ROW_OVERHEAD = 60
# Up to this number of rows, the page has the contents of all rows if the budget allows it.
MAX_ROWS_FOR_ALL = 20_000
# Thumbnails that are made before the budget is checked again.
THUMBNAILS_AT_ONCE = 256
# Number of images that cannot be decoded that a sentence names.
MAX_FAULTS_NAMED = 5


@dataclass
class ShownRows:
    """Contents of some rows, in ascending order of the rows once `sort` was called."""

    rows: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    values: list[list[str]] = field(default_factory=list)
    n_bytes: int = 0
    n_cut: int = 0
    """Number of texts that are shown in part."""
    faults: list[str] = field(default_factory=list)
    """Names of the images that cannot be decoded, with the reasons."""

    def sort(self) -> None:
        """Sort the rows, as the page expects them."""
        order = np.argsort(self.rows, kind="stable").tolist()
        for name in ("rows", "ids", "texts", "images", "values"):
            column: list[Any] = getattr(self, name)
            if column:
                setattr(self, name, [column[i] for i in order])


def choose_rows(
    contents: RowContents,
    clusters: ClusterMeasures,
    n_rows: int,
    max_bytes: int,
    n_threads: int,
    progress: ProgressCallback,
    reserved: int = 0,
) -> tuple[ShownRows, list[str]]:
    """Return the contents of rows within the budget, and sentences about those that are left out.

    Each cluster first gets its most central, borderline and outlying row, then the second of each, and
    so on. Other rows follow if there are few. `reserved` bytes of the budget are already used.
    """
    order = _by_priority(clusters, n_rows)
    shown = ShownRows(n_bytes=reserved)
    for begin in range(0, len(order), THUMBNAILS_AT_ONCE):
        some = order[begin : begin + THUMBNAILS_AT_ONCE]
        if not _add(shown, some, contents, max_bytes, n_threads, progress):
            break
    shown.sort()
    return shown, _sentences(shown, clusters, n_rows, max_bytes)


def cut(text: str, length: int) -> str:
    """Return at most `length` characters of a text.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def _by_priority(clusters: ClusterMeasures, n_rows: int) -> list[int]:
    important = list(dict.fromkeys(_in_rounds(clusters)))
    if n_rows > MAX_ROWS_FOR_ALL:
        return important
    left = np.setdiff1d(np.arange(n_rows), np.array(important, dtype=np.int64))
    return [*important, *left.tolist()]


def _in_rounds(clusters: ClusterMeasures) -> Iterator[int]:
    kinds = (clusters.central, clusters.borderline, clusters.outlying)
    for place in range(max((len(rows) for kind in kinds for rows in kind), default=0)):
        for kind in kinds:
            yield from (rows[place] for rows in kind if place < len(rows))


def _add(
    shown: ShownRows,
    rows: list[int],
    contents: RowContents,
    max_bytes: int,
    n_threads: int,
    progress: ProgressCallback,
) -> bool:
    """Add rows until the budget is used. Return False once it is."""
    images = contents.images
    pictures = None
    if images is not None:
        pictures = thumbnails([images[row] for row in rows], n_threads, progress)
    for i, row in enumerate(rows):
        text = None if contents.texts is None else cut(contents.texts[row], MAX_TEXT_LENGTH)
        name = cut(contents.id_of(row) or "", MAX_ID_LENGTH) if contents.has_ids else None
        cells = None if contents.table is None else contents.table.cells(row)
        parts = [one for one in (text, name, *(cells or ())) if one is not None]
        size = ROW_OVERHEAD + sum(json_size(one) + 1 for one in parts)
        size += 0 if pictures is None else len(pictures[i].uri)
        if shown.n_bytes + size > max_bytes:
            return False
        shown.n_bytes += size
        shown.rows.append(row)
        if text is not None and contents.texts is not None:
            shown.texts.append(text)
            shown.n_cut += len(contents.texts[row]) > MAX_TEXT_LENGTH
        if name is not None:
            shown.ids.append(name)
        if cells is not None:
            shown.values.append(cells)
        if pictures is not None and images is not None:
            shown.images.append(pictures[i].uri)
            if pictures[i].fault:
                shown.faults.append(f"{escape_untrusted(str(images[row]))} ({pictures[i].fault})")
    return True


def _sentences(shown: ShownRows, clusters: ClusterMeasures, n_rows: int, max_bytes: int) -> list[str]:
    found = []
    n_important = len(set(_in_rounds(clusters)))
    n_shown: int = len(shown.rows)
    if n_shown < n_rows:
        found.append(
            f"The page has the contents of {n_shown:,} of {n_rows:,} rows: "
            "central, borderline and outlying rows of each cluster."
        )
    if n_shown < min(n_rows, n_important):
        found.append(
            f"The limit of {max_bytes / 1e6:g} MB for contents leaves out {n_important - n_shown:,} of "
            "these rows."
        )
    if shown.n_cut:
        found.append(f"{shown.n_cut:,} texts are cut after {MAX_TEXT_LENGTH:,} characters.")
    if shown.faults:
        named = "; ".join(shown.faults[:MAX_FAULTS_NAMED])
        more = len(shown.faults) - MAX_FAULTS_NAMED
        found.append(
            f"{len(shown.faults):,} images cannot be shown: {named}"
            f"{f'; and {more:,} more' if more > 0 else ''}."
        )
    return found


def row_numbers(shown: ShownRows) -> NDArray[np.int64]:
    """Return the shown rows as an array."""
    return np.array(shown.rows, dtype=np.int64)
