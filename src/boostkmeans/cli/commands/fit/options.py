"""Options of `boostkmeans fit`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from boostkmeans.cli.files.label_output import LabelsFormat
from boostkmeans.cli.options import Metric, Quality


class Method(StrEnum):
    """Clustering method, as in `cluster_documents`."""

    K_WAY = "k-way"
    BISECTING = "bisecting"
    REFINED = "refined"


class Split(StrEnum):
    """Priority of the clusters of a bisecting tree."""

    LARGEST = "largest"
    INERTIA = "inertia"
    AVERAGE = "average"


class Sample(StrEnum):
    """Rows that a split of a bisecting tree uses."""

    AUTO = "auto"
    ALL = "all"


@dataclass(frozen=True)
class OutputOptions:
    """Files that the command writes."""

    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="MODEL", help="File for the model.")
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR/",
            help="File for the cluster of each row: .npy, .parquet, or .txt, .csv or .tsv with one per "
            "line; - prints the labels only. With --id, .parquet, .csv or .tsv with the columns id and "
            "label. A folder, or a path that ends in /, gets one file per input file.",
        ),
    ] = None
    labels_format: LabelsFormat = None
    centers: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for the centres: .npy, .fvecs, .fbin or .parquet."),
    ] = None
    page: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for a page that shows the clusters, e.g. page.html. `boostkmeans explore` adds "
            "texts, images or a table.",
        ),
    ] = None


@dataclass(frozen=True)
class FitSettings:
    """Method and parameters. None stands for the default of the estimator."""

    method: Annotated[
        Method,
        typer.Option(
            help="k-way gives the lowest distortion, bisecting is the fastest, refined sweeps over the "
            "clusters of a bisecting tree."
        ),
    ] = Method.K_WAY
    quality: Annotated[
        Quality | None, typer.Option(help="Trade-off between speed and distortion (default: balanced).")
    ] = None
    init: Annotated[
        str | None,
        typer.Option(
            metavar="START",
            help="Initial clusters: auto (default), random-partition, random, k-means++, "
            "plain-k-means++, sampled-k-means++, bisecting, or a file of centres.",
        ),
    ] = None
    leaf_size: Annotated[
        float | None,
        typer.Option(
            metavar="ROWS",
            help="Average number of rows of a cluster, instead of the number of clusters.",
        ),
    ] = None
    metric: Annotated[
        Metric | None,
        typer.Option(help="Distance (default: euclidean); cosine compares directions only."),
    ] = None
    n_candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="N",
            help="Number of clusters that each row is compared with: an integer, auto (default) or all.",
        ),
    ] = None
    dimensions: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Number of principal components in which the fit runs first: an integer, auto "
            "(default) or all.",
        ),
    ] = None
    split: Annotated[
        Split | None,
        typer.Option(
            help="Cluster that a tree splits next: the one with the most rows (default), the highest "
            "inertia, or the highest average distance within it."
        ),
    ] = None
    sample: Annotated[
        Sample | None,
        typer.Option(
            help="Rows that a split of a tree uses: a sample of a large cluster (default), or all."
        ),
    ] = None
    max_passes: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Maximum number of passes of a split of a tree: an integer, auto (default), or "
            "unlimited to go on until no row moves. --sample all --max-passes unlimited is the "
            "algorithm of the paper.",
        ),
    ] = None
    n_init: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of runs; the best is kept (default: 1)."),
    ] = None
    max_iter: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Maximum number of sweeps per run (default: 100)."),
    ] = None
    tol: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="SHARE",
            help="Stop when a sweep gains less than this share of the objective (default: 1e-4); with 0 "
            "the fit continues to a certified optimum.",
        ),
    ] = None
    max_time: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Time limit of the fit (default: no limit)."),
    ] = None
    min_size: Annotated[
        float | None, typer.Option(metavar="ROWS", help="Minimum size of a cluster (default: none).")
    ] = None
    max_size: Annotated[
        float | None, typer.Option(metavar="ROWS", help="Maximum size of a cluster (default: none).")
    ] = None


@dataclass(frozen=True)
class CheckpointOptions:
    """Options for interrupting and resuming a fit."""

    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the state of the fit. It is removed when all results are written, unless "
            "--max-time stopped the fit.",
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue from the checkpoint if it exists. Existing results are overwritten.",
        ),
    ] = False
