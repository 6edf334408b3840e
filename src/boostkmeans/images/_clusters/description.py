"""Description of clusters by their sizes and their most central images."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class CentralImage:
    """An image near the centre of its cluster."""

    name: str
    """Name of the image."""
    similarity: float
    """Cosine of the image's vector and the centre."""


@dataclass(frozen=True)
class ImageCluster:
    """Description of a cluster of images."""

    number: int
    """Label of the cluster."""
    size: int
    """Number of images."""
    similarity: float
    """Mean cosine of the images' vectors and the centre: 1 if all have the same direction."""
    central: list[CentralImage]
    """Images nearest to the centre, nearest first."""


def describe_clusters(
    vectors: NDArray[np.float32],
    names: Sequence[str],
    labels: NDArray[np.int32],
    n_clusters: int,
    n_central: int,
) -> list[ImageCluster]:
    """Describe the clusters of vectors of unit length."""
    sizes = np.bincount(labels, minlength=n_clusters)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    clusters = []
    for number, rows in enumerate(members):
        composite = vectors[rows].sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(composite))
        cosines = vectors[rows] @ (composite / length if length > 0 else composite)
        order = np.argsort(-cosines, kind="stable")[:n_central]
        clusters.append(
            ImageCluster(
                number=number,
                size=len(rows),
                similarity=float(cosines.mean()) if len(rows) else 0.0,
                central=[CentralImage(names[rows[i]], float(cosines[i])) for i in order],
            )
        )
    return clusters
