"""Benchmark of images: planted near duplicates that are found, seconds per photograph, and memory."""

import tempfile
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from sklearn.datasets import load_sample_images

import data
from boostkmeans._runtime.progress import ignore_progress
from boostkmeans.images import VLADPipeline
from boostkmeans.images._duplicates.miniatures import read_miniatures
from boostkmeans.images._sources import list_images
from environment import N_THREADS, Json
from measure import timed
from process_memory import megabytes, reset_peak
from result_files import save_result

# Number of copies of each kind, and their kinds.
N_COPIES = 100
KINDS = ("resized to 50 %", "JPEG quality 40", "cropped by 10 %")
# Compared thresholds of both measures; the first ones of `near_duplicates` and `cluster_images`.
VLAD_THRESHOLDS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
MINIATURE_THRESHOLDS = (0.99, 0.98, 0.97, 0.95, 0.9)
DEFAULTS = (0.7, 0.98)
# Number of files with photographs of 640 x 427 pixels whose description is timed.
N_PHOTOGRAPHS = 100
QUALITY = 90

Pairs = set[tuple[int, int]]


def image_duplicates() -> None:
    """Find planted copies of photographs, and time the description of photographs."""
    with tempfile.TemporaryDirectory() as name:
        thumbnails, photographs = Path(name, "thumbnails"), Path(name, "photographs")
        write_thumbnails(thumbnails)
        write_photographs(photographs)
        found = find_planted(thumbnails)
        print(f"  {found}", flush=True)
        times = []
        for what, folder in (("128 pixels", thumbnails), ("640 x 427 pixels", photographs)):
            for n_jobs in (1, 2):
                times.append({"images": what, **time_description(folder, n_jobs)})
                print(f"  {times[-1]}", flush=True)
    save_result(
        "image_duplicates",
        {"data": "1,975 thumbnails of photographs (Pixabay)", **found, "times": times},
    )


def write_thumbnails(folder: Path) -> None:
    """Write thumbnails of at most 128 pixels, and copies of some of them. Nothing is scaled up."""
    folder.mkdir()
    with zipfile.ZipFile(data.shared_folder() / "photos" / "pixabay_thumbs128.zip") as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".jpg"))
        for name in names:
            (folder / name).write_bytes(archive.read(name))
    rng = np.random.default_rng(0)
    for number, i in enumerate(rng.choice(len(names), N_COPIES * len(KINDS), replace=False)):
        kind = number % len(KINDS)
        with Image.open(folder / names[i]) as image:
            write_copy(image.convert("RGB"), kind, folder / f"copy {kind} {names[i]}", rng)


def write_copy(image: Image.Image, kind: int, path: Path, rng: np.random.Generator) -> None:
    """Write a copy of an image: half as large, compressed, or without 10 % of its width and height."""
    width, height = image.size
    if kind == 0:
        image = image.resize((width // 2, height // 2), Image.Resampling.LANCZOS)
    elif kind == 2:
        wide, high = round(0.9 * width), round(0.9 * height)
        left, top = int(rng.integers(0, width - wide + 1)), int(rng.integers(0, height - high + 1))
        image = image.crop((left, top, left + wide, top + high))
    image.save(path, quality=40 if kind == 1 else QUALITY)


def write_photographs(folder: Path) -> None:
    """Write scikit-learn's two photographs, each many times."""
    folder.mkdir()
    images = load_sample_images().images
    for number in range(N_PHOTOGRAPHS):
        pixels = np.roll(images[number % len(images)], 4 * number, axis=1)
        Image.fromarray(pixels).save(folder / f"{number}.jpg", quality=QUALITY)


def find_planted(folder: Path) -> Json:
    """Count planted pairs and other pairs that each threshold finds."""
    sources, _ = list_images(folder)
    vectors = VLADPipeline(random_state=0, n_jobs=N_THREADS).fit_transform(folder)
    miniatures, _ = read_miniatures(sources, N_THREADS, ignore_progress)
    names = [source.name for source in sources]
    places = {name: place for place, name in enumerate(names)}
    planted = {
        kind: {
            tuple(sorted((place, places[name.split(" ", 2)[2]])))
            for name, place in places.items()
            if name.startswith(f"copy {number} ")
        }
        for number, kind in enumerate(KINDS)
    }
    rows = [
        {"measure": measure, "threshold": threshold, **count(pairs(rows, threshold), planted)}
        for measure, rows, thresholds in (
            ("VLAD vectors", vectors, VLAD_THRESHOLDS),
            ("miniatures", miniatures, MINIATURE_THRESHOLDS),
        )
        for threshold in thresholds
    ]
    both = [
        pairs(rows, threshold) for rows, threshold in zip((vectors, miniatures), DEFAULTS, strict=True)
    ]
    rows.append({"measure": "both", "threshold": list(DEFAULTS), **count(both[0] | both[1], planted)})
    return {
        "n_images": len(names),
        "n_without_keypoints": int((~vectors.any(axis=1)).sum()),
        "n_planted": N_COPIES,
        "rows": rows,
        "pairs_of_all": [len(one) for one in both],
    }


def pairs(vectors: NDArray[np.float32], threshold: float) -> Pairs:
    """Return the pairs of similar vectors, by comparing all of them, as `near_duplicates` does."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1)
    first, second = np.nonzero(np.triu(units @ units.T >= threshold, k=1))
    return set(zip(first.tolist(), second.tolist(), strict=True))


def count(found: Pairs, planted: dict[str, set[tuple[int, ...]]]) -> Json:
    """Return the number of planted pairs of each kind, and of other pairs."""
    others = found.difference(*planted.values())
    return {**{kind: len(found & one) for kind, one in planted.items()}, "other pairs": len(others)}


def time_description(folder: Path, n_jobs: int) -> Json:
    """Return the seconds per image of a fitted pipeline, without the start of processes."""
    n = len(list_images(folder)[0])
    pipeline = VLADPipeline(random_state=0, n_jobs=n_jobs)
    pipeline.fit(sorted(folder.iterdir())[:64])  # starts the processes
    reset_peak()
    seconds, _ = timed(lambda: pipeline.describe(folder))
    return {
        "n_images": n,
        "n_jobs": n_jobs,
        "seconds": seconds,
        "milliseconds_per_image": 1e3 * seconds / n,
        "peak_megabytes": megabytes("VmHWM"),
    }


BENCHMARKS = [image_duplicates]
