"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans._engine.history import SweepRecord

__all__ = ["SweepRecord"]
