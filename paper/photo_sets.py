"""VLAD vectors of real photographs: provided ones, and those that `boostkmeans.images` computes.

All sets show the same photographs, so that their neighbours can be compared. The data are optional: see
`shared_folder` in `benchmarks/data.py`.
"""

import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiment import N_THREADS, Json

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

import vlad
from boostkmeans import __version__
from boostkmeans.images import VLADPipeline
from data import shared_folder

SEED = 0
# Files of PhotoSIFT, each with `X` (descriptors) and `img` (numbers of photographs).
DESCRIPTOR_FILES = "photosift_base_*of4.npz"


@dataclass(frozen=True)
class PhotoSet:
    """Vectors of photographs."""

    names: list[str]
    vectors: NDArray[np.float32]
    notes: Json
    """Figures about the computation of the vectors; empty for provided vectors."""


def provided() -> PhotoSet:
    """Return the VLAD vectors that belong to the data."""
    with np.load(shared_folder() / "photos" / "pixabay_vlad512.npz") as arrays:
        return PhotoSet(arrays["names"].tolist(), arrays["X"].astype(np.float32), {})


def from_descriptors() -> PhotoSet:
    """Return VLAD vectors of the PhotoSIFT descriptors, which are grouped by photograph."""
    folder = shared_folder() / "sift"
    parts = []
    for path in sorted(folder.glob(DESCRIPTOR_FILES)):
        with np.load(path) as arrays:
            parts.append((arrays["X"], arrays["img"]))
    if not parts:
        raise FileNotFoundError(f"{folder} has no files {DESCRIPTOR_FILES}.")
    descriptors, numbers = (np.concatenate(some) for some in zip(*parts, strict=True))
    with np.load(folder / "photosift_learn_query.npz") as arrays:
        names = arrays["image_names"]
    pipeline = VLADPipeline(random_state=SEED, n_jobs=N_THREADS)
    vectors = pipeline.fit_transform_descriptors(descriptors, numbers)
    found = names[np.unique(numbers)].tolist()
    return PhotoSet(found, vectors, notes_of(pipeline, len(found)))


def from_thumbnails() -> PhotoSet:
    """Return VLAD vectors of thumbnails of 128 pixels, from keypoints to PCA."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(shared_folder() / "photos" / "pixabay_thumbs128.zip") as archive:
            archive.extractall(folder)
        pipeline = VLADPipeline(random_state=SEED, n_jobs=N_THREADS)
        vectors = pipeline.fit_transform(folder)
        names = sorted(path.name for path in Path(folder).iterdir())
    used: NDArray[np.bool_] = (vectors != 0).any(axis=1)
    found = [name for name, is_used in zip(names, used, strict=True) if is_used]
    return PhotoSet(found, vectors[used], notes_of(pipeline, len(names)))


def notes_of(pipeline: VLADPipeline, n_images: int) -> Json:
    """Return figures about a pipeline."""
    assert pipeline.explained_variance_ratio_ is not None
    return {
        "photographs": n_images,
        "without_keypoints": len(pipeline.without_keypoints_),
        "skipped": len(pipeline.skipped_),
        "explained_variance": float(pipeline.explained_variance_ratio_.sum()),
    }


# Names as the results have them.
SETS: dict[str, Callable[[], PhotoSet]] = {
    "provided VLAD vectors": provided,
    "PhotoSIFT by image number": from_descriptors,
    "thumbnails": from_thumbnails,
}
_LOADED: dict[str, PhotoSet] = {}


def load(name: str) -> PhotoSet:
    """Return a set. Computed sets are stored in the cache folder, once per version of the package."""
    if name not in _LOADED:
        _LOADED[name] = SETS[name]() if SETS[name] is provided else _cached(name)
    return _LOADED[name]


def _cached(name: str) -> PhotoSet:
    folder = vlad.cache_folder()
    path = folder / f"photos_{name.split()[0].lower()}_{__version__}.npz"
    if not path.exists():
        computed = SETS[name]()
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        figures: dict[str, Any] = {f"note_{key}": value for key, value in computed.notes.items()}
        np.savez(part, names=np.array(computed.names), vectors=computed.vectors, **figures)
        part.replace(path)
    with np.load(path) as arrays:
        notes = {key[5:]: arrays[key].item() for key in arrays if key.startswith("note_")}
        return PhotoSet(arrays["names"].tolist(), arrays["vectors"], notes)
