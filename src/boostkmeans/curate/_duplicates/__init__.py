"""Groups of near duplicates, the rows to keep, and the estimate of missed pairs."""
