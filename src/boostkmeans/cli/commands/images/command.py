"""`boostkmeans images`: cluster the images of a folder."""

import time
from typing import Annotated

import typer

from boostkmeans.cli.command import command
from boostkmeans.cli.commands.images.options import (
    ImageOutputOptions,
    Method,
    VectorOptions,
    parse_duplicates,
)
from boostkmeans.cli.commands.images.outputs import ImageOutputs
from boostkmeans.cli.errors import message_of, print_message
from boostkmeans.cli.exit_codes import FAILURE
from boostkmeans.cli.files.output import check_outputs, check_stdout_conflict
from boostkmeans.cli.files.page_output import typed_command
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.option_groups import Without, expand_option_groups
from boostkmeans.cli.options import Clusters, CommonOptions, Quality, RunOptions, value_of
from boostkmeans.images import ImageClusters, cluster_images


@expand_option_groups
def images(
    context: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Folder of images; subfolders are read, too.")
    ],
    clusters: Clusters,
    *,
    output_options: ImageOutputOptions,
    vector_options: VectorOptions,
    duplicates: Annotated[
        str,
        typer.Option(
            metavar="COSINE",
            help="Cosine from which vectors count as near duplicates; auto is 0.7 for vlad and 0.95 for "
            "other features; none omits the search.",
        ),
    ] = "auto",
    central: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of central images to show.")
    ] = 5,
    method: Annotated[Method, typer.Option(help="Clustering method.")] = Method["k-way"],
    n_init: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of runs; the best is kept.")
    ] = 1,
    quality: Annotated[
        Quality | None,
        typer.Option(
            help="Trade-off between speed and distortion, for k-way and refined (default: balanced)."
        ),
    ] = None,
    run_options: Annotated[RunOptions, Without("threads")],
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of processes that decode images, and of threads (default: all available). "
            "Results do not depend on it.",
        ),
    ] = None,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans images photos/ -k 20
      boostkmeans images photos/ -k 20 --labels labels.csv -o model.st
      boostkmeans images photos/ -k 20 --features clip.parquet --id path
      boostkmeans images photos/ -k 20 --features resnet50.onnx --duplicates 0.97
      boostkmeans images photos/ -k 20 --save-pipeline vlad.st
      boostkmeans images new/ -k 5 --pipeline vlad.st --json

    Cluster the images of a folder, and print for each cluster its size and the images nearest to its
    centre, then groups of near duplicates. No image is changed or deleted.

    By default, each image is described by a VLAD vector of its SIFT keypoints. Formats are BMP, GIF,
    JPEG, PNG, PPM, TIFF and WebP. Files that cannot be decoded are skipped and named.
    """
    with command(common) as run:
        vector_options.check()
        outputs = ImageOutputs.from_options(
            output_options, computes_vlad=vector_options.features == "vlad", force=common.force
        )
        check_stdout_conflict("--labels", outputs.labels, as_json=common.as_json)
        check_outputs({"FOLDER": folder, **vector_options.files()}, outputs.by_option())
        start = time.perf_counter()
        with run.progress() as display:
            report = run.reporter(display, "images")
            found = cluster_images(
                folder,
                clusters,
                features=vector_options.build(run_options.seed, threads, report),
                id_column=vector_options.id_column,
                key=vector_options.key or None,
                method=str(method.value),
                duplicates=parse_duplicates(duplicates),
                n_central=central,
                n_init=n_init,
                quality=value_of(quality),
                random_state=run_options.seed,
                n_jobs=threads,
                progress=report,
                verbose=display.verbose,
            )
            failures = outputs.write(found, typed_command(context), threads, report)
        for error in failures.values():
            print_message(message_of(error))
        files = {name: path for name, path in outputs.files.items() if name not in failures}
        if not outputs.prints_labels:
            result = {**found.to_dict(), "seconds": time.perf_counter() - start, "files": files}
            run.print_result(result, lambda _: _listing(found, files))
        if failures:
            raise typer.Exit(FAILURE)


def _listing(found: ImageClusters, files: dict[str, str]) -> str:
    return f"{found.table()}\n\n{two_columns(files.items())}" if files else found.table()
