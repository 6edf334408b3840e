"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans._estimators.bisecting import BisectingBoostKMeans

__all__ = ["BisectingBoostKMeans"]
