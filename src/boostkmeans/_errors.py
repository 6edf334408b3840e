"""Errors of this package, where none that Python has would do."""


class DataFormatError(ValueError):
    """A file is not what it should be. The message names the file, the place and a remedy."""


class NotFiniteError(ValueError):
    """A value of the data is NaN or infinite. The message names its row and column."""
