"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans._runtime.errors import ChoiceError, DataFormatError, NotFiniteError

__all__ = ["ChoiceError", "DataFormatError", "NotFiniteError"]
