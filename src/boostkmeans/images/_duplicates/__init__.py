"""Groups of near-duplicate images: identical files, similar miniatures and similar vectors."""
