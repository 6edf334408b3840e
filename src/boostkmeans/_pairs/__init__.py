"""Search for all pairs of rows that are near each other, in memory, in blocks and on workers."""
