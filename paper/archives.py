"""Archives with the paper's public data: download, verification and extraction.

Archives are stored in the folder `BOOSTKMEANS_DATA`, by default `~/.cache/boostkmeans`. Archives or
their files may also be copied there by hand:

    sift.tar.gz    or  sift/sift_base.fvecs, sift_learn.fvecs, sift_query.fvecs, sift_groundtruth.ivecs
    siftsmall.tar.gz   the same with "siftsmall"
    cluto.tar.gz   or  cluto/classic.mat, cluto/classic.mat.rclass, ...

Archives are untrusted. They are compared with their published checksum, and only files with expected
names and sizes are extracted. If no checksum is published, and for files copied by hand, the SHA-256
of the first use is stored in `sha256.json`, and later uses must match it.
"""

import hashlib
import json
import os
import sys
import tarfile
import time
import urllib.request
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

CLUTO_SETS = ("classic", "fbis", "hitech", "k1a", "k1b", "la12", "new3", "ohscal", "re0", "re1",
              "reviews", "sports", "tr31", "tr41", "wap")  # fmt: skip
# Maximum size of a text file in bytes; CLUTO's matrices have a few megabytes.
MAX_TEXT_BYTES = 200_000_000
# Bytes that are copied at a time.
CHUNK = 1 << 20
# Seconds without data after which a download is given up.
TIMEOUT = 30.0
SECONDS_BETWEEN_MESSAGES = 5.0


class DataError(Exception):
    """Data that is not as expected, or not available."""


@dataclass(frozen=True)
class Archive:
    """An archive to download, and the files to extract from it."""

    name: str
    urls: tuple[str, ...]
    sizes: dict[str, int | None]
    """Sizes of its files in bytes by name; None for any size up to `MAX_TEXT_BYTES`."""
    optional: frozenset[str] = field(default=frozenset())
    """Files that may be missing."""
    md5: str | None = None
    """Published checksum, if any."""
    size: int | None = None
    """Size of the archive in bytes, if known."""

    @property
    def path(self) -> Path:
        """Path of the archive itself."""
        return data_folder() / f"{self.name}.tar.gz"


def vecs_bytes(rows: int, columns: int) -> int:
    """Return the size of an .fvecs or .ivecs file, in which each row starts with its length."""
    return rows * (4 + 4 * columns)


def texmex(name: str, columns: int, rows: tuple[int, int, int], **known: Any) -> Archive:
    """Return a vector set of corpus-texmex.irisa.fr with given rows of base, learn and query."""
    base, learn, query = rows
    sizes: dict[str, int | None] = {
        f"{name}_base.fvecs": vecs_bytes(base, columns),
        f"{name}_learn.fvecs": vecs_bytes(learn, columns),
        f"{name}_query.fvecs": vecs_bytes(query, columns),
        f"{name}_groundtruth.ivecs": vecs_bytes(query, 100),
    }
    return Archive(name, (f"ftp://ftp.irisa.fr/local/texmex/corpus/{name}.tar.gz",), sizes, **known)


# The MD5 sums come from the corpus' own MD5SUM file. No checksum is published for CLUTO's archive.
ARCHIVES = {
    archive.name: archive
    for archive in (
        texmex("siftsmall", 128, (10_000, 25_000, 100), md5="0b8324a7a82d7f2663d7dcbd57642df7"),
        texmex("sift", 128, (1_000_000, 100_000, 10_000), md5="b23d1b3b2ee8469d819b61ca900ef0ed",
               size=168_280_445),
        Archive(
            "cluto",
            ("http://glaros.dtc.umn.edu/gkhome/fetch/sw/cluto/datasets.tar.gz",
             "https://karypis.github.io/glaros/files/sw/cluto/datasets.tar.gz"),
            {f"{name}.mat{end}": None for name in CLUTO_SETS for end in ("", ".rclass", ".clabel")},
            optional=frozenset(f"{name}.mat.clabel" for name in CLUTO_SETS),
        ),
    )
}  # fmt: skip


def data_folder() -> Path:
    """Return the folder of downloaded data."""
    given = os.environ.get("BOOSTKMEANS_DATA")
    if given:
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "boostkmeans"


# Download


def fetch(archive: Archive) -> Path:
    """Return the path of an archive, downloaded if necessary, and verified in both cases."""
    if archive.path.exists():
        check_archive(archive, archive.path)
        return archive.path
    archive.path.parent.mkdir(parents=True, exist_ok=True)
    faults = []
    for url in archive.urls:
        try:
            return download(archive, url)
        except (OSError, DataError) as error:
            faults.append(f"{url}: {error}")
    raise DataError(f"{archive.name} cannot be downloaded. " + " ".join(faults))


