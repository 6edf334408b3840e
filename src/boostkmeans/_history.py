"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans._engine.history import SweepRecord

__all__ = ["SweepRecord"]
