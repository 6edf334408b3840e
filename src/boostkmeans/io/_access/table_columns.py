"""`TableColumns`: the columns of a table that a caller wants, by names, wildcards and ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter
from boostkmeans.io._access.choice import missing_name_error
from boostkmeans.io._access.location import Location

# Characters of wildcards, as in file names.
WILDCARDS = "*?["
# Character between the first and the last column of a range.
RANGE = ":"


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table that are read."""

    key: list[str] | None = None
    """Columns of numbers, or one column of lists. None stands for the default of the format."""
    id_column: str | None = None
    """Column with the ids of the rows. By default, it is not a feature."""
    drop: list[str] | None = None
    """Columns that are not read."""

    def chosen(self, where: Location, what: str, names: Sequence[str], *, hint: str = "") -> list[str]:
        """Return the names of the columns to read, in order. Without a key, these are all others.

        `what` is "column" or "field". Raise ChoiceError for a name that the table does not have.
        """
        others = [name for name in names if name != self.id_column]
        dropped = set(expand_names(where, what, self.drop or [], names, hint=hint))
        found = others if self.key is None else expand_names(where, what, self.key, others, hint=hint)
        left = [name for name in found if name not in dropped]
        if not left:
            raise self._nothing_left_error(where, what)
        return left

    def _nothing_left_error(self, where: Location, what: str) -> DataFormatError:
        if self.drop:
            return where.error(
                Message("{drop} leaves no {what} to read.", drop=Parameter("drop"), what=what)
            )
        besides = " besides the ids" if self.id_column is not None else ""
        return where.error(f"The table has no {what}s{besides}.")


def expand_names(
    where: Location, what: str, patterns: Sequence[str], names: Sequence[str], *, hint: str = ""
) -> list[str]:
    """Return the names that match the patterns, each once.

    A pattern is a name, a name with wildcards such as "x*", or a range such as "x0:x9", which includes
    both ends. A name that exists is never a pattern.
    """
    known = set(names)
    found: dict[str, None] = {}
    for pattern in patterns:
        matches = [pattern] if pattern in known else _matches(pattern, names)
        if not matches:
            raise missing_name_error(where, what, pattern, list(names), hint)
        found.update(dict.fromkeys(matches))
    return list(found)


def is_pattern(text: str) -> bool:
    """Return True if a text may stand for several names."""
    return any(one in text for one in (*WILDCARDS, RANGE))


def _matches(pattern: str, names: Sequence[str]) -> list[str]:
    ends = _range_ends(pattern, names)
    if ends is not None:
        return list(names[ends[0] : ends[1] + 1])
    return [name for name in names if fnmatchcase(name, pattern)] if is_pattern(pattern) else []


def _range_ends(pattern: str, names: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and the last position of a range of columns, or None if it is not a range.

    Names may contain colons: every colon may be the one between the ends. A missing end is the first or
    the last column.
    """
    places = {name: i for i, name in enumerate(names)}
    for at, character in enumerate(pattern):
        first, last = pattern[:at], pattern[at + 1 :]
        if character == RANGE and (first or last):
            begin = 0 if not first else places.get(first)
            end = len(names) - 1 if not last else places.get(last)
            if begin is not None and end is not None and begin <= end:
                return begin, end
    return None
