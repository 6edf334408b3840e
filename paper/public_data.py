"""The paper's public data: SIFT1M, GIST1M and CLUTO's documents; or what stands in for them, by name.

`python paper/public_data.py sift cluto` (`make paper-data`) downloads archives into a folder:
`BOOSTKMEANS_DATA`, or `~/.cache/boostkmeans`. Archives or their files may also be put there by hand:

    sift.tar.gz    or  sift/sift_base.fvecs, sift_learn.fvecs, sift_query.fvecs, sift_groundtruth.ivecs
    siftsmall.tar.gz, gist.tar.gz   the same with "siftsmall" and "gist"
    cluto.tar.gz   or  cluto/classic.mat, cluto/classic.mat.rclass, ...

Archives come from strangers. One is held against its published checksum, and only files of expected
names and sizes are taken out of it. Where no checksum is published, and for files put there by hand, the
SHA-256 of what was found first is written to `sha256.json`, and later ones have to agree with it.

What is not there is replaced by data in a folder beside the checkout (`BOOSTKMEANS_SHARED`, or
`../shared/data`), and what is not there either by made data. The name of what was loaded says so.
"""

import argparse
import hashlib
import json
import os
import sys
import tarfile
import time
import urllib.request
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.documents import Corpus, read_corpus
from boostkmeans.io import open_vectors

Array = NDArray[Any]

CLUTO_SETS = ("classic", "fbis", "hitech", "k1a", "k1b", "la12", "new3", "ohscal", "re0", "re1",
              "reviews", "sports", "tr31", "tr41", "wap")  # fmt: skip
# A matrix of CLUTO has some megabytes; whoever sends more has something else in mind.
LARGEST_TEXT = 200_000_000
CHUNK = 1 << 20
TIMEOUT = 30.0  # seconds without a byte
SECONDS_BETWEEN_NEWS = 5.0


class DataError(Exception):
    """Data that is not what it should be, or cannot be had."""


@dataclass(frozen=True)
class Archive:
    """Something to download, and what is to be taken out of it."""

    name: str
    urls: tuple[str, ...]
    sizes: dict[str, int | None]
    """Of the files in it, by name; None: any up to `LARGEST_TEXT`."""
    optional: frozenset[str] = field(default=frozenset())
    """Files that may be missing."""
    md5: str | None = None
    size: int | None = None

    @property
    def path(self) -> Path:
        """Where the archive itself is kept."""
        return folder() / f"{self.name}.tar.gz"


def vecs(rows: int, columns: int) -> int:
    """Bytes of an .fvecs or .ivecs file: each row begins with its length."""
    return rows * (4 + 4 * columns)


def texmex(name: str, columns: int, rows: tuple[int, int, int], **known: Any) -> Archive:
    """One of the vector sets of corpus-texmex.irisa.fr: rows of base, learn and query."""
    base, learn, query = rows
    sizes: dict[str, int | None] = {
        f"{name}_base.fvecs": vecs(base, columns),
        f"{name}_learn.fvecs": vecs(learn, columns),
        f"{name}_query.fvecs": vecs(query, columns),
        f"{name}_groundtruth.ivecs": vecs(query, 100),
    }
    return Archive(name, (f"ftp://ftp.irisa.fr/local/texmex/corpus/{name}.tar.gz",), sizes, **known)


# The MD5 sums are those of the corpus' own MD5SUM file. CLUTO's archive has none that is published.
ARCHIVES = {
    archive.name: archive
    for archive in (
        texmex("siftsmall", 128, (10_000, 25_000, 100), md5="0b8324a7a82d7f2663d7dcbd57642df7"),
        texmex("sift", 128, (1_000_000, 100_000, 10_000), md5="b23d1b3b2ee8469d819b61ca900ef0ed",
               size=168_280_445),
        texmex("gist", 960, (1_000_000, 500_000, 1_000), md5="31185e0f00854f74d27e8ad8d52628a9",
               size=2_740_172_684),
        Archive(
            "cluto",
            ("http://glaros.dtc.umn.edu/gkhome/fetch/sw/cluto/datasets.tar.gz",
             "https://karypis.github.io/glaros/files/sw/cluto/datasets.tar.gz"),
            {f"{name}.mat{end}": None for name in CLUTO_SETS for end in ("", ".rclass", ".clabel")},
            optional=frozenset(f"{name}.mat.clabel" for name in CLUTO_SETS),
        ),
    )
}  # fmt: skip


def folder() -> Path:
    """Where downloaded data is."""
    given = os.environ.get("BOOSTKMEANS_DATA")
    if given:
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boostkmeans"


def shared() -> Path:
    """Where data is that stands in for the paper's."""
    given = os.environ.get("BOOSTKMEANS_SHARED")
    return Path(given) if given else Path(__file__).parents[2] / "shared" / "data"


# Getting archives


