"""
Distortion against time
=======================

This example clusters 4,000 SIFT descriptors of 128 features into 100 clusters. It compares the three
quality levels of boost k-means with Lloyd's k-means, started from random rows and from k-means++. The
times depend on the machine and its load. The final distortions hardly depend on either.
"""

# %%
# The attribute ``history_`` of each estimator has one record per sweep, with the seconds since the
# call of ``fit`` and the inertia. The baselines have the same records.

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
# During annealing, a record has the inertia of the best partition so far. The line is therefore flat
# until the temperature is low, and then drops below all others. ``history_[0].note`` describes the
# settings that were chosen.

print(methods['boost k-means, quality="best"'].history_[0].note)
