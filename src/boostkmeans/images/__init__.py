"""From photographs to vectors that can be clustered: keypoints, RootSIFT, VLAD and PCA.

>>> import numpy as np
>>> from boostkmeans.images import VLADPipeline
>>> rng = np.random.default_rng(0)
>>> descriptors, image_numbers = rng.integers(0, 256, (600, 128)), np.repeat(np.arange(30), 20)
>>> pipeline = VLADPipeline(n_words=4, n_components=8, random_state=0)
>>> pipeline.fit_transform_descriptors(descriptors, image_numbers).shape
(30, 8)
"""

from boostkmeans.images._pipeline import VLADPipeline
from boostkmeans.images._report import ImageVectors, SkippedImage

__all__ = ["ImageVectors", "SkippedImage", "VLADPipeline"]