def fetch(archive: Archive) -> Path:
    """The archive, from its folder or by download; checked in both cases."""
    if archive.path.exists():
        check_archive(archive, archive.path)
        return archive.path
    archive.path.parent.mkdir(parents=True, exist_ok=True)
    faults = []
    for url in archive.urls:
        try:
            return downloaded(archive, url)
        except (OSError, DataError) as error:
            faults.append(f"{url}: {error}")
    raise DataError(f"{archive.name} cannot be had. " + " ".join(faults))


def downloaded(archive: Archive, url: str) -> Path:
    """Streams it to a file beside its place, which it takes once it is known to be right."""
    part = archive.path.with_name(archive.path.name + ".part")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as source, part.open("wb") as file:
            promised = int(source.headers.get("Content-Length") or archive.size or 0)
            received = copied(source, file, archive, promised)
        if promised and received != promised:
            raise DataError(f"{received:,} bytes came of {promised:,}: the connection was cut off.")
        check_archive(archive, part)
        if archive.md5 is None:
            extract(archive, part)  # what cannot be opened does not take its place
        part.replace(archive.path)
    finally:
        part.unlink(missing_ok=True)
    return archive.path


def copied(source: Any, file: IO[bytes], archive: Archive, promised: int) -> int:
    """Bytes that were copied; how far it is goes to stderr now and then."""
    received, told = 0, time.monotonic()
    while chunk := source.read(CHUNK):
        file.write(chunk)
        received += len(chunk)
        if archive.size is not None and received > archive.size:
            raise DataError(f"more than the {archive.size:,} bytes that it should have.")
        if time.monotonic() - told > SECONDS_BETWEEN_NEWS:
            told = time.monotonic()
            of = f" of {promised / 1e6:,.0f}" if promised else ""
            print(f"{archive.name}: {received / 1e6:,.0f}{of} MB", file=sys.stderr, flush=True)
    return received


def check_archive(archive: Archive, path: Path) -> None:
    """Size and checksum, of those archives that have a published one."""
    if archive.size is not None and path.stat().st_size != archive.size:
        raise DataError(f"{path} has {path.stat().st_size:,} bytes, not {archive.size:,}: remove it.")
    if archive.md5 is not None:
        found = digest(path, "md5")
        if found != archive.md5:
            raise DataError(f"{path} has the MD5 sum {found}, not {archive.md5}: remove it.")


def digest(path: Path, kind: str) -> str:
    """A checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def trust(name: str, sha256: str) -> None:
    """Writes down what was found first, and holds what is found later against it."""
    notes = folder() / "sha256.json"
    known: dict[str, str] = json.loads(notes.read_text()) if notes.exists() else {}
    if known.setdefault(name, sha256) != sha256:
        raise DataError(
            f"{name} has the SHA-256 {sha256}, but {notes} has {known[name]} from the first time."
        )
    notes.parent.mkdir(parents=True, exist_ok=True)
    new = notes.with_suffix(".part")
    new.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    new.replace(notes)


# Taking files out of them


def extract(archive: Archive, path: Path | None = None) -> None:
    """Puts the expected files, and no others, into the archive's folder.

    Names within the archive choose, but never say where to write: so they cannot lead elsewhere.
    """
    path = path or archive.path
    target = folder() / archive.name
    target.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    try:
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                name = PurePosixPath(member.name).name
                if name in archive.sizes and member.isfile():
                    if name in taken:
                        raise DataError(f"{path.name} has {name} twice.")
                    take(tar, member, archive.sizes[name], target / name)
                    taken.add(name)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path.name} cannot be read: {error}.") from error
    missing = set(archive.sizes) - taken - archive.optional
    if missing:
        raise DataError(f"{path.name} lacks {', '.join(sorted(missing))}.")


def take(tar: tarfile.TarFile, member: tarfile.TarInfo, size: int | None, path: Path) -> None:
    """One file, if it is as large as it should be."""
    if member.size > LARGEST_TEXT if size is None else member.size != size:
        expected = f"at most {LARGEST_TEXT:,}" if size is None else f"{size:,}"
        raise DataError(f"{member.name} has {member.size:,} bytes, expected: {expected}.")
    source = tar.extractfile(member)
    assert source is not None
    part = path.with_name(path.name + ".part")
    try:
        with source, part.open("wb") as file:
            while chunk := source.read(CHUNK):
                file.write(chunk)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def file_of(archive: Archive, name: str) -> Path | None:
    """A file, out of its archive if need be; None where neither is there. Nothing is downloaded."""
    path = folder() / archive.name / name
    if not path.exists():
        if not archive.path.exists():
            return None
        check_archive(archive, archive.path)
        extract(archive)
        if not path.exists():
            return None
    size = archive.sizes[name]
    if size is not None and path.stat().st_size != size:
        raise DataError(f"{path} has {path.stat().st_size:,} bytes, expected: {size:,}. Remove it.")
    trust(f"{archive.name}/{name}", digest(path, "sha256"))
    return path


# Loading


def vectors(name: str, part: str, n: int | None) -> Array | None:
    """The first n rows of one of texmex' sets, as float32; None where it is not."""
    end = "ivecs" if part == "groundtruth" else "fvecs"
    path = file_of(ARCHIVES[name], f"{name}_{part}.{end}")
    if path is None:
        return None
    with open_vectors(path) as rows:
        return np.asarray(rows[: len(rows) if n is None else n])


