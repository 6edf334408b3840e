"""Updates: rows are added to and removed from clusters, and only changed regions are optimised."""
