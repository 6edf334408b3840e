"""
The colours of a picture
========================

A picture has tens of thousands of colours. K-means finds the few that change it least: a palette. A
pixel is a row of three bytes, and goes in as it is.
"""

# %%
# A photograph that comes with scikit-learn, at half its size.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from boostkmeans import BoostKMeans

picture = load_sample_image("china.jpg")[::2, ::2]
pixels = picture.reshape(-1, 3)
colours, counts = np.unique(pixels, axis=0, return_counts=True)
print(f"{len(pixels)} pixels, {len(colours)} colours")

# %%
# Equal pixels may as well be one row with a weight. That is less work, and the same objective.

models = [BoostKMeans(k, random_state=0).fit(colours, sample_weight=counts) for k in (4, 16, 64)]

# %%
# To paint with a palette, each pixel gets the nearest of its colours: ``predict``.

figure, grid = plt.subplots(2, 2, figsize=(9, 6.2), layout="constrained")
grid[0, 0].imshow(picture)
grid[0, 0].set_title(f"{len(colours)} colours")
for axes, model in zip(grid.ravel()[1:], models, strict=True):
    painted = model.cluster_centers_[model.predict(pixels)]
    error = np.square(painted - pixels).sum(axis=1).mean()
    axes.imshow(painted.reshape(picture.shape).round().astype(np.uint8))
    axes.set_title(f"{model.n_clusters} colours, mean squared error {error:,.0f}")
for axes in grid.ravel():
    axes.axis("off")
plt.show()
