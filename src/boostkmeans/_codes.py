"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans.quantization._neighbors import Neighbors

__all__ = ["Neighbors"]
