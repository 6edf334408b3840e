"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans._data.frame import Frame

__all__ = ["Frame"]
