"""The page about fixed points of Lloyd's algorithm."""
