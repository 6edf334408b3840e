"""
Clusters of limited sizes
=========================

Shards that must fit a machine, groups of at least twenty: ``min_size`` and ``max_size`` hold from
the start on.
"""

# %%
# 1,200 points, dense in one corner. Plain k-means makes clusters of very different sizes of them.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BoostKMeans, metrics

rng = np.random.default_rng(0)
X = rng.beta(1.2, 3.5, size=(1200, 2))
limits = [(None, None), (80, 160), (100, 100)]

# %%
# The tighter the limits, the higher the inertia: some rows are not with their nearest centre.

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
# ``labels_`` keep the limits. ``predict`` knows none, and gives the nearest centre.
