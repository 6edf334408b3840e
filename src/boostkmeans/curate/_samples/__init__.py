"""Balanced samples of rows, and how well they cover the clusters."""
