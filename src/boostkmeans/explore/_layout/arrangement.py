"""Arrangement: places of a few thousand points in the plane, by t-SNE or principal components."""

import warnings

import numpy as np

from boostkmeans._data.frame import Floats

# With fewer points, the plane of the two main principal components is used. t-SNE needs neighbours.
MIN_POINTS_FOR_TSNE = 8
# Effective number of neighbours of a point in t-SNE, and its upper limit relative to the points.
PERPLEXITY, POINTS_PER_NEIGHBOUR = 30.0, 4
# Half of scikit-learn's default, to save time. On 2,000 points, 400 iterations preserve a little less.
ITERATIONS = 500


def arrange(points: Floats, seed: int) -> Floats:
    """Return places of points in the plane. The result depends on the seed only.

    Call it with one thread of BLAS and OpenMP, because sums of several threads are rounded differently.
    """
    distinct = np.unique(points, axis=0)
    if len(distinct) < MIN_POINTS_FOR_TSNE:
        return principal_plane(points)
    from sklearn.manifold import TSNE

    start = principal_plane(points)
    spread = start[:, 0].std()
    perplexity = min(PERPLEXITY, (len(points) - 1) / POINTS_PER_NEIGHBOUR)
    method = TSNE(
        2,
        perplexity=perplexity,
        init=(start / spread * 1e-4).astype(np.float32) if spread > 0 else "random",
        max_iter=ITERATIONS,
        random_state=seed,
        n_jobs=1,
    )
    with warnings.catch_warnings(action="ignore"):
        found = method.fit_transform(points.astype(np.float32))
    if not np.isfinite(found).all():  # many equal points
        return principal_plane(points)
    return np.asarray(found, dtype=np.float64)


def principal_plane(points: Floats) -> Floats:
    """Return the points in the plane of their two main principal components."""
    centred = points - points.mean(axis=0)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    found = np.zeros((len(points), 2))
    n_axes = min(2, len(values))
    # The sign of an axis is arbitrary. Its largest component is made positive.
    signs = np.sign(axes[np.arange(n_axes), np.abs(axes[:n_axes]).argmax(axis=1)])
    found[:, :n_axes] = centred @ (axes[:n_axes] * np.where(signs == 0, 1, signs)[:, None]).T
    return found
