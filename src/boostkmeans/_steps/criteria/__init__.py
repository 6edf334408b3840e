"""CLUTO's criteria for documents: partitions by term, sweeps and trees that optimise a criterion."""
