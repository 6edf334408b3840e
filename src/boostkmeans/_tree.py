"""Keep pickles of 0.7 readable: they name this module."""

from boostkmeans._steps.cluster_tree import ClusterTree

__all__ = ["ClusterTree"]
