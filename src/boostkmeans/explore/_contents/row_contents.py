"""Row contents: what users pass about each row, and what the page can show of it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError, ParameterError
from boostkmeans.explore._contents.lengths import check_length, strings_of_rows
from boostkmeans.explore._contents.table import Table


@dataclass(frozen=True)
class RowContents:
    """Contents of all rows."""

    ids: list[str] | None
    texts: list[str] | None
    images: list[Path] | None
    table: Table | None

    @classmethod
    def checked(
        cls,
        n_rows: int,
        *,
        ids: Iterable[Any] | None,
        texts: Iterable[Any] | None,
        images: Iterable[Any] | None,
        table: Any,
    ) -> "RowContents":
        """Return the contents. Raise an error unless there is one value per row."""
        paths = None if images is None else _paths(images, n_rows)
        if paths is not None and table is not None:
            raise ParameterConflictError(
                Message(
                    "{images} and {table} cannot both be shown.",
                    images=Parameter("images"),
                    table=Parameter("table"),
                )
            )
        return cls(
            ids=None if ids is None else strings_of_rows("ids", ids, n_rows),
            texts=None if texts is None else strings_of_rows("texts", texts, n_rows),
            images=paths,
            table=None if table is None else Table(table, n_rows),
        )

    @property
    def kind(self) -> str:
        """What a row shows: "image", "text", "table" or "vector"."""
        if self.images is not None:
            return "image"
        if self.texts is not None:
            return "text"
        return "vector" if self.table is None else "table"

    def id_of(self, row: int) -> str | None:
        """Return the id of a row: that of the user, or the name of its image."""
        if self.ids is not None:
            return self.ids[row]
        return None if self.images is None else self.images[row].name

    @property
    def has_ids(self) -> bool:
        """True if `id_of` returns strings."""
        return self.ids is not None or self.images is not None


def _paths(images: Iterable[Any], n_rows: int) -> list[Path]:
    if isinstance(images, str | os.PathLike):
        raise ParameterError("images", "a sequence of paths, one per row", images, owner="page")
    found = list(images)
    bad = next((one for one in found if not isinstance(one, str | os.PathLike)), None)
    if bad is not None:
        raise ParameterError("images", "a sequence of paths, one per row", bad, owner="page")
    check_length("images", found, n_rows)
    return [Path(one) for one in found]
