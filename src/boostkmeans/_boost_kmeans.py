"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans._estimators.boost_kmeans import BoostKMeans

__all__ = ["BoostKMeans"]
