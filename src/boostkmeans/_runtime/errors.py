"""Errors of this package, where none that Python has would do."""


class DataFormatError(ValueError):
    """A file is not what it should be. The message names the file, the place and a remedy."""


class NotFiniteError(ValueError):
    """A value of the data is NaN or infinite. The message names its row and column."""


class ChoiceError(DataFormatError):
    """The file is all right, but it takes a choice by the caller: of a format, an array, a column."""

    def __init__(self, message: str, available: list[str] | None = None) -> None:
        """`available`: names of what there is to choose from, where no choice was made."""
        super().__init__(message)
        self.available = available or []
