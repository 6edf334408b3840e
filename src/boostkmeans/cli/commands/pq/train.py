"""`boostkmeans pq train`: train a quantizer on vectors."""

import time
from typing import Annotated

import typer

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, QuantizerRecord
from boostkmeans.cli.command import Result, command
from boostkmeans.cli.commands.pq.listing import compression_values, quantizer_pairs, quantizer_values
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.output import check_outputs, main_output, require_file, writing_to
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, Quality, RunOptions, VectorsPath
from boostkmeans.cli.progress_display import ProgressDisplay
from boostkmeans.quantization import MAX_CENTROIDS, training_rows

# Descriptions of the steps of training, by the kind of a `QuantizerRecord`.
STEPS = {"rotation": "learning a rotation", "subspace": "training subspaces"}


@expand_option_groups
def train(
    path: VectorsPath,
    target: Annotated[
        str | None, typer.Argument(metavar="OUT", help="File for the quantizer, or -o FILE.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="File for the quantizer.")
    ] = None,
    subspaces: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="M",
            help="Number of subspaces, which must divide the number of features.",
        ),
    ] = 8,
    centroids: Annotated[
        int,
        typer.Option(
            min=1,
            max=MAX_CENTROIDS,
            metavar="N",
            help="Number of centroids per subspace. Up to 256, a code has one byte per subspace, "
            "otherwise two.",
        ),
    ] = 256,
    quality: Annotated[
        Quality | None, typer.Option(help="Trade-off between speed and distortion (default: fast).")
    ] = None,
    bisecting: Annotated[
        bool,
        typer.Option("--bisecting", help="Cluster by a bisecting tree: faster, higher distortion."),
    ] = False,
    rotation: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="ROUNDS",
            help="Learn a rotation of the vectors in this number of rounds; 20 are enough. 0 means no "
            "rotation.",
        ),
    ] = 0,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Train on N rows, spread evenly over the file (default: all rows, or as many as fit "
            "into memory).",
        ),
    ] = None,
    *,
    run_options: RunOptions,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans pq train vectors.fvecs -o quantizer.st
      boostkmeans pq train vectors.npy -o better.st --quality balanced --rotation 20
      boostkmeans pq train huge.bvecs -o quantizer.st --sample 1000000 --subspaces 16

    Train a product quantizer: the features are divided into subspaces, and the vectors are clustered in
    each subspace. The distortion that is printed is the mean squared error of the codes.
    """
    with command(common) as run:
        to_file = main_output(target, output, "OUT", force=common.force)
        require_file("OUT", to_file)
        check_outputs({"PATH": path}, {"OUT": to_file})
        clusterer = _choose_clusterer(quality, bisecting)
        with run.reading(path, input_options, dense=True) as (vectors, display):
            quantizer = ProductQuantizer(
                subspaces,
                centroids,
                clusterer=clusterer,
                rotation=rotation,
                random_state=run_options.seed,
                n_threads=run_options.threads,
                verbose=display.verbose,
                callback=lambda record: _show_step(display, record, subspaces),
            )
            start = time.perf_counter()
            rows = training_rows(quantizer, vectors, sample)
            n_rows = rows.shape[0]
            if sample is None and n_rows < len(vectors):
                print_message(
                    f"{vectors.name} does not fit into memory: training on a sample of {n_rows:,} rows"
                )
            first_step, n_steps = ("rotation", rotation) if rotation else ("subspace", subspaces)
            display.report(STEPS[first_step], 0, n_steps)
            quantizer.fit(rows)
            result = {
                "boostkmeans": boostkmeans.__version__,
                "source": vectors.name,
                "format": vectors.format,
                "n_rows": n_rows,
                "n_rows_of_file": len(vectors),
                **quantizer_values(quantizer),
                **compression_values(quantizer, vectors),
                "clusterer": repr(quantizer.subspace_clusterer),
                "rotation": rotation,
                "seed": run_options.seed,
                "seconds": time.perf_counter() - start,
                "file": to_file.path,
            }
        # The saved quantizer should not contain the parameters of this run.
        quantizer.set_params(verbose=0, callback=None)
        with writing_to(to_file.path):
            quantizer.save(to_file.path)
        run.print_result(result, _listing)


def _choose_clusterer(
    quality: Quality | None, bisecting: bool
) -> BoostKMeans | BisectingBoostKMeans | None:
    """Return the clusterer of the subspaces; None stands for the default, which is fast."""
    if bisecting:
        if quality is not None:
            raise ValueError("--quality has no effect on --bisecting: leave one of them out.")
        return BisectingBoostKMeans()
    if quality is None or quality is Quality.fast:
        return None
    return BoostKMeans(quality=quality.value)


def _show_step(display: ProgressDisplay, record: QuantizerRecord, n_subspaces: int) -> None:
    display.report(STEPS[record.kind], record.done, record.total)
    if record.kind == "rotation" and record.done == record.total:
        display.report(STEPS["subspace"], 0, n_subspaces)


def _listing(result: Result) -> str:
    n_rows, n_all = result["n_rows"], result["n_rows_of_file"]
    return two_columns(
        [
            ("rows", f"{n_rows:,} of {n_all:,}" if n_rows < n_all else f"{n_rows:,}"),
            *quantizer_pairs(result),
            ("seconds", f"{result['seconds']:.2f}"),
            ("written to", result["file"]),
        ]
    )
