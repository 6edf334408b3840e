"""
Clusters of limited size
========================

``min_size`` and ``max_size`` limit the size of clusters in every step of a fit. Typical uses are shards
that must fit into the memory of a machine, and groups of at least twenty people.
"""

# %%
# The data are 1,200 points, most of them in one corner. Without limits, the sizes of the clusters
# differ widely.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BoostKMeans, metrics

rng = np.random.default_rng(0)
X = rng.beta(1.2, 3.5, size=(1200, 2))
limits = [(None, None), (80, 160), (100, 100)]

# %%
# Tighter limits give a higher inertia, because some rows do not belong to their nearest centre.

figure, grid = plt.subplots(2, 3, figsize=(11, 6), layout="constrained", height_ratios=(3, 1))
for (smallest, largest), (points, bars) in zip(limits, grid.T, strict=True):
    model = BoostKMeans(12, min_size=smallest, max_size=largest, random_state=0).fit(X)
    name = f"{smallest} to {largest} rows" if smallest else "no limits"
    points.scatter(*X.T, c=model.labels_, cmap="tab20", s=6)
    points.scatter(*model.cluster_centers_.T, color="black", marker="x")
    points.set(title=f"{name}\ninertia {model.inertia_:.2f}", xticks=[], yticks=[])
    bars.bar(range(12), np.sort(model.cluster_sizes_))
    bars.set(ylim=(0, 240), xticks=[], title=f"imbalance {metrics.size_imbalance(model.labels_):.3f}")
    elsewhere = (model.predict(X) != model.labels_).mean()
    sizes = f"{model.cluster_sizes_.min()} to {model.cluster_sizes_.max()}"
    print(f"{name}: sizes {sizes}, {elsewhere:.1%} of the rows nearer to another centre")
plt.show()

# %%
# ``labels_`` respects the limits. ``predict`` does not: it returns the nearest centre.
