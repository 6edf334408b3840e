"""
Single moves against Lloyd's rule
=================================

Both begin with the same four centres on the same sixteen points. Lloyd's k-means gives each point
to its nearest centre, and then moves the centres. Boost k-means moves one point at a time, and both
centres follow at once.
"""

# %%
# Sixteen points at random. The first four of them are the start.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BoostKMeans
from boostkmeans.baselines import KMeans

rng = np.random.default_rng(3)
X = rng.normal(size=(16, 2))
start = X[:4]

# %%
# ``max_iter`` stops both after one pass, two passes, and so on. Without annealing and repair,
# nothing but single moves is at work.

passes = (1, 2, 3, 10)
lloyd = [KMeans(4, init=start, max_iter=n).fit(X) for n in passes]
boost = [
    BoostKMeans(4, init=start, annealing=0, repair=False, tol=0, max_iter=n, random_state=0).fit(X)
    for n in passes
]

# %%
# A line leads from each point to the centre of its cluster: the inertia is the sum of their squared
# lengths.

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
# Lloyd's rule has come to rest: each point is with its nearest centre. Single moves go on, as a
# point counts in the centre of its own cluster. It is worth leaving as soon as
#
# .. math:: \frac{n_u}{n_u - 1} \|x - C_u\|^2 > \frac{n_v}{n_v + 1} \|x - C_v\|^2,
#
# which can hold although its own centre is the nearest. In small clusters that makes a difference.
# Whatever single moves have come to rest at is at rest for Lloyd, too, and not the other way round:
# started from the end of one, the other shows it.

after_lloyd = BoostKMeans(4, init=lloyd[-1].cluster_centers_, annealing=0, repair=False, tol=0).fit(X)
after_boost = KMeans(4, init=boost[-1].cluster_centers_).fit(X)
print(f"Lloyd {lloyd[-1].inertia_:.3f}, then single moves {after_lloyd.inertia_:.3f}")
print(f"single moves {boost[-1].inertia_:.3f}, then Lloyd {after_boost.inertia_:.3f}")
print("certified:", boost[-1].converged_)
