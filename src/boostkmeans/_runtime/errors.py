"""Structured errors: they carry what is wrong, and are rendered once for Python and once for the shell."""

from collections.abc import Callable
from typing import Any

# Characters of a value that a message shows.
MAX_SHOWN = 200

OptionName = Callable[[str], str]
"""Return how the user names a parameter: itself in Python, an option such as `-k` in the shell."""


class ParameterError(ValueError):
    """A parameter has a value that is not allowed.

    Parameters
    ----------
    name : str
        The parameter.
    expected : str
        The values that are allowed, as in "an int in the range [1, inf)".
    got : object
        The value that was given.
    owner : str, default=""
        The class or function that has the parameter.
    remedy : str, default=""
        What to do, as a full sentence.
    """

    def __init__(
        self, name: str, expected: str, got: object, *, owner: str = "", remedy: str = ""
    ) -> None:
        self.name = name
        self.expected = expected
        self.got = got
        self.owner = owner
        self.remedy = remedy
        super().__init__(self.render())

    def render(self, option: OptionName | None = None) -> str:
        """Return the message; with `option`, parameters are called what the shell calls them."""
        got = shorten(repr(self.got))
        if option is not None:
            parts = [f"{option(self.name)} must be {self.expected}.", f"Got {got}."]
        elif self.owner:
            parts = [f"The {self.name!r} parameter of {self.owner} must be {self.expected}."]
            parts += [f"Got {got} instead."]
        else:
            parts = [f"{self.name} must be {self.expected}. Got {got}."]
        return " ".join([*parts, self.remedy]).rstrip()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class DataFormatError(ValueError):
    """A file does not have the content that it should have.

    Parameters
    ----------
    problem : str
        What is wrong, as a full sentence.
    file : str, default=""
        The name of the file, safe to print (see `escape_untrusted`).
    place : str, default=""
        Where in the file: a byte, a line, a field.
    remedy : str, default=""
        What to do, as a full sentence.
    """

    def __init__(self, problem: str, *, file: str = "", place: str = "", remedy: str = "") -> None:
        self.problem = problem
        self.file = file
        self.place = place
        self.remedy = remedy
        where = ": ".join(part for part in (file, place) if part)
        text = f"{where}: {problem}" if where else problem
        super().__init__(f"{text} {remedy}".rstrip())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class NotFiniteError(ValueError):
    """A value of the data is NaN or infinite.

    Parameters
    ----------
    value : float
        The value.
    row, column : int
        Where it is, counted from 0.
    """

    def __init__(self, value: float, row: int, column: int) -> None:
        self.value = value
        self.row = row
        self.column = column
        name = "NaN" if value != value else "infinity"
        super().__init__(
            f"Input X contains {name} (first at row {row}, column {column}). "
            "Boost k-means needs finite values: remove or impute such rows first."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class ChoiceError(DataFormatError):
    """The file is valid, but the caller must choose: a format, an array or a column.

    `available` lists the names to choose from, if the caller made no choice.
    """

    def __init__(
        self,
        problem: str,
        available: list[str] | None = None,
        *,
        file: str = "",
        place: str = "",
        remedy: str = "",
    ) -> None:
        super().__init__(problem, file=file, place=place, remedy=remedy)
        self.available = available or []


def shorten(text: str, length: int = MAX_SHOWN) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= length else text[: length - 3] + "..."


def _rebuild(cls: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    """Rebuild a pickled error without calling its constructor, whose arguments differ."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error
