"""
Handwritten digits
==================

1,797 pictures of 8 x 8 pixels, which come with scikit-learn. What do clusters look like, which
picture stands for one, and how much does the result depend on luck?
"""

# %%
# The centre of a cluster is the mean of its pictures. The row nearest to it is a real one, which is
# better to show to people: ``transform`` has the distances of all rows to all centres.

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
# Clusters know nothing of digits, but come close to them. Entropy is 0 where each cluster has one
# digit alone.

print(f"purity {metrics.purity(digits, model.labels_):.3f}")
print(f"entropy {metrics.entropy(digits, model.labels_):.3f}")

# %%
# Twenty seeds each. One run of Lloyd's rule ends here or there; boost k-means, which anneals and
# repairs, nearly always in the same place.

seeds = range(20)
lloyd = [KMeans(10, random_state=seed).fit(X).inertia_ for seed in seeds]
boost = [BoostKMeans(10, random_state=seed).fit(X).inertia_ for seed in seeds]
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
bins = np.linspace(min(boost + lloyd), max(boost + lloyd), 40).tolist()
axes.hist([lloyd, boost], bins, label=["k-means++ and Lloyd, one run", "boost k-means, one run"])
axes.set(xlabel="inertia", ylabel="seeds out of 20")
axes.legend()
plt.show()
