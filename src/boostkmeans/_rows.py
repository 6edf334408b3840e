"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans._data.rows import Frame

__all__ = ["Frame"]
