"""The data of a fit: rows in a frame, in memory or in blocks, and their weights."""
