"""From photographs to vectors, clusters and groups of near duplicates.

>>> import numpy as np
>>> from boostkmeans.images import VLADPipeline
>>> rng = np.random.default_rng(0)
>>> descriptors, image_numbers = rng.integers(0, 256, (600, 128)), np.repeat(np.arange(30), 20)
>>> pipeline = VLADPipeline(n_words=4, n_components=8, random_state=0)
>>> pipeline.fit_transform_descriptors(descriptors, image_numbers).shape
(30, 8)
"""

from boostkmeans.images._clusters.clustering import ImageClusters, cluster_images
from boostkmeans.images._clusters.description import CentralImage, ImageCluster
from boostkmeans.images._duplicates.groups import DuplicateGroup, near_duplicates
from boostkmeans.images._features.onnx_features import OnnxFeatures
from boostkmeans.images._pipeline import VLADPipeline
from boostkmeans.images._report import ImageVectors, SkippedImage

__all__ = [
    "CentralImage",
    "DuplicateGroup",
    "ImageCluster",
    "ImageClusters",
    "ImageVectors",
    "OnnxFeatures",
    "SkippedImage",
    "VLADPipeline",
    "cluster_images",
    "near_duplicates",
]
