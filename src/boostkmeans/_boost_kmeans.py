"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans._estimators.boost_kmeans import BoostKMeans

__all__ = ["BoostKMeans"]
