"""Options that several commands have: one definition each."""

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """As in `open_vectors`."""

    NPY = "npy"
    NPZ = "npz"
    FVECS = "fvecs"
    IVECS = "ivecs"
    BVECS = "bvecs"
    FBIN = "fbin"
    IBIN = "ibin"
    U8BIN = "u8bin"
    I8BIN = "i8bin"
    PARQUET = "parquet"
    ARROW = "arrow"
    HDF5 = "hdf5"
    CSV = "csv"
    TSV = "tsv"
    MATRIX_MARKET = "matrix-market"
    SVMLIGHT = "svmlight"
    CLUTO = "cluto"


class WritableFormat(StrEnum):
    """As in `write_vectors`."""

    NPY = "npy"
    FVECS = "fvecs"
    IVECS = "ivecs"
    BVECS = "bvecs"
    FBIN = "fbin"
    IBIN = "ibin"
    U8BIN = "u8bin"
    I8BIN = "i8bin"
    PARQUET = "parquet"


class Quality(StrEnum):
    """As in `BoostKMeans`."""

    FAST = "fast"
    BALANCED = "balanced"
    BEST = "best"


class Metric(StrEnum):
    """As in `BoostKMeans`."""

    EUCLIDEAN = "euclidean"
    COSINE = "cosine"


FORMATS = ", ".join(Format)

VectorsPath = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="Vectors, one a row: .npy, .npz, .fvecs, .ivecs, .bvecs, .fbin, .ibin, .u8bin, .i8bin, "
        ".parquet, .arrow, .hdf5, .csv, .tsv, .mtx, .svm or .mat; any may be gzipped; - is stdin.",
    ),
]
ModelPath = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, as boostkmeans fit writes it.")
]
Clusters = Annotated[
    int, typer.Option("--clusters", "-k", min=1, metavar="K", help="How many clusters.")
]
InputFormat = Annotated[
    Format | None,
    typer.Option(
        "--format", metavar="FORMAT", help=f"What PATH is, if its ending does not tell: {FORMATS}."
    ),
]
Key = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="NAME",
        help="Which array or column of PATH has the vectors; may be repeated for columns.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line of a CSV has names. By default a guess."
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="Memory to get along with, like 2GB: files that are larger are read part by part.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Threads to work with. By default one for each processor. Ours find the same on any.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Where random numbers begin: the same seed gives the same result."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print all results as one JSON object, instead of a table.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log to stderr.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error arose.")]
