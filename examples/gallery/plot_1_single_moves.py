"""
Single moves against Lloyd's rule
=================================

Both methods start from the same four centres, on the same sixteen points. Lloyd's k-means assigns each
point to its nearest centre, and then moves the centres. Boost k-means moves one point at a time, and
both centres follow at once.
"""

# %%
# The data are sixteen random points. The first four of them are the initial centres.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BoostKMeans
from boostkmeans.baselines import KMeans

rng = np.random.default_rng(3)
X = rng.normal(size=(16, 2))
start = X[:4]

# %%
# ``max_iter`` stops both methods after one pass, two passes, and so on. Annealing and repair are
# disabled, so that boost k-means makes single moves only.

passes = (1, 2, 3, 10)
lloyd = [KMeans(4, init=start, max_iter=n).fit(X) for n in passes]
boost = [
    BoostKMeans(4, init=start, annealing=0, repair=False, tol=0, max_iter=n, random_state=0).fit(X)
    for n in passes
]

# %%
# A line connects each point with the centre of its cluster. The inertia is the sum of the squared
# lengths of these lines.

figure, grid = plt.subplots(2, len(passes), figsize=(11, 5.6), layout="constrained")
for name, models, line in zip(("Lloyd", "single moves"), (lloyd, boost), grid, strict=True):
    for n, model, axes in zip(passes, models, line, strict=True):
        centres = np.array([X[model.labels_ == i].mean(axis=0) for i in range(4)])
        for point, label in zip(X, model.labels_, strict=True):
            axes.plot(*np.transpose([point, centres[label]]), color=f"C{label}", linewidth=1)
        axes.scatter(*X.T, c=[f"C{label}" for label in model.labels_], s=22)
        axes.scatter(*centres.T, marker="x", color="black", s=30)
        inertia = np.square(X - centres[model.labels_]).sum()
        axes.set(title=f"{name}, {n} pass{'es' * (n > 1)}: {inertia:.2f}", xticks=[], yticks=[])
plt.show()

# %%
# Lloyd's k-means has converged: each point belongs to its nearest centre. Single moves continue,
# because each point influences the centre of its own cluster. Moving a point to another cluster lowers
# the inertia if
#
# .. math:: \frac{n_u}{n_u - 1} \|x - C_u\|^2 > \frac{n_v}{n_v + 1} \|x - C_v\|^2,
#
# which can hold even if the centre of the point's own cluster is the nearest one. This matters in small
# clusters. A result of single moves is also a fixed point of Lloyd's k-means, but not the other way
# round. To verify this, start each method from the result of the other one.

after_lloyd = BoostKMeans(4, init=lloyd[-1].cluster_centers_, annealing=0, repair=False, tol=0).fit(X)
after_boost = KMeans(4, init=boost[-1].cluster_centers_).fit(X)
print(f"Lloyd {lloyd[-1].inertia_:.3f}, then single moves {after_lloyd.inertia_:.3f}")
print(f"single moves {boost[-1].inertia_:.3f}, then Lloyd {after_boost.inertia_:.3f}")
print("certified:", boost[-1].converged_)
