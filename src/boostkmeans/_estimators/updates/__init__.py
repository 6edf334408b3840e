"""Updates of fitted estimators: rows that are added or removed, and the clusters that follow them."""
