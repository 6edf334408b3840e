"""Names of clusters of texts: phrases that are frequent in a cluster and rare in its neighbours."""
