"""
How many clusters?
==================

``select.scan`` tries several numbers in less time than a fit for each, measures each, and suggests
one with a reason. Twice: where the answer is clear, and where there is none.
"""

# %%
# Nine blobs in eight dimensions, apart from each other. All criteria have their maximum at the same
# place.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from boostkmeans.select import scan

X, _ = make_blobs(1000, 8, centers=9, cluster_std=2.0, random_state=1)
found = scan(X, range(2, 17), random_state=0)
print(found)
found.plot(plt.figure(figsize=(9, 6), layout="constrained"))
plt.show()

# %%
# One normal cloud, without clusters. The inertia falls all the same. The silhouette is low
# everywhere, and the gap says one cluster, if it is asked: 1 must be among the numbers.

cloud = np.random.default_rng(0).normal(size=(1000, 8))
found = scan(cloud, range(1, 13), random_state=0)
print(found)
figure = found.plot(plt.figure(figsize=(9, 6), layout="constrained"))
figure.suptitle(f"k = {found.suggestion}, but nothing is clear")
plt.show()
