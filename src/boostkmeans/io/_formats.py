"""Names of formats, and how a file tells its own."""

from pathlib import Path

from boostkmeans._runtime.errors import ChoiceError, DataFormatError

BY_ENDING = {
    ".npy": "npy",
    ".npz": "npz",
    ".fvecs": "fvecs",
    ".ivecs": "ivecs",
    ".bvecs": "bvecs",
    ".fbin": "fbin",
    ".f16bin": "f16bin",
    ".ibin": "ibin",
    ".u8bin": "u8bin",
    ".i8bin": "i8bin",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".hdf5": "hdf5",
    ".h5": "hdf5",
    ".csv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".mtx": "matrix-market",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
    ".mat": "cluto",
}
# Formats that the ending of a file tells, but that are not among those that can be named.
ONLY_BY_ENDING = ("f16bin",)
FORMATS = tuple(kind for kind in dict.fromkeys(BY_ENDING.values()) if kind not in ONLY_BY_ENDING)
TEXTS = ("csv", "tsv")
SPARSE = ("matrix-market", "svmlight", "cluto")
# First bytes that only one format has.
BY_MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x89HDF\r\n": "hdf5",
    b"%%MatrixMarket": "matrix-market",
}


def format_of(path: str) -> str | None:
    """The format that the ending of a file tells, if any; or what is before it: `.fbin.crop_nb_1000`."""
    suffixes = [suffix.lower() for suffix in reversed(Path(path).suffixes)]
    return next((BY_ENDING[suffix] for suffix in suffixes if suffix in BY_ENDING), None)


def format_by_magic(head: bytes) -> str | None:
    """The format that the first bytes tell, if any."""
    return next((kind for magic, kind in BY_MAGIC.items() if head.startswith(magic)), None)


def check_agreement(name: str, by_ending: str, head: bytes) -> None:
    """Raises an error if the first bytes are those of another format than the ending says."""
    by_magic = format_by_magic(head)
    if by_magic is not None and by_magic != by_ending:
        raise DataFormatError(
            f"{name}: the ending is one of {by_ending!r}, but the first bytes are those of {by_magic!r}."
            f" If they are right, give that format: format={by_magic!r}."
        )


def check_format(given: str | None, allowed: tuple[str, ...] = FORMATS) -> None:
    """Raises an error if there is no such format."""
    if given is not None and given not in allowed:
        raise ValueError(f"format must be one of {', '.join(map(repr, allowed))}. Got {given!r}.")


def unknown(name: str) -> ChoiceError:
    """The error for a file that does not tell what it is."""
    return ChoiceError(
        f"{name}: neither the ending of the file nor its first bytes tell what it is. Give its format: "
        f"format=... with one of {', '.join(map(repr, FORMATS))}."
    )
