"""`RowWatch`: tells whether rows in memory have changed since a fit began."""

from typing import Self

from boostkmeans._data.rows import RowSet


class RowWatch:
    """Checksum of the rows when a fit began. It takes a pass over them: about 1 % of the fit's time."""

    def __init__(self, rows: RowSet, n_threads: int) -> None:
        self._rows, self._n_threads = rows, n_threads
        self._at_start = rows.checksum(n_threads)

    @classmethod
    def for_callback(cls, rows: RowSet, callback: object, n_threads: int) -> Self | None:
        """Return a watch if a callback could change the rows. Streamed rows watch their files."""
        return None if callback is None or not rows.in_memory else cls(rows, n_threads)

    def has_changed(self) -> bool:
        """Return True if a value or an index of a row has changed."""
        try:
            return self._rows.checksum(self._n_threads) != self._at_start
        except (ValueError, IndexError):  # indices that were valid when the fit began
            return True
