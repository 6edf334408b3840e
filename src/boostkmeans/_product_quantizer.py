"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans.quantization._product_quantizer import ProductQuantizer

__all__ = ["ProductQuantizer"]
