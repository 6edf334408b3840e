"""The paper's public data: SIFT1M and CLUTO's documents, or substitutes for them.

`python paper/public_data.py sift cluto` (`make paper-data`) downloads the archives; see `archives.py`.
Data that is missing is replaced by data in the shared folder (see `benchmarks/data.py`), or else by
synthetic data. The name that a loader returns says which data it loaded.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass

# experiment makes the modules of the benchmarks importable.
import experiment  # noqa: F401

# isort: split
import numpy as np

import data
from archives import ARCHIVES, CLUTO_SETS, DataError, data_folder, extract, fetch, file_of
from boostkmeans.documents import Corpus, read_corpus
from boostkmeans.io import open_vectors
from data import Array

__all__ = [
    "CLUTO_SETS",
    "SearchData",
    "documents",
    "fingerprint",
    "has_sift",
    "main",
    "sift",
    "sift_search",
]


def vectors(name: str, part: str, n: int | None) -> Array | None:
    """Return the first n rows of a vector set as float32, or None if it is missing."""
    end = "ivecs" if part == "groundtruth" else "fvecs"
    path = file_of(ARCHIVES[name], f"{name}_{part}.{end}")
    if path is None:
        return None
    with open_vectors(path) as rows:
        return np.asarray(rows[: len(rows) if n is None else n])


def has_sift() -> bool:
    """Return True if SIFT descriptors are there, those of the paper or their substitute."""
    return file_of(ARCHIVES["sift"], "sift_base.fvecs") is not None or data.photosift(1) is not None


def sift(n: int) -> tuple[Array, str]:
    """Return the first n rows of SIFT1M's base as float32, or of a substitute, and their name."""
    rows = vectors("sift", "base", n)
    if rows is not None:
        return rows, f"SIFT1M {n:,} x 128"
    rows = data.photosift(n)
    if rows is not None:
        return rows.astype(np.float32), f"PhotoSIFT {n:,} x 128 (stands in for SIFT1M)"
    return data.synthetic_descriptors(n), f"synthetic, normal {n:,} x 128 (stands in for SIFT1M)"


@dataclass(frozen=True)
class SearchData:
    """Rows for nearest neighbour search."""

    learn: Array
    """Rows to train on."""
    base: Array
    """Rows to encode and search."""
    query: Array
    name: str


def sift_search(n_learn: int, n_base: int, n_query: int) -> SearchData:
    """Return the first rows of SIFT1M's three parts, or of a substitute."""
    learn = vectors("sift", "learn", n_learn)
    base = None if learn is None else vectors("sift", "base", n_base)
    query = None if base is None else vectors("sift", "query", n_query)
    if learn is not None and base is not None and query is not None:
        return SearchData(learn, base, query, f"SIFT1M, {n_base:,} of its base")
    training, base = data.photosift_training(n_learn, n_query), data.photosift(n_base)
    if training is not None and base is not None:
        learn, query = training
        name = f"PhotoSIFT, {n_base:,} of its base (stands in for SIFT1M)"
        return SearchData(learn.astype(np.float32), base, query, name)
    return SearchData(
        data.synthetic_descriptors(n_learn, seed=1),
        data.synthetic_descriptors(n_base, seed=0),
        data.synthetic_descriptors(n_query, seed=2),
        f"synthetic, normal, {n_base:,} as base (stands in for SIFT1M)",
    )


def documents(name: str) -> tuple[Corpus, str] | None:
    """Return one of CLUTO's sets with its classes, and its origin, or None if it is missing."""
    archive = ARCHIVES["cluto"]
    matrix, classes = file_of(archive, f"{name}.mat"), file_of(archive, f"{name}.mat.rclass")
    if matrix is not None and classes is not None:
        return read_corpus(matrix), "CLUTO's archive"
    path = data.shared_folder() / "cluto" / f"{name}.npz"
    return (read_corpus(path), "CLUTO's set, converted") if path.exists() else None


def fingerprint(rows: Array) -> str:
    """Return the SHA-256 of the values of rows, to identify the data of a result."""
    return hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest()


def main(arguments: Iterable[str] | None = None) -> int:
    """Download archives, and return the exit code: 1 if one of them failed."""
    parser = argparse.ArgumentParser(description="Download the paper's public data.")
    parser.add_argument("names", nargs="+", choices=sorted(ARCHIVES), metavar="NAME",
                        help=f"archives to download: {', '.join(ARCHIVES)}")  # fmt: skip
    failed = False
    for name in parser.parse_args(None if arguments is None else list(arguments)).names:
        try:
            extract(ARCHIVES[name], fetch(ARCHIVES[name]))
            print(f"{name}: extracted to {data_folder() / name}", file=sys.stderr)
        except DataError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
