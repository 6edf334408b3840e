"""
A page of clusters
==================

``explore.page`` shows the clusters of a model on one HTML page: a map, a table of the clusters with
names, and typical rows. The page needs no server and no network.
"""

# %%
# The data are definitions of WordNet with embeddings: texts with similar meanings have similar vectors.
# The sample is part of the project.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BisectingBoostKMeans
from boostkmeans.explore import page

with np.load("../data/wordnet.npz") as sample:
    X, texts = sample["X"][:800], sample["texts"][:800].tolist()
model = BisectingBoostKMeans(16, refine=True, metric="cosine", random_state=0).fit(X)

# %%
# The page is displayed below, as in a notebook. Click on a point or on a name to open a cluster, move
# the slider to merge clusters, and search for a word. ``shown.save("page.html")`` writes the same page
# to a file.

shown = page(model, X, texts=texts, title="Definitions of WordNet")
shown

# %%
# The names are phrases that are frequent in a cluster and rare in its neighbours.

order = np.argsort(model.cluster_sizes_)
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
axes.barh([shown.names[i] for i in order], model.cluster_sizes_[order])
axes.set_xlabel("definitions")
plt.show()
