"""
The tree as a dendrogram
========================

``BisectingBoostKMeans`` splits the rows in two, then splits one of the parts, and so on. The resulting
tree is a hierarchy that can be drawn, and that gives any smaller number of clusters at no cost.
"""

# %%
# This example clusters handwritten digits into 16 clusters. ``split="inertia"`` always splits the part
# with the highest inertia.

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import load_digits

from boostkmeans import BisectingBoostKMeans

X, _ = load_digits(return_X_y=True)
model = BisectingBoostKMeans(16, split="inertia", random_state=0).fit(X)
tree = model.tree_

# %%
# SciPy draws the result of ``to_linkage``. The height of a node is the square root of its inertia. The
# leaves are the clusters, and the pictures below them are their means.

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
# ``cut`` returns the labels of a tree with fewer clusters. A tree has a higher inertia than a fit over
# all clusters; ``refine=True`` lowers it.

for k in (2, 4, 8, 16):
    labels = model.cut(k)
    inertia = tree.inertia[tree.cut_nodes(k)].sum()
    print(f"{k:2} clusters, sizes {np.bincount(labels).tolist()}, inertia {inertia:,.0f}")
refined = BisectingBoostKMeans(16, split="inertia", refine=True, random_state=0).fit(X)
print(f"16 clusters, refined: inertia {refined.inertia_:,.0f}")
