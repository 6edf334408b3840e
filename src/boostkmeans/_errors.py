"""Errors of this package, where none that Python has would do."""


class DataFormatError(ValueError):
    """A file is not what it should be. The message names the file, the place and a remedy."""
