"""Baselines that wrap scikit-learn."""
