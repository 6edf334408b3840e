"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans.quantization._product_quantizer import ProductQuantizer

__all__ = ["ProductQuantizer"]
