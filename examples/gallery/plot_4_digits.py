"""
Handwritten digits
==================

This example clusters 1,797 pictures of 8 x 8 pixels from scikit-learn. It shows the clusters and a
representative picture of each, and how much the result depends on the random seed.
"""

# %%
# The centre of a cluster is the mean of its pictures. The row nearest to the centre is a real picture
# that represents the cluster. ``transform`` returns the distances of all rows to all centres.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from boostkmeans import BoostKMeans, metrics
from boostkmeans.baselines import KMeans

X, digits = load_digits(return_X_y=True)
model = BoostKMeans(10, random_state=0).fit(X)
nearest = model.transform(X).argmin(axis=0)

figure, grid = plt.subplots(2, 10, figsize=(10, 2.4), layout="constrained")
for i in range(10):
    grid[0, i].imshow(model.cluster_centers_[i].reshape(8, 8), cmap="gray_r")
    grid[1, i].imshow(X[nearest[i]].reshape(8, 8), cmap="gray_r")
    grid[0, i].set_title(f"{model.cluster_sizes_[i]}")
for axes in grid.ravel():
    axes.set(xticks=[], yticks=[])
grid[0, 0].set_ylabel("mean")
grid[1, 0].set_ylabel("nearest")
plt.show()

# %%
# The fit does not use the digit labels, but most clusters correspond to one digit. The entropy is 0 if
# each cluster contains only one digit.

print(f"purity {metrics.purity(digits, model.labels_):.3f}")
print(f"entropy {metrics.entropy(digits, model.labels_):.3f}")

# %%
# Each method runs with twenty seeds. The result of one run of Lloyd's k-means varies. Boost k-means,
# which anneals and repairs, almost always ends with the same inertia.

seeds = range(20)
lloyd = [KMeans(10, random_state=seed).fit(X).inertia_ for seed in seeds]
boost = [BoostKMeans(10, random_state=seed).fit(X).inertia_ for seed in seeds]
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
bins = np.linspace(min(boost + lloyd), max(boost + lloyd), 40).tolist()
axes.hist([lloyd, boost], bins, label=["k-means++ and Lloyd, one run", "boost k-means, one run"])
axes.set(xlabel="inertia", ylabel="seeds out of 20")
axes.legend()
plt.show()
