"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans.quantization._record import QuantizerRecord

__all__ = ["QuantizerRecord"]
