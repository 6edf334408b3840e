"""Names of the file formats, and detection of the format of a file."""

from pathlib import Path

from boostkmeans._runtime.errors import ChoiceError, Message, Parameter, ParameterError
from boostkmeans.io._access.location import Location

FORMAT_BY_SUFFIX = {
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
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".safetensors": "safetensors",
    ".st": "safetensors",
}
# Formats that are recognised by the suffix of a file, but cannot be passed as `format`.
ONLY_BY_SUFFIX = ("f16bin",)
FORMATS = tuple(name for name in dict.fromkeys(FORMAT_BY_SUFFIX.values()) if name not in ONLY_BY_SUFFIX)
# Formats that often hold something else than vectors: documents, and models. In a folder, such files are
# ignored if there are files of other formats.
SECONDARY = ("jsonl", "safetensors")
# Tables as text.
TEXT_TABLES = ("csv", "tsv")
# Sparse matrices as text.
SPARSE_TEXTS = ("matrix-market", "svmlight", "cluto")
# First bytes that identify a format.
FORMAT_BY_MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x89HDF\r\n": "hdf5",
    b"%%MatrixMarket": "matrix-market",
}


def format_by_suffix(path: str) -> str | None:
    """Return the format of the last known suffix of a file name, or None.

    >>> format_by_suffix("base.fbin.crop_nb_1000")
    'fbin'
    """
    suffixes = [suffix.lower() for suffix in reversed(Path(path).suffixes)]
    return next((FORMAT_BY_SUFFIX[one] for one in suffixes if one in FORMAT_BY_SUFFIX), None)


def format_by_magic(head: bytes) -> str | None:
    """Return the format that the first bytes of a file identify, or None."""
    return next((name for magic, name in FORMAT_BY_MAGIC.items() if head.startswith(magic)), None)


def check_agreement(where: Location, by_suffix: str, head: bytes) -> None:
    """Raise DataFormatError if the first bytes identify another format than the suffix."""
    by_magic = format_by_magic(head)
    if by_magic is not None and by_magic != by_suffix:
        raise where.error(
            f"The suffix of the file name means {by_suffix!r}, but the first bytes are those of "
            f"{by_magic!r}.",
            Message(
                "If the first bytes are right, pass {format}.", format=Parameter("format", by_magic)
            ),
        )


def check_format(given: str | None, allowed: tuple[str, ...] = FORMATS) -> None:
    """Raise ParameterError unless the format is None or allowed."""
    if given is not None and given not in allowed:
        raise ParameterError("format", f"one of {', '.join(map(repr, allowed))}", given)


def unknown_format_error(where: Location) -> ChoiceError:
    """Return the error for a file whose format cannot be detected."""
    return ChoiceError(
        "Neither the suffix of the file name nor the first bytes identify the format.",
        file=where.file,
        remedy=Message(
            "Pass {format}, which must be one of {names}.",
            format=Parameter("format"),
            names=", ".join(map(repr, FORMATS)),
        ),
    )
