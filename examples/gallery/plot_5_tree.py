"""
The tree as a dendrogram
========================

``BisectingBoostKMeans`` splits the rows in two, then one of the parts, and so on. The tree stays:
it is a hierarchy to look at, and gives any smaller number of clusters for free.
"""

# %%
# Handwritten digits into 16 clusters. ``split="inertia"`` splits the part that has most to gain.

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import load_digits

from boostkmeans import BisectingBoostKMeans

X, _ = load_digits(return_X_y=True)
model = BisectingBoostKMeans(16, split="inertia", random_state=0).fit(X)
tree = model.tree_

# %%
# ``to_linkage`` is what SciPy draws. The height of a node is the square root of its inertia; its
# leaves are the clusters, with their means below.

figure = plt.figure(figsize=(11, 5), layout="constrained")
places = figure.add_gridspec(2, 16, height_ratios=(5, 1))
top = figure.add_subplot(places[0, :])
drawn = dendrogram(tree.to_linkage(), ax=top, color_threshold=0, above_threshold_color="C0")
for i, leaf in enumerate(drawn["leaves"]):
    axes = figure.add_subplot(places[1, i])
    axes.imshow(model.cluster_centers_[leaf].reshape(8, 8), cmap="gray_r")
    axes.set(xticks=[], yticks=[])
plt.show()

# %%
# ``cut`` gives the labels of fewer clusters, as if the growth had stopped there. What the tree
# lacks beside a fit over all clusters, ``refine=True`` makes up for.

for k in (2, 4, 8, 16):
    labels = model.cut(k)
    inertia = tree.inertia[tree.cut_nodes(k)].sum()
    print(f"{k:2} clusters, sizes {np.bincount(labels).tolist()}, inertia {inertia:,.0f}")
refined = BisectingBoostKMeans(16, split="inertia", refine=True, random_state=0).fit(X)
print(f"16 clusters, refined: inertia {refined.inertia_:,.0f}")
