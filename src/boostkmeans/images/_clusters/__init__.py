"""Clustering of images: vectors, clusters, central images and near duplicates."""
