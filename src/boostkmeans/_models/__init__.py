"""Model files: what knows all estimators."""
