"""Layout: places of rows on a map, such that clusters and neighbours stay together."""
