"""`boostkmeans predict`: assign new vectors to clusters."""

from typing import Annotated

import numpy as np
import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.files.batch_outputs import BatchOutputs
from boostkmeans.cli.files.model_input import read_model
from boostkmeans.cli.files.row_writer import COLUMN_ENDINGS
from boostkmeans.cli.listing import format_measure, format_sizes, summarize_sizes, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, ModelPath, Threads, VectorsPath
from boostkmeans.io import check_memory


@expand_option_groups
def predict(
    model_path: ModelPath,
    path: VectorsPath,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the cluster of each row: .npy, or .txt or .csv with one per line (default: "
            "standard output; none with --json).",
        ),
    ] = None,
    distances: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the distance of each row to its centre: .npy, .txt or .csv.",
        ),
    ] = None,
    n_candidates: Annotated[
        int | None,
        typer.Option(
            "--candidates",
            min=1,
            metavar="N",
            help="Compare each row with about N centres only: faster, with nearly the same result "
            "(default: all centres).",
        ),
    ] = None,
    threads: Threads = None,
    *,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans predict model.safetensors new.fvecs --labels labels.npy
      boostkmeans predict model.safetensors new.fvecs --distances distances.npy
      cat new.csv | boostkmeans predict model.safetensors - | sort | uniq -c

    Assign each vector to its nearest centre, in batches: the file may be larger than memory.
    """
    with command(common) as run:
        outputs = BatchOutputs.from_options("labels", labels, distances, common)
        outputs.check({"MODEL": model_path, "PATH": path}, COLUMN_ENDINGS, COLUMN_ENDINGS)
        model = read_model(model_path, threads)
        sizes = np.zeros(len(model.cluster_centers_), dtype=np.int64)
        inertia = 0.0
        with run.reading(path, input_options, model=model_path) as (vectors, display):
            n_rows, progress = len(vectors), display.counter("rows")
            check_memory(vectors, len(sizes))
            progress("predicting", 0, n_rows)
            with outputs.writing((n_rows,), np.int32, np.float64) as write:
                for batch in model.predict_batches(vectors, n_candidates=n_candidates):
                    sizes += np.bincount(batch[0], minlength=len(sizes))
                    inertia += float(np.square(batch[1]).sum())
                    write(*batch)
                    progress("predicting", int(sizes.sum()), n_rows)
        if not outputs.prints_main:
            result = {
                "source": vectors.name,
                "model": model_path,
                "n_rows": n_rows,
                "n_clusters": len(sizes),
                "distortion": inertia / max(1, n_rows),
                "inertia": inertia,
                "sizes": summarize_sizes(sizes),
                "counts": sizes,
                "files": outputs.files,
            }
            run.print_result(result, _listing)


def _listing(result: Result) -> str:
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("clusters", f"{result['n_clusters']:,}"),
        ("distortion", format_measure(result["distortion"])),
        ("sizes", format_sizes(result["sizes"])),
    ]
    return two_columns([*pairs, *result["files"].items()])
