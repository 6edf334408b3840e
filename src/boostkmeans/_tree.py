"""Alias module for pickles of version 0.7, which refer to this name."""

from boostkmeans._steps.cluster_tree import ClusterTree

__all__ = ["ClusterTree"]
