"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans.quantization._record import QuantizerRecord

__all__ = ["QuantizerRecord"]
