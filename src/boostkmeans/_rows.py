"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans._data.frame import Frame

__all__ = ["Frame"]
