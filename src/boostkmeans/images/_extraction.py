"""Extraction of descriptors from many images, in several processes.

Processes are started by loky (joblib), which executes a new interpreter instead of forking this one.
Forking would copy locks that threads of OpenCV or of this package hold. Threads in this process would
share the number of OpenCV's threads, a global setting, with the user. Each process uses one thread.
"""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.images._decoding import UnreadableImageError, read_grey
from boostkmeans.images._keypoints import Descriptors
from boostkmeans.images._packages import import_opencv
from boostkmeans.images._report import Report, SkippedImage
from boostkmeans.images._sources import ImageSource
from boostkmeans.images._vlad import Bag

Content = Path | NDArray[np.uint8]
Result = TypeVar("Result")

# Number of images whose descriptors are in memory at a time. It does not depend on the number of
# processes, so that the results do not depend on it either.
IMAGES_PER_BATCH = 256
# Starting processes takes about two seconds, in which one process describes this number of small images.
MIN_IMAGES_FOR_PROCESSES = 32


@dataclass(frozen=True)
class Extractor:
    """Function from an image to its descriptors, or to the reason why it cannot be read."""

    describe: Callable[[NDArray[np.uint8], int], Descriptors]
    max_keypoints: int
    max_size: int | None

    def __call__(self, content: Content) -> Descriptors | str:
        try:
            grey = read_grey(content, self.max_size)
        except UnreadableImageError as error:
            return str(error)
        return self.describe(grey, self.max_keypoints)


def described_bags(
    sources: Sequence[ImageSource],
    extractor: Extractor,
    n_jobs: int,
    progress: ProgressCallback,
    report: Report,
) -> Iterator[tuple[NDArray[np.int64], Bag]]:
    """Yield the descriptors of images in batches, with the places of the images that have some.

    The other images are added to the report.
    """
    begin = 0
    for results in extract(sources, extractor, n_jobs, progress):
        described: dict[int, Descriptors] = {}
        for place, found in enumerate(results, start=begin):
            name = sources[place].name
            if isinstance(found, str):
                report.skipped.append(SkippedImage(name, found))
            elif len(found) == 0:
                report.without_keypoints.append(name)
            else:
                described[place] = found
        if described:
            yield np.array(list(described)), Bag.of(list(described.values()))
        begin += len(results)


def extract(
    sources: Sequence[ImageSource],
    extractor: Callable[[Content], Result | str],
    n_jobs: int,
    progress: ProgressCallback,
    *,
    what: str = "describing images",
    batch_size: int = IMAGES_PER_BATCH,
) -> Iterator[list[Result | str]]:
    """Yield the results of the extractor in batches, in the order of the images.

    A result is a str, the reason, if an image cannot be read. At most `batch_size` results are in memory
    at a time. `what` names the work in progress reports.
    """
    n = len(sources)
    if n < MIN_IMAGES_FOR_PROCESSES:
        n_jobs = 1
    with Parallel(n_jobs=n_jobs, return_as="generator") as pool:
        for begin in range(0, n, batch_size):
            batch = [source.content for source in sources[begin : begin + batch_size]]
            if n_jobs == 1:
                found: Any = map(extractor, batch)
            else:
                found = pool(delayed(_in_other_process)(extractor, content) for content in batch)
            results = []
            try:
                for one in found:
                    results.append(one)
                    progress(what, begin + len(results), n)
            except BaseException:
                _cancel(found)
                raise
            yield results


def _cancel(results: Any) -> None:
    """Cancel the tasks that are left. joblib would warn about them, and the caller knows."""
    if isinstance(results, Generator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


def _in_other_process(extractor: Callable[[Content], Result | str], content: Content) -> Result | str:
    with suppress(ImportError):  # only some keypoints need OpenCV
        import_opencv().setNumThreads(1)
    return extractor(content)
