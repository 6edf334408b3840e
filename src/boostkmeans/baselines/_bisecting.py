"""Bisecting k-means (temporary)."""

from boostkmeans.baselines._scikit_learn_bisecting import (
    ScikitLearnBisectingKMeans as BisectingKMeans,  # noqa: F401
)
