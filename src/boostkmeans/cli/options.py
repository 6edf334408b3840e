"""Options that several commands share."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from boostkmeans.io import FORMATS, WRITABLE

Format = StrEnum("Format", FORMATS)  # type: ignore[misc]  # the members are those of the library
WritableFormat = StrEnum("WritableFormat", WRITABLE)  # type: ignore[misc]
# Values of parameters of `BoostKMeans`. Importing them would take a second.
Quality = StrEnum("Quality", ["fast", "balanced", "best"])
Metric = StrEnum("Metric", ["euclidean", "cosine"])

VectorsPath = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="File of vectors, one per row: .npy, .npz, .fvecs, .ivecs, .bvecs, .fbin, .ibin, .u8bin, "
        ".i8bin, .parquet, .arrow, .hdf5, .csv, .tsv, .jsonl, .safetensors, .mtx, .svm or .mat, "
        "optionally gzipped; - is standard input.",
    ),
]
VectorsPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Files of vectors, one per row; all files together are one data set. A folder, or a quoted "
        "pattern such as 'emb-*.parquet', stands for its files in lexicographic order. Formats: .npy, "
        ".npz, .fvecs, .ivecs, .bvecs, .fbin, .ibin, .u8bin, .i8bin, .parquet, .arrow, .hdf5, .csv, "
        ".tsv, .jsonl, .safetensors, .mtx, .svm or .mat, optionally gzipped; - is standard input. URLs "
        "such as s3:// need the extra 'remote'.",
    ),
]
ModelPath = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model file, written by boostkmeans fit.")
]
Clusters = Annotated[
    int, typer.Option("--clusters", "-k", min=1, metavar="K", help="Number of clusters.")
]
ClustersIfGiven = Annotated[
    int | None, typer.Option("--clusters", "-k", min=1, metavar="K", help="Number of clusters.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of threads (default: all available). Results of boost k-means do not depend on it.",
    ),
]


@dataclass(frozen=True)
class RunOptions:
    """Options of commands that use random numbers."""

    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Seed of the random numbers: the same seed gives the same result."
        ),
    ] = 0
    threads: Threads = None


@dataclass(frozen=True)
class InputOptions:
    """Options that determine how vectors are read."""

    max_memory: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT", help="Memory limit, e.g. 2GB; larger files are read in parts."),
    ] = None
    max_disk: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Limit for temporary files, e.g. 20GB (default: half of the free space, and less with "
            "--max-memory).",
        ),
    ] = None
    input_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of the vectors (default: by the file name or the first bytes): "
            f"{', '.join(FORMATS)}.",
        ),
    ] = None
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            metavar="NAME",
            help="Name of the array or column to read; repeat the option for several columns. Wildcards "
            "('x*') and ranges (x0:x9) select columns of a table.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            metavar="NAME",
            help="Column of a table that is not read; repeat the option, or use wildcards and ranges.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV file contains column names (default: detected).",
        ),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column of a table with the ids of the rows. It is not a feature. Tables that the "
            "command writes contain the ids.",
        ),
    ] = None


@dataclass(frozen=True)
class CommonOptions:
    """Options of all commands."""

    as_json: Annotated[
        bool, typer.Option("--json", help="Print all results as one JSON object instead of a table.")
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print progress as lines on standard error.")
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False


def value_of(choice: StrEnum | None) -> str | None:
    """Return the value of a choice as a plain string, and None if there is no choice."""
    return None if choice is None else str(choice.value)
