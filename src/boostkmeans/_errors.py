"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans._runtime.errors import ChoiceError, DataFormatError, NotFiniteError

__all__ = ["ChoiceError", "DataFormatError", "NotFiniteError"]
