"""
The colours of a picture
========================

A picture has tens of thousands of colours. K-means finds a palette: a few colours that change the
picture as little as possible. Each pixel is a row of three bytes, which needs no conversion.
"""

# %%
# The data is a photograph from scikit-learn, at half of its size.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from boostkmeans import BoostKMeans

picture = load_sample_image("china.jpg")[::2, ::2]
pixels = picture.reshape(-1, 3)
colours, counts = np.unique(pixels, axis=0, return_counts=True)
print(f"{len(pixels)} pixels, {len(colours)} colours")

# %%
# Equal pixels become one row with a weight. The objective is the same, and the fit is faster.

models = [BoostKMeans(k, random_state=0).fit(colours, sample_weight=counts) for k in (4, 16, 64)]

# %%
# ``predict`` finds the nearest colour of the palette for each pixel.

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