def download(archive: Archive, url: str) -> Path:
    """Download an archive to a temporary file, and rename it after verification."""
    part = archive.path.with_name(archive.path.name + ".part")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as source, part.open("wb") as file:
            expected = int(source.headers.get("Content-Length") or archive.size or 0)
            received = copy(source, file, archive, expected)
        if expected and received != expected:
            raise DataError(f"received {received:,} of {expected:,} bytes: the connection was closed.")
        check_archive(archive, part)
        if archive.md5 is None:
            extract(archive, part)  # Without a checksum, verify that it can be extracted.
        part.replace(archive.path)
    finally:
        part.unlink(missing_ok=True)
    return archive.path


def copy(source: Any, file: IO[bytes], archive: Archive, expected: int) -> int:
    """Copy a download to a file, report progress to stderr, and return the number of bytes."""
    received, reported = 0, time.monotonic()
    while chunk := source.read(CHUNK):
        file.write(chunk)
        received += len(chunk)
        if archive.size is not None and received > archive.size:
            raise DataError(f"received more than the expected {archive.size:,} bytes.")
        if time.monotonic() - reported > SECONDS_BETWEEN_MESSAGES:
            reported = time.monotonic()
            total = f" of {expected / 1e6:,.0f}" if expected else ""
            print(f"{archive.name}: {received / 1e6:,.0f}{total} MB", file=sys.stderr, flush=True)
    return received


# Verification


def check_archive(archive: Archive, path: Path) -> None:
    """Raise DataError unless size and checksum are as published."""
    if archive.size is not None and path.stat().st_size != archive.size:
        raise DataError(
            f"{path} has {path.stat().st_size:,} bytes, expected {archive.size:,}. Remove the file."
        )
    if archive.md5 is not None:
        found = digest(path, "md5")
        if found != archive.md5:
            raise DataError(f"{path} has the MD5 sum {found}, expected {archive.md5}. Remove the file.")


def digest(path: Path, kind: str) -> str:
    """Return a checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def check_first_use(name: str, sha256: str) -> None:
    """Store a checksum on first use; raise DataError if a later one differs."""
    notes = data_folder() / "sha256.json"
    known: dict[str, str] = json.loads(notes.read_text()) if notes.exists() else {}
    if known.setdefault(name, sha256) != sha256:
        raise DataError(
            f"{name} has the SHA-256 {sha256}, but {notes} has {known[name]} from its first use. Remove "
            "the file, or its entry if the change is intended."
        )
    notes.parent.mkdir(parents=True, exist_ok=True)
    new = notes.with_suffix(".part")
    new.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    new.replace(notes)


# Extraction


def extract(archive: Archive, path: Path | None = None) -> None:
    """Extract the expected files, and no others, into the archive's folder.

    Names within the archive select files, but the path to write to never depends on their folders, so
    they cannot lead outside.
    """
    path = path or archive.path
    target = data_folder() / archive.name
    target.mkdir(parents=True, exist_ok=True)
    extracted: set[str] = set()
    try:
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                name = PurePosixPath(member.name).name
                if name in archive.sizes and member.isfile():
                    if name in extracted:
                        raise DataError(f"{path.name} contains {name} twice.")
                    extract_member(tar, member, archive.sizes[name], target / name)
                    extracted.add(name)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path.name} cannot be read: {error}.") from error
    missing = set(archive.sizes) - extracted - archive.optional
    if missing:
        raise DataError(f"{path.name} lacks {', '.join(sorted(missing))}.")


def extract_member(tar: tarfile.TarFile, member: tarfile.TarInfo, size: int | None, path: Path) -> None:
    """Extract one file; raise DataError unless its size is as expected."""
    if member.size > MAX_TEXT_BYTES if size is None else member.size != size:
        expected = f"at most {MAX_TEXT_BYTES:,}" if size is None else f"{size:,}"
        raise DataError(f"{member.name} has {member.size:,} bytes, expected {expected}.")
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
    """Return a file of an archive, extracted if necessary, or None if neither exists.

    This never downloads anything.
    """
    path = data_folder() / archive.name / name
    if not path.exists():
        if not archive.path.exists():
            return None
        check_archive(archive, archive.path)
        extract(archive)
        if not path.exists():
            return None
    size = archive.sizes[name]
    if size is not None and path.stat().st_size != size:
        raise DataError(f"{path} has {path.stat().st_size:,} bytes, expected {size:,}. Remove the file.")
    check_first_use(f"{archive.name}/{name}", digest(path, "sha256"))
    return path
