"""`cluster_images`: compute vectors, cluster them, describe the clusters and find near duplicates."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._runtime.errors import (
    DataFormatError,
    Message,
    Parameter,
    ParameterConflictError,
    ParameterError,
)
from boostkmeans._runtime.parameter_checks import check_generator, int_range, one_of
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress, visible_log
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans.images._clusters.description import ImageCluster, describe_clusters
from boostkmeans.images._clusters.listing import listing
from boostkmeans.images._clusters.vectors import Described, Features, VectorRequest
from boostkmeans.images._duplicates.groups import (
    MINIATURE_THRESHOLD,
    THRESHOLD,
    DuplicateGroup,
    check_threshold,
    find_groups,
)
from boostkmeans.images._duplicates.miniatures import read_miniatures
from boostkmeans.images._pipeline import VLADPipeline
from boostkmeans.images._report import ImageVectors, SkippedImage
from boostkmeans.images._sources import Images, ImageSource, ListedImages, list_images

METHODS = ("k-way", "bisecting", "refined")
AUTO = "auto"
# Cosine from which VLAD vectors count as near duplicates. See docs/photographs.md for the measurement.
VLAD_THRESHOLD = 0.7


@dataclass(frozen=True)
class ImageClusters:
    """Result of `cluster_images`. Its string form is a listing for a terminal."""

    __repr__ = short_repr

    source: str
    """The folder, or "images" for a sequence."""
    names: list[str]
    """Names of the images that were clustered: paths relative to the folder."""
    paths: list[Path] | None
    """Files of these images. None if the images are arrays."""
    vectors: NDArray[np.float32]
    """Vector of unit length of each image."""
    labels: NDArray[np.int32]
    """Cluster of each image."""
    clusters: list[ImageCluster]
    """Description of each cluster."""
    duplicates: list[DuplicateGroup] | None
    """Groups of near duplicates among all images that can be read. None if they were not searched."""
    without_keypoints: list[str]
    """Names of images without keypoints, which have no VLAD vector."""
    skipped: list[SkippedImage]
    """Images that could not be used, with reasons."""
    model: BoostKMeans | BisectingBoostKMeans
    """Fitted estimator."""
    pipeline: VLADPipeline | None
    """Fitted pipeline, which describes new images in the same way. None for other features."""
    method: str
    """Method of the clustering."""
    features: str
    """Kind of the vectors."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the model and the vectors, in types that JSON supports.

        Returns
        -------
        dict
            Facts about the images, the clusters, the near duplicates, and the label of each image.
        """
        duplicates = self.duplicates
        return {
            "source": self.source,
            "features": self.features,
            "method": self.method,
            "n_images": len(self.names),
            "n_features": self.vectors.shape[1],
            "inertia": float(self.model.inertia_),
            "skipped": [asdict(one) for one in self.skipped],
            "without_keypoints": self.without_keypoints,
            "clusters": [asdict(cluster) for cluster in self.clusters],
            "duplicates": None if duplicates is None else [
                {"names": group.names, "similarity": group.similarity, "identical": group.identical}
                for group in duplicates
            ],
            "names": self.names,
            "labels": self.labels.tolist(),
        }  # fmt: skip

    def table(self) -> str:
        """Return a listing of the clusters for a terminal. Control characters in it are escaped.

        Returns
        -------
        str
            The listing.
        """
        return listing(self.to_dict())

    def __str__(self) -> str:
        return self.table()


def cluster_images(
    images: Images,
    n_clusters: int,
    *,
    features: Features = "vlad",
    id_column: str | None = None,
    key: str | Sequence[str] | None = None,
    method: str = "k-way",
    duplicates: float | str | None = AUTO,
    n_central: int = 5,
    n_init: int = 1,
    quality: str | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
    verbose: int = 0,
) -> ImageClusters:
    """Cluster images by the cosine of their vectors, and describe the clusters.

    Files that cannot be decoded are skipped and reported. No file is changed or deleted.

    Parameters
    ----------
    images : path of a folder, sequence of paths, or sequence of arrays
        Images. The files of a folder are all files below it, in the order of their paths.
    n_clusters : int
        Number of clusters.
    features : "vlad", path, VLADPipeline, OnnxFeatures or array, default="vlad"
        Vectors of the images. "vlad" fits a `VLADPipeline`. A pipeline that is already fitted describes
        the images as it is. A path that ends in .onnx is a model for `OnnxFeatures`. Any other path is a
        file that `boostkmeans.io.open_vectors` can read. Row i of a file or of an array belongs to image
        i in the sorted order of the paths.
    id_column : str, default=None
        Column of a table of features with the names of the images: paths relative to the folder, with
        slashes. Rows are matched by name instead of by order.
    key : str or sequence of str, default=None
        Array or columns of a file of features, as in `boostkmeans.io.open_vectors`.
    method : {"k-way", "bisecting", "refined"}, default="k-way"
        "k-way" uses `BoostKMeans`. "bisecting" uses `BisectingBoostKMeans`, which also builds a tree.
        "refined" adds sweeps of boost k-means to it.
    duplicates : float, "auto" or None, default="auto"
        Cosine from which vectors count as near duplicates. "auto" is 0.7 for VLAD vectors and 0.95 for
        others. Identical files and similar miniatures are found as well. None omits the search.
    n_central : int, default=5
        Number of central images per cluster.
    n_init : int, default=1
        Number of runs with different random numbers. The result is the run with the lowest inertia.
    quality : {"fast", "balanced", "best"}, default=None
        Quality of `BoostKMeans`, only for the methods "k-way" and "refined". None means "balanced".
    random_state : int, RandomState or None, default=None
        Seed. With an int, results are reproducible and do not depend on `n_jobs`.
    n_jobs : int, default=None
        Number of processes that decode images, and of threads for the other steps. None uses all
        processors available to this process.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.
    verbose : int, default=0
        If positive, progress is written to the logger "boostkmeans", and to stderr if logging is not
        configured.

    Returns
    -------
    ImageClusters
        Labels, descriptions of the clusters, near duplicates, skipped images, and the fitted model.

    See Also
    --------
    near_duplicates : Find near duplicates without clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans.images import cluster_images
    >>> images = np.random.default_rng(0).integers(0, 256, (6, 32, 32), dtype=np.uint8)
    >>> images[3] = images[0]
    >>> features = np.eye(6) + np.repeat([[3, 0], [0, 3]], 3, axis=0) @ np.eye(2, 6)
    >>> found = cluster_images(images, 2, features=features, random_state=0)
    >>> [cluster.size for cluster in found.clusters], found.duplicates[0].names
    ([3, 3], ['image 1', 'image 4'])
    """
    _check_parameters(n_clusters, method, duplicates, n_central, quality)
    check_generator(random_state, "cluster_images")
    report = progress or ignore_progress
    n_threads = resolve_threads(n_jobs)
    listed = ListedImages(*list_images(images))
    if not listed.sources:
        raise DataFormatError("There are no images.", file=_source_name(images))
    request = VectorRequest(features, id_column, key, random_state, n_threads, report)
    with visible_log(verbose):
        described = request.describe(listed)
        found = described.found
        _check_number(found, n_clusters)
        model = _estimator(method, n_clusters, n_init, quality, random_state, n_threads, verbose)
        _fit(model, found.vectors, report)
        groups = None
        if duplicates is not None:
            groups = _duplicates(listed, described, duplicates, n_threads, report)
    by_name = {source.name: source for source in listed.sources}
    return ImageClusters(
        source=_source_name(images),
        names=found.names,
        paths=_paths([by_name[name] for name in found.names]),
        vectors=found.vectors,
        labels=model.labels_,
        clusters=describe_clusters(
            found.vectors, found.names, model.labels_, len(model.cluster_sizes_), n_central
        ),
        duplicates=groups,
        without_keypoints=found.without_keypoints,
        skipped=found.skipped,
        model=model,
        pipeline=described.pipeline,
        method=method,
        features=described.kind,
    )


def _source_name(images: Images) -> str:
    return os.fspath(images) if isinstance(images, str | os.PathLike) else "images"


def _paths(sources: Sequence[ImageSource]) -> list[Path] | None:
    paths = [source.content for source in sources if isinstance(source.content, Path)]
    return paths if len(paths) == len(sources) else None


def _duplicates(
    listed: ListedImages,
    described: Described,
    duplicates: float | str,
    n_threads: int,
    progress: ProgressCallback,
) -> list[DuplicateGroup]:
    """Return the near duplicates among all images that can be read, with or without a vector."""
    found = described.found
    miniatures = described.miniatures
    if miniatures is None:
        miniatures = read_miniatures(listed.sources, n_threads, progress)[0]
    skipped = {one.name for one in found.skipped}
    places = [place for place, source in enumerate(listed.sources) if source.name not in skipped]
    sources = [listed.sources[place] for place in places]
    row_of = {name: row for row, name in enumerate(found.names)}
    vectors = np.zeros((len(sources), found.vectors.shape[1]), dtype=np.float32)
    for place, source in enumerate(sources):
        if source.name in row_of:
            vectors[place] = found.vectors[row_of[source.name]]
    is_vlad = described.pipeline is not None
    threshold = (VLAD_THRESHOLD if is_vlad else THRESHOLD) if duplicates == AUTO else float(duplicates)
    measures = [(vectors, threshold), (miniatures[places], MINIATURE_THRESHOLD)]
    return find_groups(sources, measures, n_threads, progress)


def _check_parameters(
    n_clusters: int, method: str, duplicates: Any, n_central: int, quality: str | None
) -> None:
    owner = "cluster_images"
    if method not in METHODS:
        raise ParameterError("method", one_of(METHODS), method, owner=owner)
    for name, value, low in (("n_clusters", n_clusters, 1), ("n_central", n_central, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            raise ParameterError(name, int_range(low), value, owner=owner)
    if duplicates != AUTO:
        check_threshold("duplicates", duplicates, owner)
    if quality is not None and method == "bisecting":
        raise ParameterConflictError(
            Message(
                "{quality} has no effect with the method 'bisecting'.", quality=Parameter("quality")
            ),
            remedy="Omit it, or choose the method 'k-way' or 'refined'.",
        )


def _check_number(found: ImageVectors, n_clusters: int) -> None:
    if n_clusters <= len(found.names):
        return
    missing = [
        f"{len(names):,} {what}"
        for names, what in (
            (found.skipped, "cannot be used"),
            (found.without_keypoints, "have no keypoints"),
        )
        if names
    ]
    first = found.skipped[:1]
    raise ParameterConflictError(
        Message(
            "{n_clusters} is more than the {n:,} images with vectors{missing}.{first}",
            n_clusters=Parameter("n_clusters", n_clusters),
            n=len(found.names),
            missing=f" ({', '.join(missing)})" if missing else "",
            first="".join(f" {one.name}: {one.reason}." for one in first),
        )
    )


def _estimator(
    method: str,
    n_clusters: int,
    n_init: int,
    quality: str | None,
    random_state: int | np.random.RandomState | None,
    n_threads: int,
    verbose: int,
) -> BoostKMeans | BisectingBoostKMeans:
    common: dict[str, Any] = {
        "metric": "cosine",
        "n_init": n_init,
        "quality": "balanced" if quality is None else quality,
        "random_state": random_state,
        "n_threads": n_threads,
        "verbose": verbose,
    }
    if method == "k-way":
        return BoostKMeans(n_clusters, **common)
    return BisectingBoostKMeans(n_clusters, refine=method == "refined", **common)


def _fit(
    model: BoostKMeans | BisectingBoostKMeans, vectors: NDArray[np.float32], progress: ProgressCallback
) -> None:
    n_sweeps = 0

    def count(record: SweepRecord) -> None:
        nonlocal n_sweeps
        n_sweeps += 1
        progress(f"clustering: sweep {n_sweeps}", n_sweeps, None)

    progress("clustering", 0, None)
    model.callback = count
    try:
        model.fit(vectors)
    finally:
        model.callback = None  # a local function cannot be pickled
