"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans.quantization._neighbors import Neighbors

__all__ = ["Neighbors"]
