"""Structured errors: each error stores its parts and is rendered for Python or for the shell."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from boostkmeans._runtime.untrusted_text import escape_untrusted

# Number of characters of a value that a message shows.
MAX_SHOWN = 200
# Number of characters of the problem, the place and the remedy of an error. They can contain names from
# untrusted files.
MAX_PROBLEM = 2000
MAX_PLACE = 300

OptionName = Callable[[str], str]
"""Return the option that sets a parameter, e.g. `-k` for `n_clusters`."""


class Parameter:
    """A parameter that a message mentions, optionally with its value.

    Python messages show `name` or `name=value`, shell messages `--option` or `--option value`.

    >>> Parameter("max_size").render(), Parameter("key", "a").render()
    ('max_size', "key='a'")
    >>> Parameter("key", "a").render("--{}".format)
    '--key a'
    """

    def __init__(self, name: str, *value: object) -> None:
        self.name = name
        self.value = value

    def render(self, option: OptionName | None = None) -> str:
        """Return the text for Python or, with `option`, for the shell."""
        name = self.name if option is None else option(self.name)
        if not self.value:
            return name
        return f"{name}={self.value[0]!r}" if option is None else f"{name} {self.value[0]}"


class Message:
    """A text that mentions parameters.

    Parameters
    ----------
    template : str
        Text with fields in braces, as in `str.format`.
    shell : str, default=None
        Text for the shell. By default it is `template`.
    **values : object
        Values of the fields. A field that is a `Parameter` is rendered for Python or for the shell.

    Examples
    --------
    >>> message = Message("Name one: {key}.", key=Parameter("key", "a"))
    >>> message.render(), message.render("--{}".format)
    ("Name one: key='a'.", 'Name one: --key a.')
    """

    def __init__(self, template: str, /, *, shell: str | None = None, **values: object) -> None:
        self.template = template
        self.shell = shell
        self.values = values

    def render(self, option: OptionName | None = None) -> str:
        """Return the text for Python or, with `option`, for the shell."""
        template = self.template if option is None or self.shell is None else self.shell
        shown = {
            name: value.render(option) if isinstance(value, Parameter | Message) else value
            for name, value in self.values.items()
        }
        return template.format(**shown)


Text = str | Message
"""A part of an error: the same for Python and the shell, or a message with two renderings."""


class StructuredError(ValueError):
    """Base class of errors that can be rendered for Python and for the shell."""

    is_about_data: ClassVar[bool] = False
    """True if the data are invalid, False if a parameter is."""
    source: str = ""
    """Name of the file that contains the rows. The command line sets it for its messages."""
    model: str = ""
    """Name of the file that contains the model. The command line sets it for its messages."""
    option_names: Mapping[str, str] = MappingProxyType({})
    """Options for parameters whose option differs in the current command."""

    def __init__(self) -> None:
        # File names can hold escape sequences that a terminal would obey.
        super().__init__(escape_untrusted(self.render()))

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class ParameterError(StructuredError):
    """A parameter has a value that is not allowed.

    Parameters
    ----------
    name : str
        Name of the parameter.
    expected : str or Message
        Description of the allowed values, e.g. "an int in the range [1, inf)".
    got : object
        Value that was given.
    owner : str, default=""
        Class or function that has the parameter.
    remedy : str or Message, default=""
        Advice for the user, as a full sentence.
    """

    def __init__(
        self, name: str, expected: Text, got: object, *, owner: str = "", remedy: Text = ""
    ) -> None:
        self.name = name
        self.expected = expected
        self.got = got
        self.owner = owner
        self.remedy = remedy
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        got, expected = _describe(self.got), _render(self.expected, option)
        if option is not None:
            text = f"{option(self.name)} must be {expected}. Got {got}."
        elif self.owner:
            text = f"The {self.name!r} parameter of {self.owner} must be {expected}. Got {got} instead."
        else:
            text = f"{self.name} must be {expected}. Got {got}."
        return _sentences(text, _render(self.remedy, option))


class ParameterConflictError(StructuredError):
    """Parameters contradict each other, or do not fit the data.

    Parameters
    ----------
    problem : str or Message
        Description of the conflict, as a full sentence.
    remedy : str or Message, default=""
        Advice for the user, as a full sentence.
    """

    def __init__(self, problem: Text, *, remedy: Text = "") -> None:
        self.problem = problem
        self.remedy = remedy
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        parts = _render(self.problem, option), _render(self.remedy, option)
        return _sentences(*(shorten(one, MAX_PROBLEM) for one in parts))


class TooFewRowsError(StructuredError):
    """The data have fewer rows than the requested number of clusters.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_clusters : int
        Number of clusters.
    parameter : str, default="n_clusters"
        Name of the parameter that sets the number of clusters.
    remedy : str or Message, default=""
        Advice for the user, as a full sentence.
    """

    def __init__(
        self, n_rows: int, n_clusters: int, parameter: str = "n_clusters", *, remedy: Text = ""
    ) -> None:
        self.n_rows = n_rows
        self.n_clusters = n_clusters
        self.parameter = parameter
        self.remedy = remedy
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        if option is None:
            text = f"n_samples={self.n_rows} should be >= {self.parameter}={self.n_clusters}."
        else:
            of = f" of {self.source}" if self.source else ""
            name = option(self.parameter)
            text = f"{name} {self.n_clusters} is more than the {self.n_rows:,} rows{of}."
        return _sentences(text, _render(self.remedy, option))


class DataFormatError(StructuredError):
    """A file does not have the expected content.

    Parameters
    ----------
    problem : str or Message
        Description of the defect, as a full sentence.
    file : str, default=""
        Name of the file. Unprintable characters are escaped.
    place : str, default=""
        Position in the file: a byte, a line or a field. Unprintable characters are escaped.
    remedy : str or Message, default=""
        Advice for the user, as a full sentence.
    """

    is_about_data = True

    def __init__(self, problem: Text, *, file: str = "", place: str = "", remedy: Text = "") -> None:
        self.problem = problem
        self.file = escape_untrusted(file)
        self.place = shorten(escape_untrusted(place), MAX_PLACE)
        self.remedy = remedy
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        where = [part for part in (self.file, self.place) if part]
        text = ": ".join([*where, shorten(_render(self.problem, option), MAX_PROBLEM)])
        return _sentences(text, shorten(_render(self.remedy, option), MAX_PROBLEM))


class ChoiceError(DataFormatError):
    """The file is valid, but the caller must choose a format, an array or a column.

    `available` lists the names to choose from, if the caller made no choice.
    """

    is_about_data = False

    def __init__(
        self,
        problem: Text,
        available: list[str] | None = None,
        *,
        file: str = "",
        place: str = "",
        remedy: Text = "",
    ) -> None:
        self.available = available or []
        super().__init__(problem, file=file, place=place, remedy=remedy)


class NotFiniteError(StructuredError):
    """A value of the data is NaN or infinite.

    Parameters
    ----------
    value : float
        The value.
    row, column : int
        Position of the value, counted from 0.
    """

    is_about_data = True

    def __init__(self, value: float, row: int, column: int) -> None:
        self.value = value
        self.row = row
        self.column = column
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        name = "NaN" if self.value != self.value else "infinity"
        where = f"{self.source}: " if option is not None and self.source else ""
        return (
            f"{where}Input X contains {name} (first at row {self.row}, column {self.column}). "
            "Boost k-means needs finite values: remove or impute such rows first."
        )


class EmptyDataError(StructuredError):
    """The data have no rows or no features. The Python message matches that of scikit-learn.

    Parameters
    ----------
    shape : tuple of int
        Shape of the data.
    owner : str
        Name of the estimator.
    """

    is_about_data = True

    def __init__(self, shape: tuple[int, int], owner: str) -> None:
        self.shape = shape
        self.owner = owner
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        has_no_rows = self.shape[0] == 0
        if option is not None:
            return f"{self.source or 'The data'}: there are no {'rows' if has_no_rows else 'features'}."
        what = "sample" if has_no_rows else "feature"
        return (
            f"Found array with 0 {what}(s) (shape={self.shape}) while a minimum of 1 is required by "
            f"{self.owner}."
        )


class FeatureCountError(StructuredError):
    """The data and the fitted estimator have different numbers of features.

    The Python message matches that of scikit-learn.

    Parameters
    ----------
    n_features : int
        Number of features of the data.
    n_expected : int
        Number of features of the fitted estimator.
    owner : str
        Name of the estimator.
    """

    is_about_data = True

    def __init__(self, n_features: int, n_expected: int, owner: str) -> None:
        self.n_features = n_features
        self.n_expected = n_expected
        self.owner = owner
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        if option is None:
            return (
                f"X has {self.n_features} features, but {self.owner} is expecting {self.n_expected} "
                "features as input."
            )
        return (
            f"{self.source or 'The data'} has {self.n_features} features, and "
            f"{self.model or 'the model'} has {self.n_expected}. They must be the same."
        )


class InvalidValuesError(StructuredError):
    """An array passed by the user, such as weights or initial centres, has invalid values.

    Parameters
    ----------
    problem : Message
        Description of the values, as a full sentence.
    """

    is_about_data = True

    def __init__(self, problem: Message) -> None:
        self.problem = problem
        super().__init__()

    def render(self, option: OptionName | None = None) -> str:
        """Return the message for Python or, with `option`, for the shell."""
        return self.problem.render(option)


def shorten(text: str, length: int = MAX_SHOWN) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= length else text[: length - 3] + "..."


def _describe(value: object) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):  # types of NumPy, which is slow to import
        return f"an array of shape {value.shape} and type {value.dtype}"
    return shorten(repr(value))


def _render(text: Text, option: OptionName | None) -> str:
    return text.render(option) if isinstance(text, Message) else text


def _sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _rebuild(cls: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    """Rebuild a pickled error without calling its constructor, whose arguments differ."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error
