"""
The sizes of clusters
=====================

``plot_sizes`` draws the sizes of the clusters in descending order, with the limits of the fit.
"""

# %%
# The data are one large and many small groups. Without limits, the sizes differ widely, and
# the scale is logarithmic.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BoostKMeans

rng = np.random.default_rng(0)
centres = rng.uniform(-40, 40, size=(30, 2))
counts = np.append(4000, rng.integers(5, 60, size=29))
X = np.repeat(centres, counts, axis=0) + rng.normal(size=(counts.sum(), 2))

free = BoostKMeans(30, random_state=0).fit(X)
limited = BoostKMeans(30, min_size=50, max_size=400, random_state=0).fit(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
free.plot_sizes(left)
limited.plot_sizes(right)
plt.show()

# %%
# The limits divide the large group between many clusters, and join small groups. The inertia is
# therefore higher.

for name, model in (("no limits", free), ("50 to 400 rows", limited)):
    sizes = model.cluster_sizes_
    print(f"{name}: {sizes.min()} to {sizes.max()} rows, inertia {model.inertia_:.0f}")
