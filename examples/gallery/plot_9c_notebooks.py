"""
Estimators in notebooks
=======================

A notebook shows a fitted estimator as a table of its results, beside scikit-learn's box of parameters.
"""

# %%
# An estimator that is not fitted looks as in scikit-learn.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from boostkmeans import BisectingBoostKMeans, BoostKMeans

X = load_digits().data
model = BoostKMeans(10, random_state=0)
model

# %%
# After the fit, the table shows the number of clusters, the inertia, the sizes, the time, and why the
# fit ended. "Certified" means that no move of a single row lowers the inertia.

model.fit(X)

# %%
# Other results have short representations, too. The tree of a bisecting fit prints its size, not its
# arrays.

BisectingBoostKMeans(10, random_state=0).fit(X).tree_

# %%
# The centres are pictures of digits.

figure, grid = plt.subplots(2, 5, figsize=(8, 3.5), layout="constrained")
for axes, centre, size in zip(grid.ravel(), model.cluster_centers_, model.cluster_sizes_, strict=True):
    axes.imshow(centre.reshape(8, 8), cmap="gray_r")
    axes.set(xticks=[], yticks=[], title=f"{size} rows")
plt.show()