def sift(n: int) -> tuple[Array, str]:
    """Rows of SIFT1M's base as float32, and the name of what they are."""
    rows = vectors("sift", "base", n)
    if rows is not None:
        return rows, f"SIFT1M {n:,} x 128"
    parts = photosift_base(n)
    if parts is not None:
        return parts.astype(np.float32), f"PhotoSIFT {n:,} x 128 (stands in for SIFT1M)"
    return made(n, 128), f"made: normal {n:,} x 128 (stands in for SIFT1M)"


def photosift_base(n: int) -> Array | None:
    """The first n descriptors of photographs, as bytes."""
    found: list[Array] = []
    have = 0
    for path in sorted((shared() / "sift").glob("photosift_base_*of4.npz")):
        with np.load(path) as data:
            found.append(data["X"][: n - have])
        have += len(found[-1])
        if have == n:
            return np.concatenate(found)
    return None


def made(n: int, columns: int, seed: int = 0) -> Array:
    """Normal values, rounded and in [0, 255], as descriptors are."""
    X = np.random.default_rng(seed).normal(60, 40, size=(n, columns))
    return X.clip(0, 255).round().astype(np.float32)


@dataclass(frozen=True)
class SearchData:
    """To train on, to encode, to search with."""

    learn: Array
    base: Array
    query: Array
    name: str


def sift_search(n_learn: int, n_base: int, n_query: int) -> SearchData:
    """So many rows of each of SIFT1M's three parts."""
    learn = vectors("sift", "learn", n_learn)
    base = None if learn is None else vectors("sift", "base", n_base)
    query = None if base is None else vectors("sift", "query", n_query)
    if learn is not None and base is not None and query is not None:
        return SearchData(learn, base, query, f"SIFT1M, {n_base:,} of its base")
    path, base = shared() / "sift" / "photosift_learn_query.npz", photosift_base(n_base)
    if path.exists() and base is not None:
        with np.load(path) as data:
            learn, query = data["learn"][:n_learn].astype(np.float32), data["query"][:n_query]
        return SearchData(
            learn, base, query, f"PhotoSIFT, {n_base:,} of its base (stands in for SIFT1M)"
        )
    name = f"made: normal, {n_base:,} as base (stands in for SIFT1M)"
    return SearchData(made(n_learn, 128, 1), made(n_base, 128, 0), made(n_query, 128, 2), name)


def gist(n: int) -> tuple[Array, str]:
    """Rows of GIST1M's base as float32, and the name of what they are."""
    rows = vectors("gist", "base", n)
    if rows is not None:
        return rows, f"GIST1M {n:,} x 960"
    X = made(n, 960) / np.float32(255)
    return X, f"made: normal {n:,} x 960 (stands in for GIST1M)"


def siftsmall(n: int = 10_000) -> tuple[Array, str]:
    """Rows of siftsmall's base as float32, and the name of what they are."""
    rows = vectors("siftsmall", "base", n)
    if rows is not None:
        return rows, f"siftsmall {n:,} x 128"
    path = shared() / "sift" / "siftsmall_texmex.npz"
    if path.exists():
        with np.load(path) as data:
            return data["base"][:n].astype(np.float32), f"siftsmall {n:,} x 128"
    return made(n, 128), f"made: normal {n:,} x 128 (stands in for siftsmall)"


def documents(name: str) -> tuple[Corpus, str] | None:
    """One of CLUTO's sets with its classes, and where it is from; None where it is not to be had."""
    archive = ARCHIVES["cluto"]
    matrix, classes = file_of(archive, f"{name}.mat"), file_of(archive, f"{name}.mat.rclass")
    if matrix is not None and classes is not None:
        return read_corpus(matrix), "CLUTO's archive"
    path = shared() / "cluto" / f"{name}.npz"
    return (read_corpus(path), "CLUTO's set, converted") if path.exists() else None


def fingerprint(rows: Array) -> str:
    """The SHA-256 of the values of some rows, to stand beside what was measured with them."""
    return hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest()


def main(arguments: Iterable[str] | None = None) -> int:
    """Downloads what is named; the exit code is 1 if some of it is not to be had."""
    parser = argparse.ArgumentParser(description="Downloads the paper's public data.")
    parser.add_argument("names", nargs="+", choices=sorted(ARCHIVES), metavar="NAME",
                        help=", ".join(ARCHIVES))  # fmt: skip
    failed = False
    for name in parser.parse_args(None if arguments is None else list(arguments)).names:
        try:
            extract(ARCHIVES[name], fetch(ARCHIVES[name]))
            print(f"{name}: in {folder() / name}", file=sys.stderr)
        except DataError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
