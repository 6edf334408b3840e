"""Limits on the sizes of clusters, and partitions that satisfy them."""
