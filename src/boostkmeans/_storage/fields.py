"""The header of a file of a stranger, field by field: each of the type that it should have."""

import math
import sys
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted

# Of a value in an error message.
MOST_SHOWN = 60
LARGEST_INTEGER = 2**63 - 1
LARGEST_FLOAT = sys.float_info.max
# Sums of squares that no number of JSON can tell.
BEYOND_NUMBERS = {"inf": math.inf, "nan": math.nan}


@dataclass(frozen=True)
class Fields:
    """A JSON object, and where it is."""

    path: str
    place: str
    values: dict[str, Any]

    @classmethod
    def of(cls, path: str, place: str, value: object) -> Self:
        """Raises DataFormatError if the value is no object."""
        if not isinstance(value, dict):
            fail(path, place, "an object", value)
        return cls(path, place, value)

    def child(self, name: str) -> Self:
        """An object in this one."""
        return self.of(self.path, f"{self.place}.{escape_untrusted(name)}", self._get(name))

    def string(self, name: str, choices: tuple[str, ...] = ()) -> str:
        """A text, or one of some."""
        value = self._get(name)
        if not isinstance(value, str) or (choices and value not in choices):
            self.fail(name, f"one of {', '.join(map(repr, choices))}" if choices else "a text", value)
        return value

    def integer(self, name: str, low: int = 0, high: int = LARGEST_INTEGER) -> int:
        """An integer from low to high."""
        value = self._get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.fail(name, f"an integer from {low} to {high}", value)
        return value

    def boolean(self, name: str) -> bool:
        """True or false."""
        value = self._get(name)
        if not isinstance(value, bool):
            self.fail(name, "true or false", value)
        return value

    def number(self, name: str) -> float:
        """A number, or "inf" or "nan": where float64 could not hold a sum of squares."""
        value = self._get(name)
        if isinstance(value, str) and value in BEYOND_NUMBERS:
            return BEYOND_NUMBERS[value]
        if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > LARGEST_FLOAT:
            self.fail(name, 'a number, "inf" or "nan"', value)
        return float(value)

    def items(self, name: str) -> list[Any]:
        """A list."""
        value = self._get(name)
        if not isinstance(value, list):
            self.fail(name, "a list", value)
        return value

    def children(self, name: str) -> list[Self]:
        """A list of objects."""
        return [
            self.of(self.path, f"{self.place}.{name}[{number}]", value)
            for number, value in enumerate(self.items(name))
        ]

    def _get(self, name: str) -> Any:
        if name not in self.values:
            raise DataFormatError(
                f"{self.path}: {self.place} has no {name!r}. Fetch the file again, or save it anew."
            )
        return self.values[name]

    def fail(self, name: str, expected: str, value: object) -> NoReturn:
        """Says what was expected, and what was there."""
        fail(self.path, f"{self.place}.{name}", expected, value)


def encode_number(value: float) -> float | str:
    """As `Fields.number` reads it."""
    value = float(value)
    return value if math.isfinite(value) else str(value)


def fail(path: str, place: str, expected: str, value: object) -> NoReturn:
    """Says what was expected where, and what was there."""
    try:
        shown = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        shown = "a very large integer"
    shown = shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + "..."
    raise DataFormatError(
        f"{path}: {escape_untrusted(place)} should be {expected}, and is {escape_untrusted(shown)}. Fetch the file "
        "again, or save it anew."
    )
