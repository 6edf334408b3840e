"""Typed access to the fields of a JSON object from an untrusted file."""

import math
import sys
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np

from boostkmeans._runtime.errors import DataFormatError, shorten
from boostkmeans._runtime.untrusted_text import escape_untrusted

# Number of characters of an unexpected value that an error message shows.
MAX_SHOWN = 60
LARGEST_INTEGER = 2**63 - 1
LARGEST_FLOAT = sys.float_info.max
# JSON has no infinity and no NaN: they are stored as these strings.
NON_FINITE = {"inf": math.inf, "nan": math.nan}

SAVE_AGAIN = "Copy the file again, or save the model again."


@dataclass(frozen=True)
class Fields:
    """A JSON object of a file. Every method checks the type of a field and returns its value.

    The methods raise DataFormatError if the field is missing or has another type.
    """

    path: str
    """Name of the file, escaped for messages."""
    place: str
    """Place of the object in the file, e.g. "header.fitted"."""
    values: dict[str, Any]
    remedy: str = SAVE_AGAIN
    """Advice for the user if a field is invalid."""

    @classmethod
    def of(cls, path: str, place: str, value: object, remedy: str = SAVE_AGAIN) -> Self:
        """Return the fields of a parsed value. Raise DataFormatError if it is not a JSON object."""
        if not isinstance(value, dict):
            _fail(path, place, "an object", value, remedy)
        return cls(path, place, value, remedy)

    def child(self, name: str) -> Self:
        """Return the object in this field."""
        return self.of(self.path, f"{self.place}.{escape_untrusted(name)}", self._get(name), self.remedy)

    def children(self, name: str) -> list[Self]:
        """Return the list of objects in this field."""
        return [
            self.of(self.path, f"{self.place}.{name}[{number}]", value, self.remedy)
            for number, value in enumerate(self.items(name))
        ]

    def string(self, name: str, choices: tuple[str, ...] = ()) -> str:
        """Return a string, which must be one of `choices` if they are given."""
        value = self._get(name)
        if not isinstance(value, str) or (choices and value not in choices):
            expected = f"one of {', '.join(map(repr, choices))}" if choices else "a string"
            self.fail(name, expected, value)
        return value

    def integer(self, name: str, low: int = 0, high: int = LARGEST_INTEGER) -> int:
        """Return an integer from `low` to `high`."""
        value = self._get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.fail(name, f"an integer from {low} to {high}", value)
        return value

    def boolean(self, name: str) -> bool:
        """Return the boolean in this field."""
        value = self._get(name)
        if not isinstance(value, bool):
            self.fail(name, "true or false", value)
        return value

    def number(self, name: str) -> float:
        """Return a float. The strings "inf" and "nan" stand for non-finite numbers."""
        value = self._get(name)
        if isinstance(value, str) and value in NON_FINITE:
            return NON_FINITE[value]
        if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > LARGEST_FLOAT:
            self.fail(name, 'a number, "inf" or "nan"', value)
        return float(value)

    def items(self, name: str) -> list[Any]:
        """Return a list. Its elements are not checked."""
        value = self._get(name)
        if not isinstance(value, list):
            self.fail(name, "a list", value)
        return value

    def fail(self, name: str, expected: str, value: object) -> NoReturn:
        """Raise DataFormatError for a field that has an unexpected value."""
        _fail(self.path, f"{self.place}.{name}", expected, value, self.remedy)

    def _get(self, name: str) -> Any:
        if name not in self.values:
            raise DataFormatError(
                f"The field {name!r} is missing.",
                file=self.path,
                place=escape_untrusted(self.place),
                remedy=self.remedy,
            )
        return self.values[name]


def encode_number(value: float) -> float | str:
    """Return a float in a form that JSON supports. `Fields.number` reads it back."""
    value = float(value)
    return value if math.isfinite(value) else str(value)


def _fail(path: str, place: str, expected: str, value: object, remedy: str) -> NoReturn:
    shown = escape_untrusted(shorten(_describe(value), MAX_SHOWN))
    raise DataFormatError(
        f"Expected {expected}. Got {shown}.", file=path, place=escape_untrusted(place), remedy=remedy
    )


def _describe(value: object) -> str:
    """Return a value as an error message shows it."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, {' x '.join(map(str, value.shape))}"
    try:
        return repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python refuses to print an integer of more than 4,300 digits
        return "a very large integer"
