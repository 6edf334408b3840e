"""`TableColumns`: the columns of a table that a caller wants."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TableColumns:
    """Names of the columns of a table that are read."""

    key: list[str] | None = None
    """Columns of numbers, or one column of lists. None stands for the default of the format."""
    id_column: str | None = None
    """Column with the ids of the rows. By default, it is not a feature."""
