"""
How many clusters?
==================

``select.scan`` evaluates several numbers of clusters in less time than one fit per number, and suggests
one of them with a reason. This example uses one data set with a clear answer and one without.
"""

# %%
# The first data set has nine separated blobs in eight dimensions. All criteria have their maximum at
# nine clusters.

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
# In a notebook, ``found.plot()`` as the last line of a cell shows the same figure, and ``found`` is a
# table.

found

# %%
# The second data set is one normal distribution, without clusters. The inertia decreases
# nevertheless. The silhouette is low for all numbers. The gap is highest for one cluster, if 1 is among
# the numbers.

cloud = np.random.default_rng(0).normal(size=(1000, 8))
found = scan(cloud, range(1, 13), random_state=0)
print(found)
figure = found.plot(plt.figure(figsize=(9, 6), layout="constrained"))
figure.suptitle(f"k = {found.suggestion}, without a clear answer")
plt.show()
