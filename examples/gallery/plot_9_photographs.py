"""
Groups of photographs
=====================

A photograph becomes a vector by the paper's pipeline: SIFT keypoints, RootSIFT, VLAD and PCA. Similar
photographs have similar vectors, which k-means can cluster. This example needs OpenCV and Pillow.
"""

# %%
# The data are 24 pictures that were cut from two photographs of scikit-learn. Half of them are turned,
# which SIFT does not notice.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images

from boostkmeans import BoostKMeans
from boostkmeans.images import VLADPipeline

rng = np.random.default_rng(0)
pictures = []
for photograph in load_sample_images().images:
    for number in range(12):
        top, left = rng.integers(0, 127), rng.integers(0, 340)
        picture = photograph[top : top + 300, left : left + 300]
        pictures.append(np.rot90(picture) if number % 2 else picture)
rng.shuffle(pictures)

# %%
# The vocabulary has 16 words, because the pictures are few. The paper uses 64 words and 512 components.

pipeline = VLADPipeline(n_words=16, n_components=12, max_keypoints=300, random_state=0)
vectors = pipeline.fit_transform(pictures)
labels = BoostKMeans(n_clusters=2, random_state=0).fit_predict(vectors)
print(f"{vectors.shape[0]} pictures, {vectors.shape[1]} components, sizes {np.bincount(labels)}")

# %%
# Each half of the figure is a cluster.

figure, grid = plt.subplots(4, 6, figsize=(9, 6.4), layout="constrained")
for axes, place in zip(grid.T.ravel(), np.argsort(labels, kind="stable"), strict=True):
    axes.imshow(pictures[place])
    axes.set_title(f"cluster {labels[place]}", fontsize=8)
    axes.axis("off")
plt.show()
