"""Vectors in a file or array, one per image: which row belongs to which image."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans.images._report import ImageVectors, SkippedImage
from boostkmeans.images._sources import ImageSource
from boostkmeans.images._vlad import unit_length
from boostkmeans.io import open_vectors

Floats = NDArray[np.float32]

ZERO_ROW = "its vector is 0"


@dataclass(frozen=True)
class FeatureRows:
    """Vectors of images, with or without the names of the images."""

    name: str
    """Name of the file, for messages."""
    rows: Floats
    ids: list[str] | None
    """Name of the image of each row. None means that rows and images have the same order."""

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        id_column: str | None,
        key: str | Sequence[str] | None,
        progress: ProgressCallback,
    ) -> "FeatureRows":
        """Read a file of any format of `open_vectors`."""
        with open_vectors(path, id_column=id_column, key=key, progress=progress) as vectors:
            ids = None if id_column is None else [str(one) for one in vectors.ids]
            return cls.of(vectors.load(), vectors.name, ids)

    @classmethod
    def of(cls, values: Any, name: str, ids: list[str] | None = None) -> "FeatureRows":
        """Check vectors that a user passes."""
        values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        if values.ndim != 2 or values.dtype.kind not in "buif":
            raise DataFormatError(
                f"Features must be numbers in two dimensions. Got {values.dtype} of shape "
                f"{values.shape}.",
                file=name,
            )
        rows = values.astype(np.float32)
        if not np.isfinite(rows).all():
            row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise DataFormatError(
                "Features contain NaN or infinity.", file=name, place=f"row {row} (counted from 0)"
            )
        return cls(name, rows, ids)

    def match(
        self,
        sources: Sequence[ImageSource],
        unreadable: Sequence[SkippedImage],
        undecodable: Sequence[SkippedImage],
    ) -> ImageVectors:
        """Return the vectors of all images that can be decoded.

        `unreadable` are folders that cannot be listed, and `undecodable` are sources without pixels.
        Without ids, row i belongs to file i, or to image i if only files that can be decoded are
        counted.
        """
        reasons = {one.name: one.reason for one in undecodable}
        rows = (
            self._rows_by_id(sources) if self.ids is not None else self._rows_in_order(sources, reasons)
        )
        for place, source in enumerate(sources):
            if rows[place] < 0:
                reasons.setdefault(source.name, f"{self.name} has no row for it")
            elif not self.rows[rows[place]].any():
                reasons.setdefault(source.name, ZERO_ROW)
        used = [place for place, source in enumerate(sources) if source.name not in reasons]
        skipped = [SkippedImage(one.name, reasons[one.name]) for one in sources if one.name in reasons]
        return ImageVectors(
            [sources[place].name for place in used],
            unit_length(self.rows[rows[used]]),
            [],
            [*unreadable, *skipped],
        )

    def _rows_in_order(
        self, sources: Sequence[ImageSource], reasons: dict[str, str]
    ) -> NDArray[np.int64]:
        """Return the row of each image, or -1."""
        n_rows, n_files = len(self.rows), len(sources)
        if n_rows == n_files:
            return np.arange(n_files)
        has_pixels = np.array([source.name not in reasons for source in sources], dtype=bool)
        n_images = int(has_pixels.sum())
        if n_rows != n_images:
            files = f" ({n_files:,} files)" if n_files != n_images else ""
            raise DataFormatError(
                f"There are {n_rows:,} rows for {n_images:,} images{files}. Row i must belong to image "
                "i in the sorted order of the paths.",
                file=self.name,
                remedy=Message(
                    "Provide one row per image, or a table with the names of the images, and set "
                    "{id_column}.",
                    id_column=Parameter("id_column"),
                ),
            )
        return np.where(has_pixels, np.cumsum(has_pixels) - 1, -1)

    def _rows_by_id(self, sources: Sequence[ImageSource]) -> NDArray[np.int64]:
        """Return the row of each image, or -1."""
        ids = self.ids or []
        row_of = {name: row for row, name in enumerate(ids)}
        if len(row_of) < len(ids):
            twice = next(name for row, name in enumerate(ids) if row_of[name] != row)
            raise DataFormatError(f"The id {escape_untrusted(twice)!r} occurs twice.", file=self.name)
        found = np.array([row_of.get(source.name, -1) for source in sources], dtype=np.int64)
        n_matched = int((found >= 0).sum())
        if n_matched == 0:
            raise DataFormatError(
                f"No id is the path of an image. The first id is {escape_untrusted(ids[0])!r}, and the "
                f"first image is {escape_untrusted(sources[0].name)!r}."
                if ids and sources
                else "There are no rows or no images.",
                file=self.name,
            )
        if n_matched < len(ids):
            warnings.warn(
                f"{len(ids) - n_matched:,} of {len(ids):,} rows of {self.name} belong to no image.",
                stacklevel=2,
            )
        return found
