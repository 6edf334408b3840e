"""Bisecting k-means (temporary)."""
