"""
Distortion against time
=======================

Real SIFT descriptors, 4,000 x 128, into 100 clusters: by boost k-means in its three qualities, and
by Lloyd's rule from random rows and from k-means++. Times depend on the machine and on how busy it
is; where they end hardly does.
"""

# %%
# Each estimator keeps a record of each sweep in ``history_``: the seconds since ``fit`` was called,
# and the inertia. The baselines are scikit-learn's, with the same records.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BoostKMeans
from boostkmeans.baselines import KMeans

with np.load("../data/siftsmall.npz") as data:
    X = data["base"][:4000].astype(np.float32)

k = 100
methods = {
    "Lloyd, random rows": KMeans(k, init="random", random_state=0),
    "Lloyd, k-means++": KMeans(k, init="k-means++", random_state=0),
    'boost k-means, quality="fast"': BoostKMeans(k, quality="fast", random_state=0),
    'boost k-means, quality="balanced"': BoostKMeans(k, random_state=0),
    'boost k-means, quality="best"': BoostKMeans(k, quality="best", random_state=0),
}
figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
for name, model in methods.items():
    model.fit(X)
    seconds = [record.seconds for record in model.history_]
    distortions = [record.inertia / len(X) for record in model.history_]
    axes.plot(seconds, distortions, marker=".", label=f"{name}: {model.distortion_:,.0f}")
lowest = min(model.distortion_ for model in methods.values())
axes.set(xlabel="seconds", ylabel="distortion", ylim=(0.995 * lowest, 1.12 * lowest), xscale="log")
axes.legend()
plt.show()

# %%
# Where annealing is at work, the record has the inertia of the best partition so far: the line is
# flat until the temperature has fallen, and then drops below all others. ``history_[0].note`` says
# what was chosen.

print(methods['boost k-means, quality="best"'].history_[0].note)
