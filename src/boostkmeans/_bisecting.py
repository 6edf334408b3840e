"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans._estimators.bisecting import BisectingBoostKMeans

__all__ = ["BisectingBoostKMeans"]
