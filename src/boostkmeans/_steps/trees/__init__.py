"""Parts of trees: the order of their splits, and checks of trees from files."""
